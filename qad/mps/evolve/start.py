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
    """The site tensors, plain or recorded, with their centre at site 0 and norm 1, in a dtype that can evolve."""
    dtype = np.result_type(psi.dtype, H.dtype, psi.dtype if imaginary else 1j)
    if any(type(x) is Tensor for x in flatten(psi)[0]):
        state = normalised(centred_by_cuts(psi.tensors))[0]
    elif psi.conserved is not None or psi.periodic or not right_canonical(psi.tensors):
        state = schmidt_form(psi.tensors)[0]
    else:  # the state that an evolution returned
        state = normalised(list(psi.tensors))[0]
    return [t.astype(dtype) for t in state]


def normalised(tensors: list[Any], centre: int = 0) -> tuple[list[Any], Any]:
    """The tensors of the state of norm 1, changed in place, and the logarithm of the norm."""
    size = size_of(numbers(tensors[centre]))
    tensors[centre] = with_numbers(tensors[centre], numbers(tensors[centre]) / size)
    return tensors, np.log(size)
