"""Lengths of vectors at any scale: a search has to know whether a residual is small or its squares underflow."""

from __future__ import annotations

from math import frexp, sqrt
from typing import TYPE_CHECKING

import numpy as np

from qad.rules.reductions.scales import least_root, length_along

if TYPE_CHECKING:
    from qad.typing import Array

REACH = 0.1  # the part of the exponents within which nothing overflows or vanishes, in ARPACK either (SciPy 1.14)


def length(x: Array) -> float:
    """The Euclidean length of a plain array; its entries are scaled before they are squared, where they have to be."""
    flat = x.reshape(-1)
    found = sqrt(np.vdot(flat, flat).real.tolist())  # of which BLAS reports no overflow
    if least_root(x.real.dtype) < found < np.inf or not x.size:
        return found
    return length_along(x, tuple(range(x.ndim))).reshape(()).tolist()


def unit_of(size: float, dtype: np.dtype) -> float:
    """A power of two near to `size`, to divide by where its square is out of reach; else 1."""
    largest = float(np.finfo(dtype).max) ** REACH
    return 1.0 if not 0 < size < np.inf or 1 / largest < size < largest else 2.0 ** (frexp(size)[1] - 1)
