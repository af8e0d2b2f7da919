"""The shortest cell that a state repeats: the translations that leave it as it is, and so the zone of its momenta."""

from __future__ import annotations

import numpy as np

from qad.mps.uniform.canonical import schmidt_form
from qad.mps.uniform.state import UniformMPS
from qad.mps.uniform.transfer import leading

DIFFERENT = 1e-6  # how far the overlap per cell of different states is from 1


def shortest(psi: UniformMPS, least: int) -> UniformMPS:
    """The state with the shortest cell of a multiple of `least` sites that it repeats with.

    Parameters
    ----------
    psi : UniformMPS
        No sum of several states.
    least : int
        Sites of the Hamiltonian's cell, which divides that of the state.

    Returns
    -------
    UniformMPS
        `psi` itself where no shorter translation leaves it as it is.
    """
    steps = [step for step in range(least, len(psi), least) if len(psi) % step == 0]
    if not steps:
        return psi
    canonical, _ = schmidt_form(psi)
    for step in steps:
        found = folded(canonical, step)
        if found is not None:
            return found
    return psi


def folded(psi: UniformMPS, step: int) -> UniformMPS | None:
    """A right-canonical state with a cell of `step` sites, or None where moving it by that many gives another one.

    Where both are the same, ``A1 .. An X = c X A(p+1) .. An A1 .. Ap`` with X unitary and a phase c: then it is the
    state of the cell ``X^+ A1, A2, .., Ap``, because X turns bases of the first cell into those of the moved one.
    """
    moved = UniformMPS([*psi.tensors[step:], *psi.tensors[:step]])
    if moved.bonds != psi.bonds or moved.phys != psi.phys:
        return None
    values, vector = leading(psi, moved)
    if np.max(abs(values)) < 1 - DIFFERENT:
        return None
    vector = vector / vector.flat[np.argmax(abs(vector))]
    u, _, vh = np.linalg.svd(vector.real if psi.dtype.kind == "f" else vector)
    back = (u @ vh).conj()  # legs of the moved bond, of the first one
    return UniformMPS([np.tensordot(back, psi[0], 1), *psi.tensors[1:step]])
