"""Products of arrays: two matrices by `dot`, stacks and vectors by `matmul`, and the functions that reduce to them."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ShapeError
from qad.extend import (
    Tensor,
    attach,
    implements,
    operand,
    primitive,
    quick,
    quick_product,
    refuse_out,
    rule,
    square_of_root,
    unbroadcast,
)
from qad.extend.batching import aligned
from qad.extend.memory import is_buffer, settled
from qad.rules.products.sparse import is_sparse, sparse_product
from qad.rules.protocol.structured_cotangents import ScaledIdentity
from qad.rules.reductions.axes import rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Cotangent, Function, Value


def array(x: Value) -> Value:
    """An operand as products take it: Python's numbers are arrays of double precision."""
    x = operand(x)
    return x if hasattr(x, "ndim") else np.asarray(x)


# -- two matrices ----------------------------------------------------------------------------------


@primitive(name="matmul")
def matrix_product(a: Value, b: Value) -> Value:
    """The product of two matrices, and of nothing else: its rules need not look at shapes."""
    return np.dot(a, b)


def _matrix_left(g: Cotangent, y: Value, a: Value, b: Value) -> Cotangent:
    return g.factor * b.T if type(g) is ScaledIdentity else np.dot(g, b.T)


def _matrix_right(g: Cotangent, y: Value, a: Value, b: Value) -> Cotangent:
    return g.factor * a.T if type(g) is ScaledIdentity else np.dot(a.T, g)


def _squared_length(x: Value, y: Value) -> Value | None:
    """The product of a vector with itself where it is a root, such as ``abs(z)``; see `square_of_root`."""
    square = square_of_root(x) if x is y and type(x) is Tensor and x.ndim == 1 else None
    return None if square is None else np.sum(square)


def _matrix_of_each(batched: Sequence[bool], a: Value, b: Value) -> Value:
    """A stack times one matrix is one product."""
    if batched[1]:
        return np.matmul(a, b)
    rows = a.shape[0] * a.shape[1]
    return np.matmul(a.reshape((rows, a.shape[2])), b).reshape((*a.shape[:2], b.shape[1]))


rule(
    matrix_product,
    _matrix_left,
    _matrix_right,
    linear=True,
    batch=_matrix_of_each,
    fresh=True,
    lazy=(ScaledIdentity,),
    canonical=_squared_length,  # quick recorders ask before they look at shapes
)

# -- stacks of matrices, and vectors ---------------------------------------------------------------


@primitive(name="matmul")
def stack_product(a: Value, b: Value) -> Value:
    """``np.matmul`` of stacks of matrices, which broadcast, and of vectors."""
    return np.matmul(a, b)


def _stack_left(g: Cotangent, y: Value, a: Value, b: Value) -> Cotangent:
    if b.ndim == 1:
        return unbroadcast(g * b if a.ndim == 1 else g[..., None] * b, a.shape)
    if a.ndim == 1:
        return b @ g if b.ndim == 2 else unbroadcast((b @ g[..., None])[..., 0], a.shape)
    return unbroadcast(g.factor * b.mT if type(g) is ScaledIdentity else g @ b.mT, a.shape)


def _stack_right(g: Cotangent, y: Value, a: Value, b: Value) -> Cotangent:
    if a.ndim == 1:
        return unbroadcast(g * a if b.ndim == 1 else a[:, None] * g[..., None, :], b.shape)
    if b.ndim == 1:
        return a.T @ g if a.ndim == 2 else unbroadcast((a.mT @ g[..., None])[..., 0], b.shape)
    if type(g) is ScaledIdentity:
        return unbroadcast(g.factor * a.mT, b.shape)
    if b.ndim == 2:  # one matrix for a whole stack: one product, not a sum of many
        rows = prod(a.shape[:-1])
        return a.reshape((rows, a.shape[-1])).T @ g.reshape((rows, g.shape[-1]))
    return unbroadcast(a.mT @ g, b.shape)


def _stack_of_each(batched: Sequence[bool], a: Value, b: Value) -> Value:
    row, column = a.ndim == 1 + batched[0], b.ndim == 1 + batched[1]
    if row and column and not batched[0]:
        return np.matmul(b, a)
    if column and not batched[0] and a.ndim == 2:
        return np.matmul(b, a.T)
    if not batched[1] and (column or (row and b.ndim == 2)):
        return np.matmul(a, b)
    y = np.matmul(*aligned(batched, (a[..., None, :] if row else a, b[..., None] if column else b), (2, 2)))
    y = y[..., 0] if column else y
    return y if not row else y[..., 0] if column else y[..., 0, :]


rule(
    stack_product,
    _stack_left,
    _stack_right,
    linear=True,
    batch=_stack_of_each,
    fresh=True,
    lazy=(ScaledIdentity,),
    canonical=_squared_length,
)


# -- products written in these ---------------------------------------------------------------------


def _any_matmul(x: Value, y: Value) -> Value:
    if is_sparse(x) or is_sparse(y):
        return sparse_product(x, y)
    if x is not y and (is_buffer(x) or is_buffer(y)):
        return matmul(settled(x), settled(y))
    x, y = array(x), array(y)
    try:
        return matrix_product(x, y) if x.ndim == 2 == y.ndim else stack_product(x, y)
    except ShapeError:
        raise ShapeError(
            f"shapes {x.shape} and {y.shape} do not fit in a matrix product: the last axis of the first must be as "
            "long as the last but one of the second (the only one of a vector), and axes before these equal or 1: "
            "transpose one (x.mT), or name the axes in qad.einsum"
        ) from None


def _scaled(x: Value, y: Value) -> Value:
    """``np.dot`` of a number and an array."""
    return np.multiply(x, y)


def _any_dot(x: Value, y: Value) -> Value:
    if is_sparse(x) or is_sparse(y):
        return sparse_product(x, y)
    x, y = array(x), array(y)
    if not (x.ndim and y.ndim):
        return _scaled(x, y)
    return _any_matmul(x, y) if y.ndim <= 2 else inner(x, np.moveaxis(y, -2, -1))


matmul: Function = quick_product(matrix_product, np.ndarray.dot, _any_matmul, stack_product)
quick_dot: Function = quick_product(matrix_product, np.ndarray.dot, _any_dot)
implements(np.matmul)(matmul)
implements(np.linalg.matmul)(matmul)
attach("__matmul__", matmul)
attach("__rmatmul__", lambda y, x: matmul(x, y))
attach("dot", quick_dot)


@implements(np.dot)
def dot(a: Value, b: Value, out: object = None) -> Value:
    refuse_out(out, "np.dot")
    return quick_dot(a, b)


@implements(np.inner)
def inner(a: Value, b: Value) -> Value:
    a, b = array(a), array(b)
    if not (a.ndim and b.ndim):
        return np.multiply(a, b)
    if b.ndim <= 2:
        return matmul(a, b if b.ndim == 1 else b.T)
    k = b.shape[-1]
    return matmul(a, b.reshape((prod(b.shape[:-1]), k)).T).reshape(a.shape[:-1] + b.shape[:-1])


def _vdot_left(g: Cotangent, y: Value, a: Value, b: Value) -> Cotangent:
    return (g * b).conj().reshape(a.shape)


def _vdot_right(g: Cotangent, y: Value, a: Value, b: Value) -> Cotangent:
    return (g * a.conj()).reshape(b.shape)


def _vdot_of_each(batched: Sequence[bool], a: Value, b: Value) -> Value:
    """The conjugate of the first, which may be one for all, times the second."""
    a, b = (rows_of(x) if stacked else x.reshape(-1) for stacked, x in zip(batched, (a, b), strict=True))
    if not all(batched):
        return np.matmul(a.conj(), b) if batched[0] else np.matmul(b, a.conj())
    return np.matmul(a.conj()[:, None, :], b[:, :, None])[:, 0, 0]


rule(np.vdot, _vdot_left, _vdot_right, linear=True, batch=_vdot_of_each, fresh=True)
_vdot = quick(np.vdot)


@implements(np.vdot)
def vdot(a: Value, b: Value) -> Value:
    if a is b and type(a) is Tensor and (square := square_of_root(a)) is not None:
        return np.sum(square)
    return _vdot(array(a), array(b))


def _outer_left(g: Cotangent, y: Value, a: Value, b: Value) -> Cotangent:
    return (g @ b.reshape(-1)).reshape(a.shape)


def _outer_right(g: Cotangent, y: Value, a: Value, b: Value) -> Cotangent:
    return (a.reshape(-1) @ g).reshape(b.shape)


def _outer_of_each(batched: Sequence[bool], a: Value, b: Value) -> Value:
    a, b = (rows_of(x) if stacked else x.reshape(-1) for stacked, x in zip(batched, (a, b), strict=True))
    return a[..., :, None] * b[..., None, :]


rule(np.outer, _outer_left, _outer_right, linear=True, batch=_outer_of_each, fresh=True)
_outer = quick(np.outer)


@implements(np.outer)
def outer(a: Value, b: Value, out: object = None) -> Value:
    refuse_out(out, "np.outer")
    return _outer(array(a), array(b))


implements(np.linalg.outer)(outer)


@implements(np.kron)
def kron(a: Value, b: Value) -> Value:
    a, b = array(a), array(b)
    n = max(a.ndim, b.ndim)
    p, q = ((1,) * (n - x.ndim) + x.shape for x in (a, b))
    spread = np.reshape(a, [m for pair in zip(p, (1,) * n, strict=True) for m in pair])
    tiles = np.reshape(b, [m for pair in zip((1,) * n, q, strict=True) for m in pair])
    return (spread * tiles).reshape([m * k for m, k in zip(p, q, strict=True)])
