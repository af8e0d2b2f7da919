"""Linear systems ``A x = b``: ``G_b = A^-H G``, ``G_A = -G_b x^H`` (Giles 2008, section 2.2.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import core, implements, operand, primitive, rule, unbroadcast, value_of
from qad.linalg.support.check import rows_fit, solvable, square

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike


def solve(a: ArrayLike, b: ArrayLike) -> Array:
    """Solution x of ``a @ x = b``, exactly like `numpy.linalg.solve`.

    Parameters
    ----------
    a : array (..., n, n)
    b : array (n,) or (..., n, k)
        Batches broadcast; one-dimensional `b` is a vector, anything else a stack of matrices.

    Returns
    -------
    array (..., n) or (..., n, k)

    Raises
    ------
    ShapeError
        If the matrices are not square, or the shapes do not fit.
    ArgumentError
        If an entry is not finite.
    LinAlgError
        If a matrix is singular.

    Examples
    --------
    >>> import numpy as np, qad
    >>> a = np.array([[2.0, 0.0], [0.0, 4.0]])
    >>> qad.grad(lambda b: qad.linalg.solve(a, b).sum())(np.ones(2))
    array([0.5 , 0.25])
    """
    a, b = square(a, "solve"), operand(b)
    rows_fit(value_of(a), value_of(b), "solve")
    return _solve(a, b)


implements(np.linalg.solve)(solve)


@primitive(name="solve")
def _solve(a, b):
    return solvable(np.linalg.solve, "solve", a, b)


def _solve_vjp(needed, g, ans, a, b):
    vector = b.ndim == 1
    if vector:
        g, ans = g[..., None], ans[..., None]
    gb = np.linalg.solve(a.mT, g)
    found = (lambda: -(gb @ ans.mT)), (lambda: gb[..., 0] if vector else gb)
    return [unbroadcast(found[i](), (a, b)[i].shape) for i in needed]


def _solve_jvp(tangents, ans, a, b):
    """``dx = A^-1 (db - dA x)``: one more system."""
    ta, tb = tangents
    if ta is None:
        return np.linalg.solve(a, tb)
    if b.ndim > 1:
        return np.linalg.solve(a, -(ta @ ans) if tb is None else tb - ta @ ans)
    moved = -(ta @ ans[..., None])
    return np.linalg.solve(a, moved if tb is None else tb[..., None] + moved)[..., 0]


def _batch(batched, a, b):
    """Vectors are columns; those of one matrix go into one system."""
    if b.ndim - batched[1] > 1:
        return core(2, 2).of(_solve)(batched, a, b)
    if not batched[0] and a.ndim == 2:
        return _solve(a, b.T).T
    return _solve(a, b[:, None, ..., None] if a.ndim > 3 else b[..., None])[..., 0]


rule(_solve, shared=_solve_vjp, forward_shared=_solve_jvp, batch=_batch)
