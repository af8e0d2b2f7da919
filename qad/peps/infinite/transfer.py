"""Transfer operators of rows of edges: their largest eigenvalues."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy  # loads scipy.sparse.linalg when it is first used

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Product = Callable[[np.ndarray], np.ndarray]

SMALL = 100  # dimension up to which all eigenvalues are computed


def transfer(upper: Sequence[np.ndarray], lower: Sequence[np.ndarray]) -> Product:
    """The operator of pairs of edges ``[before, site, behind]``, from vectors behind them to those before."""
    shape = upper[-1].shape[2], lower[-1].shape[2]

    def product(v: np.ndarray) -> np.ndarray:
        v = v.reshape(shape)
        for x, y in zip(reversed(upper), reversed(lower), strict=True):
            v = np.tensordot(np.tensordot(x, v, (2, 0)), y, ([1, 2], [1, 2]))
        return v.ravel()

    return product


def largest(product: Product, n: int, dtype: np.dtype) -> tuple[complex, np.ndarray]:
    """The eigenvalue of largest magnitude of an operator on vectors of length `n`, and its vector."""
    if n <= SMALL:
        values, vectors = np.linalg.eig(np.array([product(x) for x in np.eye(n, dtype=dtype)]).T)
    else:
        linear = scipy.sparse.linalg.LinearOperator((n, n), matvec=product, dtype=dtype)
        start = np.random.default_rng(0).standard_normal(n).astype(dtype)
        values, vectors = scipy.sparse.linalg.eigs(linear, k=1, v0=start)
    at = np.argmax(np.abs(values))
    return values[at], vectors[:, at]


def two_largest(upper: Sequence[np.ndarray], lower: Sequence[np.ndarray]) -> tuple[float, float]:
    """Magnitudes of the first and the second eigenvalue of a transfer operator that repeats.

    The first one is taken out before the second is looked for: of an eigenvalue that is there twice, as in a sum of two
    phases, powers of the operator on one vector show one.
    """
    forth, dtype = transfer(upper, lower), upper[0].dtype
    n = upper[0].shape[0] * lower[0].shape[0]
    if n <= SMALL:
        values = np.abs(np.linalg.eigvals(np.array([forth(x) for x in np.eye(n, dtype=dtype)])))
        return tuple(np.sort([0.0, *values])[:-3:-1].tolist())
    back = transfer(*([x.conj().transpose(2, 1, 0) for x in reversed(row)] for row in (upper, lower)))
    (first, right), left = largest(forth, n, dtype), largest(back, n, dtype)[1]

    def without_first(x: np.ndarray) -> np.ndarray:
        return forth(x) - right * (first * (left.conj() @ x) / (left.conj() @ right))

    second = largest(without_first, n, np.result_type(dtype, right, left))[0]
    return max(abs(first), abs(second)), min(abs(first), abs(second))
