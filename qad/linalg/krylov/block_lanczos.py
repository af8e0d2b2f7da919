"""The leading singular triples of an operator on plain arrays, by block Lanczos bidiagonalisation.

With orthonormal blocks V_j and Q_j, grown from random vectors and orthogonalised against all earlier ones,

    A [V_1 .. V_j] = [Q_1 .. Q_j] R,      A^H Q_j = [V_1 .. V_j] (..) + V_j+1 T .

Singular triples of the small R are those of A up to the residual ``A^H u - s v = V_j+1 T x``, x being what u holds of
Q_j.  A block finds multiplets whole, and nothing is ever squared, so that small values are accurate to rounding of the
largest.  Where the basis has grown too long, the iteration starts again from the best vectors.

References: G. H. Golub, F. T. Luk and M. L. Overton, ACM Trans. Math. Softw. 7, 149 (1981); N. Halko, P.-G. Martinsson
and J. A. Tropp, SIAM Rev. 53, 217 (2011).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ConvergenceError
from qad.linalg.support import tolerances
from qad.linalg.support.random import normal

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    Apply: TypeAlias = Callable[[np.ndarray], np.ndarray]

SPARE = 8  # vectors of a block beyond those that are asked for
LENGTH = 8  # blocks before a new start
RESTARTS = 30


def triples(
    apply: Apply, adjoint: Apply, start: np.ndarray, k: int, name: str, restarts: int = RESTARTS
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The `k` leading singular triples, and the next values.

    Parameters
    ----------
    apply, adjoint : callable
        (n, b) -> (m, b) and back, on plain arrays.
    start : array (n,)
        Its length and dtype count, and its direction, with random ones, is where the search begins.
    restarts : int
        How many before it gives up.

    Returns
    -------
    u (m, p), s (p,), vh (p, n)
        ``p > k`` unless k is all; the first k are converged to rounding, the next to half of the digits.

    Raises
    ------
    ConvergenceError
        If the values decay too slowly.
    """
    n, width = start.size, k + SPARE
    image = apply(start[:, None])
    m, dtype = len(image), np.result_type(start, image)
    if 3 * width >= min(m, n):
        return np.linalg.svd(apply(np.eye(n, dtype=dtype)), full_matrices=False)
    v = np.column_stack([start, normal(np.random.default_rng(0), (n, width - 1), dtype)])
    for _ in range(restarts):
        u, s, v, residual = _expanded(apply, adjoint, v, k, min(LENGTH, min(m, n) // width))
        if _converged(residual, s, k):
            return u, s, v.conj().T
    raise ConvergenceError(
        f"{name}: after {restarts} restarts the residual of {k} singular triples is {residual[:k].max() / s[0]:.3g} of "
        f"the largest value (number {k - 1} is {s[k - 1]:.6g}, the next {s[k]:.6g}): ask for fewer or more of them, or "
        'write method="full"'
    )


def _expanded(apply, adjoint, v, k, length):
    """Triples from a basis that grows from the columns of `v` by `length` blocks, or until converged."""
    width = v.shape[1]
    basis = v = np.linalg.qr(v)[0]
    images, r = np.zeros((0, 0), v.dtype), np.zeros((0, 0), v.dtype)
    for _ in range(length):
        block, column = _orthogonal(apply(v), images)
        images = np.column_stack([images, block]) if images.size else block
        r = np.column_stack([np.vstack([r, np.zeros((width, r.shape[1]), r.dtype)]), column])
        v, t = _orthogonal(adjoint(block), basis)
        x, s, yh = np.linalg.svd(r)
        residual = np.linalg.norm(t[-width:] @ x[-width:], axis=0)
        if _converged(residual, s, k):
            break
        basis = np.column_stack([basis, v])
    y = yh.conj().T[:, :width]
    return images @ x[:, :width], s[:width], basis[:, : len(y)] @ y, residual[:width]


def _orthogonal(block, basis):
    """Orthonormal columns that span `block` beyond `basis`, and the coefficients of `block` in both."""
    if not basis.size:
        return np.linalg.qr(block)
    overlap = basis.conj().T @ block
    rest = block - basis @ overlap
    again = basis.conj().T @ rest
    q, t = np.linalg.qr(rest - basis @ again)
    q = np.linalg.qr(q - basis @ (basis.conj().T @ q))[0]  # where nothing was left, t is zero and q arbitrary
    t = q.conj().T @ rest
    return q, np.vstack([overlap + again, t])


def _converged(residual, s, k):
    found = residual[:k] <= tolerances.sums(s.dtype) * s[0]
    return bool(found.all() and residual[k] <= tolerances.half(s.dtype) * s[0])
