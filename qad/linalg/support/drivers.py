"""Decompositions of plain matrices: LAPACK's drivers, and vectors of equal values in a generic basis.

For one large matrix the fastest driver is taken; for all else NumPy's, which take batches.

Which basis LAPACK gives where values coincide is arbitrary, and that of a matrix with many zeros has many, too.  A
loss that depends on the choice may then be stationary in it by chance, as ``abs(v[0, 0]) ** 2`` is at the unit matrix,
and no check of its cotangents would notice.  In a basis drawn at random the checks see what the loss asks for.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import scipy  # loads scipy.linalg when it is first used

from qad.linalg.support import tolerances
from qad.linalg.support.random import normal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.typing import EigResult
    from qad.typing import SVDResult as SVD

EighResult: Any = type(np.linalg.eigh(np.eye(1)))
SVDResult: Any = type(np.linalg.svd(np.eye(1)))

LARGE = 192  # from here on "evr" beats the "evd" of NumPy, by up to a quarter


def hermitian_eigenpairs(a: np.ndarray, UPLO: str = "L", generic: int = False) -> EigResult:
    """Eigenvalues (..., n), ascending, and eigenvectors (..., n, n) of plain Hermitian matrices.

    With `generic`, as derivatives need it, those of equal values are in a generic basis.
    """
    if a.ndim == 2 and a.shape[0] >= LARGE and type(a) is np.ndarray:
        w, v = scipy.linalg.eigh(a, lower=UPLO == "L", driver="evr", check_finite=False)
        found = EighResult(w, np.ascontiguousarray(v))
    else:
        found = np.linalg.eigh(a, UPLO)
    return EighResult(found[0], *in_generic_basis(*found)) if generic else found


def decomposed(a: np.ndarray, full: bool) -> SVD:
    """NumPy's decomposition; iterations of QR where LAPACK's divide and conquer fails, as it does for rare matrices."""
    try:
        return np.linalg.svd(a, full_matrices=full)
    except np.linalg.LinAlgError:
        if type(a) is not np.ndarray or not np.isfinite(a).all():
            raise
    found = [scipy.linalg.svd(x, full_matrices=full, lapack_driver="gesvd") for x in a.reshape(-1, *a.shape[-2:])]
    return SVDResult(*(np.reshape(x, a.shape[:-2] + x[0].shape) for x in zip(*found, strict=True)))


def singular_triples(a: np.ndarray, full: bool = False, generic: int = False) -> SVD:
    """U (..., m, k), S (..., k) in descending order, Vh (..., k, n); `full` and `generic` as NumPy's and as above."""
    u, s, vh = decomposed(a, full)
    if generic:
        left, right = u[..., : s.shape[-1]], vh[..., : s.shape[-1], :].conj().mT
        turned, with_it = in_generic_basis(s, left, right)
        if turned is not left:
            u, vh = np.copy(u, "K"), np.copy(vh, "K")
            u[..., : s.shape[-1]], vh[..., : s.shape[-1], :] = turned, with_it.conj().mT
    return SVDResult(u, s, vh)


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
