"""The tensors from which an evolution starts: centre at site 0, norm 1, in a dtype that can evolve."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import Tensor
from qad.mps.canonical import right_canonical, schmidt_form
from qad.mps.conserving.state import SymmetricMPS
from qad.mps.evolve.cut import centred_by_cuts

if TYPE_CHECKING:
    from qad.mps.operator import MPO
    from qad.mps.state import MPS
    from qad.typing import Array


def centred(psi: MPS, H: MPO, imaginary: bool) -> list[np.ndarray]:
    """The site tensors with their centre at site 0 and norm 1, in a dtype in which they can evolve."""
    dtype = np.result_type(psi.dtype, H.dtype, psi.dtype if imaginary else 1j)
    if isinstance(psi, SymmetricMPS) or psi.periodic or not right_canonical(psi.tensors):
        state = schmidt_form(psi.tensors)[0]
    else:  # the state that an evolution returned
        state = [psi[0] / np.linalg.norm(psi[0]), *psi.tensors[1:]]
    return [t.astype(dtype) for t in state]


def recorded_centre(psi: MPS, H: MPO, imaginary: bool) -> list[Array]:
    """`centred` of a state that may be recorded."""
    if not any(type(t) is Tensor for t in psi):
        return centred(psi, H, imaginary)
    first, *others = centred_by_cuts(psi.tensors)
    unit = np.zeros((), np.result_type(psi.dtype, H.dtype, psi.dtype if imaginary else 1j))
    return [t + unit for t in (first / np.linalg.norm(first), *others)]
