"""The tensors from which an evolution starts: centre at site 0, norm 1, in a dtype that can evolve."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.trees import flatten
from qad.extend import Tensor
from qad.mps.chain.canonical import right_canonical, schmidt_form
from qad.mps.evolve.cut import centred_by_cuts, size_of
from qad.symmetric.generic import numbers, with_numbers

if TYPE_CHECKING:
    from typing import Any

    from qad.mps.operators.mpo import MPO


def centred(psi: Any, H: MPO, imaginary: bool) -> list[Any]:
    """The site tensors with their centre at site 0 and norm 1, in a dtype in which they can evolve."""
    dtype = np.result_type(psi.dtype, H.dtype, psi.dtype if imaginary else 1j)
    if psi.conserved is not None or psi.periodic or not right_canonical(psi.tensors):
        state = schmidt_form(psi.tensors)[0]
    else:  # the state that an evolution returned
        state = [psi[0] / np.linalg.norm(psi[0]), *psi.tensors[1:]]
    return [t.astype(dtype) for t in state]


def recorded_centre(psi: Any, H: MPO, imaginary: bool) -> list[Any]:
    """`centred` of a state that may be recorded."""
    if not any(type(x) is Tensor for x in flatten(psi)[0]):
        return centred(psi, H, imaginary)
    first, *others = centred_by_cuts(psi.tensors)
    unit = np.zeros((), np.result_type(psi.dtype, H.dtype, psi.dtype if imaginary else 1j))
    first = with_numbers(first, numbers(first) / size_of(numbers(first)))
    return [with_numbers(t, numbers(t) + unit) for t in (first, *others)]
