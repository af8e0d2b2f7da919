"""What functions of arrays do to a batch of examples under `qad.vmap`; see `qad.extend.defbatch`.

Elementwise functions need no line here; indices and diagonals have `vmap_index.py`.  `batched` says which arguments
carry the axis of the batch, as their first.
"""

from __future__ import annotations

from math import prod
from operator import getitem
from typing import TYPE_CHECKING

import numpy as np

from qad.extend import Tensor, defbatch, like, shifted, spread_out, stacks
from qad.extend.batching import ENTRYWISE, GIVES_C, KEEPS_C, SHOWS_OR_C, aligned, over, same
from qad.rules import (
    casts,
    diagonal,
    fft,
    index,
    join,
    products,
    reduce,
    repeat,
    scan,
    shape,
    signal,
)
from qad.rules import (
    sorting as order,
)
from qad.rules import (
    structured_cotangents as lazy,
)
from qad.rules.complex import direction, imag_part, real_part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Axes, Axis, Function, Shape, Value

LARGE, SHORT = 1 << 12, 8  # entries of an array, and of its rows


def flat(x: Value) -> Value:
    """Every example as a vector."""
    return x.reshape((len(x), prod(x.shape[1:])))


# -- entries, one by one -----------------------------------------------------------------------------------------------

for _fn in (np.conjugate, direction, real_part, imag_part, np.sign, casts.cast, casts.replace_nonfinite, np.copy):
    defbatch(_fn, same(_fn))
for _fn in (np.round, np.around, np.trunc, np.isposinf, np.isneginf, np.isreal, np.iscomplex):
    defbatch(_fn, same(_fn))
defbatch(
    np.unwrap, lambda batched, p, discont=None, axis=-1, **more: np.unwrap(p, discont, shifted(axis, p.ndim), **more)
)
defbatch(reduce.softmax_over, lambda batched, x, axis=None: reduce.softmax_over(x, axis=shifted(axis, x.ndim)))
defbatch(index.chosen, lambda batched, *args: index.chosen(*aligned(batched, args)))

# -- reductions and scans ----------------------------------------------------------------------------------------------


def _sum(batched: Sequence[bool], x: Value, axis: Axes = None, keepdims: bool = False) -> Value:
    """Sums of short rows are products with ones, which take a tenth of the time of NumPy's reduction."""
    axes = shifted(axis, x.ndim)
    place = axes if type(axes) is int else axes[0] if len(axes) == 1 else 0
    if not place or type(x) is Tensor or x.dtype.kind not in "fc" or not x.size:
        return reduce.sum_over(x, axes, keepdims)
    before, n, after = x.shape[:place], x.shape[place], x.shape[place + 1 :]
    if after:
        sums = np.matmul(like(x).ones((1, n), x.dtype), x.reshape((prod(before), n, prod(after))))
    else:
        sums = x.reshape((prod(before), n)) @ like(x).ones(n, x.dtype)
    return sums.reshape(before + ((1,) if keepdims else ()) + after)


defbatch(reduce.sum_over, _sum)
for _fn in (reduce.var_over, reduce.std_over, reduce.logsumexp, order.max_over, order.min_over):
    defbatch(_fn, over(_fn))
for _fn in (np.any, np.all, np.count_nonzero):
    defbatch(_fn, over(_fn))


def _by_axis(fn: Function) -> Function:
    """A rule of a function whose one axis comes by keyword."""
    return lambda batched, x, *, axis, **more: fn(x, axis=shifted(axis, x.ndim), **more)


for _fn in (scan.cumsum_over, scan.cumprod_over, scan.prod_over, order.sort_along):
    defbatch(_fn, _by_axis(_fn))
for _fn in (fft.fft_along, fft.ifft_along, fft.rfft_along, fft.irfft_along):
    defbatch(_fn, _by_axis(_fn))


def _place(fn: Function, default: int | None) -> Function:
    """A rule of ``argmax`` and its like: without an axis the example is flattened."""

    def rule(batched, x, axis=default, **more):
        if axis is None:
            return fn(flat(x), axis=1, **more)
        return fn(x, axis=shifted(axis, x.ndim), **more)

    return rule


defbatch(np.argpartition, lambda batched, x, kth, axis=-1, *how: np.argpartition(x, kth, shifted(axis, x.ndim), *how))
for _fn, _default in ((np.argmax, None), (np.argmin, None), (np.argsort, -1)):
    defbatch(_fn, _place(_fn, _default))


def _spread(
    batched: Sequence[bool], g: Value, shape: tuple[int, ...], axis: Axes = None, keepdims: bool = False
) -> Value:
    return in_full(reduce.spread(g, shape=(len(g), *shape), axis=shifted(axis, len(shape) + 1), keepdims=keepdims))


def in_full(x: Value) -> Value:
    """Many short rows, each of one repeated entry, written out: NumPy multiplies such views five times slower."""
    if type(x) is not np.ndarray or x.size < LARGE or not 1 < x.shape[-1] <= SHORT:
        return x
    if x.strides[-1] or not x.strides[-2]:
        return x
    y = np.empty(x.shape, x.dtype)
    for k in range(x.shape[-1]):
        y[..., k] = x[..., 0]
    return y


def _share_ties(batched: Sequence[bool], g: Value, groups: Value) -> Value:
    """Groups of different examples are numbered differently."""
    g, groups = spread_out((*batched, False)[:2], (g, groups))
    first = np.arange(len(groups)).reshape((-1,) + (1,) * (groups.ndim - 1))
    return order.share_ties(g, groups + first * (groups.max(initial=0) + 1))


defbatch(reduce.spread, _spread)
defbatch(order.share_ties, _share_ties)

# -- shapes ------------------------------------------------------------------------------------------------------------


def _tile(batched: Sequence[bool], x: Value, reps: Value) -> Value:
    reps = tuple(reps) if np.iterable(reps) else (reps,)
    reps = (1,) * (x.ndim - 1 - len(reps)) + reps
    return np.tile(x.reshape((len(x),) + (1,) * (len(reps) + 1 - x.ndim) + x.shape[1:]), (1, *reps))


def _roll(batched: Sequence[bool], x: Value, shift: Axis, axis: Axes = None) -> Value:
    if axis is None:
        return np.roll(flat(x), shift, 1).reshape(x.shape)
    return np.roll(x, shift, shifted(axis, x.ndim))


def _reshape(batched: Sequence[bool], x: Value, shape: Shape) -> Value:
    shape = tuple(shape) if np.iterable(shape) else (shape,)
    if not len(x):  # of no examples, a length of -1 follows from the shape of one
        shape = np.broadcast_to(False, x.shape[1:]).reshape(shape).shape
    return x.reshape((len(x), *shape))


def _broadcast_to(batched: Sequence[bool], x: Value, shape: Shape, subok: bool = False) -> Value:
    shape = tuple(shape) if np.iterable(shape) else (shape,)
    return np.broadcast_to(x.reshape((len(x),) + (1,) * (len(shape) + 1 - x.ndim) + x.shape[1:]), (len(x), *shape))


def _pad(batched: Sequence[bool], x: Value, *, widths: Sequence[tuple[int, int]], value: Value) -> Value:
    value = value if np.ndim(value) < 2 else np.concatenate([np.zeros((1, 2)), np.broadcast_to(value, (x.ndim - 1, 2))])
    return repeat.pad_with(x, widths=((0, 0), *widths), value=value)


def _outlined(fn: Function) -> Function:
    """A rule of a function that only changes the shape."""

    def rule(batched, x, *args, **kwargs):
        one = np.broadcast_to(False, x.shape[1:])
        return x.reshape((len(x), *fn(one, *args, **kwargs).shape))

    return rule


for _fn in (np.squeeze, np.expand_dims, np.atleast_1d, np.atleast_2d, np.atleast_3d):
    defbatch(_fn, _outlined(_fn))
defbatch(shape.T, lambda batched, x: x.transpose((0, *range(x.ndim - 1, 0, -1))))
defbatch(shape.mT, same(shape.mT))
defbatch(shape.reshape, _reshape)
defbatch(shape.transpose, lambda batched, x, axes: x.transpose((0, *shifted(axes, x.ndim))))
defbatch(shape.swapaxes, lambda batched, x, one, two: x.swapaxes(shifted(one, x.ndim), shifted(two, x.ndim)))
defbatch(np.broadcast_to, _broadcast_to)
defbatch(np.flip, over(np.flip))
defbatch(np.flipud, lambda batched, x: np.flip(x, 1))
defbatch(np.fliplr, lambda batched, x: np.flip(x, 2))
defbatch(np.rot90, lambda batched, x, k=1, axes=(0, 1): np.rot90(x, k, shifted(axes, x.ndim)))
defbatch(np.roll, _roll)
defbatch(np.tile, _tile)
defbatch(repeat.pad_with, _pad)


def _joining(join: Function, more: int) -> Function:
    """The rule of a function that joins arrays, of which the result has `more` axes; each example lies by itself."""

    def rule(batched, *xs, axis):
        xs = [x if b else x.copy() for b, x in zip(batched, spread_out(batched, xs), strict=True)]
        return join(*xs, axis=shifted(axis, xs[0].ndim + more))

    return rule


defbatch(join.joined, _joining(join.joined, 0))
defbatch(join.stacked, _joining(join.stacked, 1))

# -- products ----------------------------------------------------------------------------------------------------------


def _matrix_product(batched: Sequence[bool], a: Value, b: Value) -> Value:
    """A stack times one matrix is one product."""
    if batched[1]:
        return np.matmul(a, b)
    rows = a.shape[0] * a.shape[1]
    return np.matmul(a.reshape((rows, a.shape[2])), b).reshape((*a.shape[:2], b.shape[1]))


def _stack_product(batched: Sequence[bool], a: Value, b: Value) -> Value:
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


def _vdot(batched: Sequence[bool], a: Value, b: Value) -> Value:
    """The conjugate of the first, which may be one for all, times the second."""
    a, b = (flat(x) if stacked else x.reshape(-1) for stacked, x in zip(batched, (a, b), strict=True))
    if not all(batched):
        return np.matmul(a.conj(), b) if batched[0] else np.matmul(b, a.conj())
    return np.matmul(a.conj()[:, None, :], b[:, :, None])[:, 0, 0]


def _outer(batched: Sequence[bool], a: Value, b: Value) -> Value:
    a, b = (flat(x) if stacked else x.reshape(-1) for stacked, x in zip(batched, (a, b), strict=True))
    return a[..., :, None] * b[..., None, :]


defbatch(products.matrix_product, _matrix_product)
defbatch(products.stack_product, _stack_product)
defbatch(np.vdot, _vdot)
defbatch(np.outer, _outer)
defbatch(products.cross_product, stacks(products.cross_product, 1, 1))


def _convolved(batched: Sequence[bool], a: Value, v: Value) -> Value:
    """The product of the shorter one and a matrix, whose rows are the longer one, each shifted one column further."""
    if a.shape[-1] > v.shape[-1]:
        batched, a, v = batched[::-1], v, a
    n, m = a.shape[-1], v.shape[-1]
    before = v.shape[:-1]
    rows = np.pad(np.broadcast_to(v[..., None, :], (*before, n, m)), [(0, 0)] * len(before) + [(0, 0), (0, n)])
    moved = rows.reshape((*before, n * (m + n)))[..., : n * (m + n - 1)].reshape((*before, n, m + n - 1))
    return np.matmul(a[:, None, :], moved)[:, 0] if all(batched) else np.matmul(a, moved)


defbatch(signal.convolved, _convolved)

# -- layouts -----------------------------------------------------------------------------------------------------------

ENTRYWISE |= {
    np.conjugate, np.sign, real_part, imag_part, direction, casts.cast, casts.replace_nonfinite, index.chosen, np.round,
    np.around, np.trunc,
}  # fmt: skip
KEEPS_C |= {
    np.copy, np.tril, np.triu, np.roll, np.tile, reduce.sum_over, reduce.var_over, reduce.std_over, reduce.logsumexp,
    order.max_over, order.min_over, scan.cumsum_over, scan.cumprod_over, scan.prod_over, order.sort_along, join.joined,
    join.stacked, repeat.pad_with, lazy.scatter, getitem,
}  # fmt: skip
SHOWS_OR_C.add(shape.reshape)
GIVES_C |= {products.matrix_product, np.outer, diagonal.on_diagonal}
