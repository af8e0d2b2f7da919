"""The canonical form of infinite chains, and the shortest cell that a state repeats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.mps.chain.checks import check_kind
from qad.mps.uniform.state import UniformMPS
from qad.mps.uniform.transfer import check_finite, check_single, environments, leading
from qad.symmetric.generic import as_map, join, laid_out, norm, rows_and_bond, svd

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST = 1e-15  # of the largest eigenvalue of an environment: below that is rounding
DIFFERENT = 1e-6  # how far the overlap per cell of different states is from 1


def uniform_schmidt_form(psi: UniformMPS) -> tuple[UniformMPS, list[NDArray[Any]]]:
    """A uniform state in right-canonical gauge, its bonds in the basis of Schmidt vectors.

    Parameters
    ----------
    psi : UniformMPS
        Of plain numbers, with one dominant eigenvalue of its transfer operator.

    Returns
    -------
    state : UniformMPS
        The same state; every tensor is an isometry from its left bond.
    weights : list of arrays
        Schmidt coefficients of the bond left of each site, descending (in each sector, one after the other); their
        squares sum to 1.

    Raises
    ------
    ArgumentError
        If the state is a sum of several ones, or not finite.

    Notes
    -----
    R. Orús and G. Vidal, PRB 78, 155117 (2008).  Directions of weight below rounding are dropped.

    Examples
    --------
    >>> import numpy as np, qad
    >>> state, weights = uniform_schmidt_form(qad.mps.uniform.UniformMPS.random(bond=3, seed=1))
    >>> a = state[0].reshape(3, -1)
    >>> np.allclose(a @ a.conj().T, np.eye(3))
    True
    """
    check_kind(psi, UniformMPS)
    check_single(psi)
    return schmidt_form(psi)


def schmidt_form(psi: UniformMPS) -> tuple[UniformMPS, list[NDArray[Any]]]:
    """The form itself; of a sum of several states, that of an arbitrary one of them."""
    check_finite(psi)
    lefts, rights = environments(psi)
    roots = [root(r.transpose(1, 0)) for r in (rights[-1], *rights[:-1])]  # right of the bond left of site i
    weights, bases, inverses = [], [], []
    for left, (x, inverse) in zip(lefts, roots, strict=True):
        u, values, _ = svd(join(join(x.conj(), left, ((0,), (0,))), x), 1)
        weights.append(np.sqrt(values / values.sum()))
        bases.append(join(x, u))
        inverses.append(join(u.conj(), inverse, ((0,), (0,))))
    tensors = []
    for i, tensor in enumerate(psi):
        new = join(join(inverses[i], tensor), bases[(i + 1) % len(psi)])
        tensors.append(laid_out(new * (np.sqrt(new.shape[0]) / norm(new)), 1))
    return UniformMPS(tensors, psi.conserved), weights


def root(environment: Any) -> tuple[Any, Any]:
    """``x`` with ``x x^H`` the positive matrix that an environment is but for a phase, and its (pseudo)inverse."""
    where, matrices = as_map(environment, 1)
    pairs = [np.linalg.svd(matrix)[:2] for matrix in matrices]  # eigenvectors, whatever the phase is
    least = LEAST * max(values[0] for _, values in pairs)
    kept = [(vectors[:, values > least], np.sqrt(values[values > least])) for vectors, values in pairs]
    x, inverse = (rows_and_bond(where, [v * s**power for v, s in kept]) for power in (1, -1))
    return x, inverse.conj().transpose(1, 0)


def shortest(psi: UniformMPS, least: int) -> UniformMPS:
    """The state with the shortest cell of a multiple of `least` sites that it repeats with: so the zone of its momenta.

    Parameters
    ----------
    psi : UniformMPS
        Of arrays; no sum of several states.
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
    values, vector = leading(psi.tensors, moved.tensors)
    if np.max(abs(values)) < 1 - DIFFERENT:
        return None
    vector = vector / vector.flat[np.argmax(abs(vector))]
    u, _, vh = np.linalg.svd(vector.real if psi.dtype.kind == "f" else vector)
    back = (u @ vh).conj()  # legs of the moved bond, of the first one
    return UniformMPS([np.tensordot(back, psi[0], 1), *psi.tensors[1:step]])
