"""The fastest of LAPACK's drivers for one large matrix; for all else NumPy's, which take batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy  # loads scipy.linalg when it is first used

from qad.linalg.support.generic_basis import in_generic_basis

if TYPE_CHECKING:
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


def singular_triples(a: np.ndarray, full: bool = False, generic: int = False) -> SVD:
    """U (..., m, k), S (..., k) in descending order, Vh (..., k, n); `full` and `generic` as NumPy's and as above."""
    u, s, vh = np.linalg.svd(a, full_matrices=full)
    if generic:
        left, right = u[..., : s.shape[-1]], vh[..., : s.shape[-1], :].conj().mT
        turned, with_it = in_generic_basis(s, left, right)
        if turned is not left:
            u, vh = np.copy(u, "K"), np.copy(vh, "K")
            u[..., : s.shape[-1]], vh[..., : s.shape[-1], :] = turned, with_it.conj().mT
    return SVDResult(u, s, vh)
