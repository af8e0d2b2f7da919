"""Vectors of equal values in a generic basis.

Which basis LAPACK gives where values coincide is arbitrary, and that of a matrix with many zeros has many, too.  A
loss that depends on the choice may then be stationary in it by chance, as ``abs(v[0, 0]) ** 2`` is at the unit matrix,
and no check of its cotangents would notice.  In a basis drawn at random the checks see what the loss asks for.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from qad.linalg.support import tolerances
from qad.linalg.support.random import normal

if TYPE_CHECKING:
    from collections.abc import Sequence


def in_generic_basis(s: np.ndarray, *vectors: np.ndarray) -> Sequence[np.ndarray]:
    """The `vectors` (..., m, k), as columns, of the sorted bare values `s` (..., k): turned where values are equal.

    All are turned alike, so that products such as ``(u * s) @ vh`` stay what they are, to rounding.
    """
    limit = tolerances.zero(s.dtype, s.shape[-1]) * np.abs(s).max(axis=-1, initial=0.0)
    equal = np.abs(np.diff(s, axis=-1)) <= limit[..., None]
    if not equal.any():
        return vectors
    vectors = [v.copy() for v in vectors]
    for *entry, begin, end in _runs(equal):
        turn = _turn(end - begin, vectors[0].dtype)
        for v in vectors:
            columns = v[(*entry, slice(None), slice(begin, end))]
            columns[...] = columns @ turn
    return vectors


def _runs(equal):
    """Yield (*batch entry, begin, end) of each run of values that are equal, neighbour by neighbour."""
    for entry in np.ndindex(equal.shape[:-1]):
        edges = np.flatnonzero(np.diff(equal[entry].astype(int), prepend=0, append=0))
        for begin, end in zip(edges[::2], edges[1::2], strict=True):
            yield *entry, int(begin), int(end) + 1


@cache
def _turn(size, dtype):
    """A unitary matrix, always the same one of a size."""
    return np.linalg.qr(normal(np.random.default_rng(size), (size, size), dtype))[0]
