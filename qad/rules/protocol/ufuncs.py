"""ufuncs with keywords, and their methods ``reduce``, ``accumulate``, ``reduceat`` and ``outer``.

Sums and products are primitives; every other ufunc of two operands is folded, operation by operation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from qad.core.errors import ArgumentError
from qad.extend import Tensor, as_array, implements, like, operand, refuse_out, value_of
from qad.extend.recording import has_no_derivative
from qad.rules.elementwise.logsumexp import logsumexp
from qad.rules.protocol.structured_cotangents import scatter
from qad.rules.reductions.axes import axes_of, of_nothing
from qad.rules.reductions.reduce import sum
from qad.rules.reductions.scan import cumprod, cumsum, prod
from qad.rules.reductions.sorting import max, min

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.typing import Axes, DTypeLike, Function, Value


def passing(method: Function) -> Function:
    """Let ufuncs without derivative run on the bare values."""

    def handler(ufunc, *inputs, **kwargs):
        if not has_no_derivative(ufunc):
            return method(ufunc, *inputs, **kwargs)
        plain = {key: value_of(x) for key, x in kwargs.items()}
        return getattr(ufunc, method.__name__)(*map(value_of, inputs), **plain)

    return handler


# -- calls with keywords -------------------------------------------------------------------------------------
def __call__(
    ufunc: np.ufunc, *inputs: Value, where: Value = True, dtype: DTypeLike | None = None, axis: Axes = None,
    casting: str = "same_kind", order: str = "K", subok: bool = True, **more: Any,
) -> Value | tuple[Value, ...]:  # fmt: skip
    """Where `where` is False the answer is 0: NumPy leaves such entries to chance, and does not compute them."""
    operands = [operand(x) for x in inputs]
    if axis is not None and ufunc is np.vecdot:
        return np.linalg.vecdot(*operands, axis=axis)
    if axis is not None or more:
        name = ", ".join([*sorted(more), *(["axis"] if axis is not None else [])])
        raise ArgumentError(f"np.{ufunc.__name__} of a Tensor takes no {name}: write np.moveaxis(x, axis, -1) first")
    if dtype is not None:
        operands = [np.astype(x, dtype) if hasattr(x, "dtype") else np.asarray(x, dtype) for x in operands]
    if where is True:
        return ufunc(*operands)
    create = like(*operands)
    if create is not np:
        operands = [x if type(x) is Tensor else create.asarray(x) for x in operands]
    *operands, mask = np.broadcast_arrays(*operands, create.array(value_of(where)))
    y = ufunc(*(x[mask] for x in operands))
    if isinstance(y, tuple):
        return tuple([_around(part, mask) for part in y])
    return _around(y, mask)


def _around(y: Value, mask: Value) -> Value:
    return scatter(y, indices=(mask,), shape=mask.shape, dtype=y.dtype)


# -- methods -------------------------------------------------------------------------------------------------
def outer(ufunc: np.ufunc, a: Value, b: Value, **kwargs: Any) -> Value:
    """``ufunc(a[i, j, ...], b[k, l, ...])`` for all pairs of indices."""
    a, b = operand(a), operand(b)
    return ufunc(np.reshape(a, np.shape(a) + (1,) * np.ndim(b)), b, **kwargs)


def reduce(
    ufunc: np.ufunc, a: Value, axis: Axes = 0, dtype: DTypeLike | None = None, out: object = None,
    keepdims: bool = False, initial: Value = None, where: Value = True,
) -> Value:  # fmt: skip
    """The fold of `ufunc` along axes."""
    if ufunc is np.logaddexp and dtype is None and initial is None and where is True:
        return logsumexp(a, axis=axis, keepdims=keepdims)
    a = _prepared(ufunc, a, dtype, out)
    if where is not True:
        raise ArgumentError(
            f"np.{ufunc.__name__}.reduce(..., where=mask) of a Tensor: write np.where(mask, x, neutral)"
        )
    axes = axes_of(axis, a.ndim)
    if len(axes) > 1 and ufunc.identity is None and ufunc not in (np.fmax, np.fmin):
        raise ArgumentError(f"np.{ufunc.__name__} depends on the order of its operands: reduce one axis at a time")
    start = ufunc.identity if initial is None else initial
    kept = [n for i, n in enumerate(a.shape) if i not in axes]
    if not a.size:
        if start is None and all(kept):
            raise ArgumentError(f"np.{ufunc.__name__} has no value for an axis of length 0: give initial=")
        y = of_nothing(a, axis, keepdims, 0 if start is None else start)
        return np.sum(a, axis, keepdims=keepdims) if y is None else y  # which is empty
    rows = list(np.moveaxis(a, axes, range(len(axes))).reshape((-1, *kept)))
    y = _fold(ufunc, rows if start is None or (initial is None and len(rows) > 1) else [start, *rows])
    return np.expand_dims(y, axes) if keepdims else y


def _prepared(ufunc: np.ufunc, a: Value, dtype: DTypeLike | None, out: object) -> Value:
    refuse_out(out, f"np.{ufunc.__name__}")
    return a if dtype is None else np.astype(a, dtype)


def _fold(ufunc: np.ufunc, rows: Sequence[Value]) -> Value:
    y = rows[0]
    for row in rows[1:]:
        y = ufunc(y, row)
    return y


def accumulate(ufunc: np.ufunc, a: Value, axis: int = 0, dtype: DTypeLike | None = None, out: object = None) -> Value:
    """All the partial folds along an axis."""
    a = _prepared(ufunc, a, dtype, out)
    if ufunc in (np.add, np.multiply):
        return (cumsum if ufunc is np.add else cumprod)(a, axis, dtype)
    ys = []
    for row in np.moveaxis(a, axis, 0):
        ys.append(ufunc(ys[-1], row) if ys else row)
    return np.stack(ys, normalize_axis_index(axis, a.ndim)) if ys else a


def reduceat(
    ufunc: np.ufunc, a: Value, indices: Value, axis: int = 0, dtype: DTypeLike | None = None, out: object = None
) -> Value:
    """The folds of the slices between `indices`; of one entry where they do not increase."""
    a, starts = _prepared(ufunc, a, dtype, out), as_array(value_of(indices))
    axis = normalize_axis_index(axis, a.ndim)
    rows = np.moveaxis(a, axis, 0)
    runs = zip(starts, [*starts[1:], len(rows)], strict=True)
    ys = [ufunc.reduce(rows[i:j], axis=0) if i < j else rows[i] for i, j in runs]
    return np.stack(ys, axis) if ys else np.take(a, [], axis)


def _along_first(function: Function) -> Function:
    """The method ``reduce`` of the ufunc that `function` folds with; its axis is the first one by default."""
    return lambda x, axis=0, *more, **options: function(x, axis, *more, **options)


def _of_order(function: Function) -> Function:
    """The same for extremes, whose functions take no dtype."""
    return lambda x, axis=0, dtype=None, *more, **options: function(x, axis, *more, **options)


implements((np.add, "reduce"))(_along_first(sum))
implements((np.multiply, "reduce"))(_along_first(prod))
implements((np.maximum, "reduce"))(_of_order(max))
implements((np.minimum, "reduce"))(_of_order(min))
implements((None, "__call__"))(__call__)
for _method in (outer, reduce, accumulate, reduceat):
    implements((None, _method.__name__))(passing(_method))
