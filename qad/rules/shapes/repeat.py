"""Functions that repeat, turn round and pad."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from qad.extend import AXIS, Tensor, as_array, attach, implements, like, operand, primitive, rule, shifted, value_of
from qad.extend.memory import held
from qad.rules.reductions.axes import rows_of
from qad.rules.shapes.index import take

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Axes, Axis, Cotangent, Value

# -- turned round ----------------------------------------------------------------------------------


def _roll_each(batched: Sequence[bool], x: Value, shift: Axis, axis: Axes = None) -> Value:
    if axis is None:
        return np.roll(rows_of(x), shift, 1).reshape(x.shape)
    return np.roll(x, shift, shifted(axis, x.ndim))


rule(np.flip, lambda g, y, m, axis=None: np.flip(g, axis), linear=True, batch=AXIS, shows=True)
rule(np.fliplr, lambda g, y, m: np.fliplr(g), linear=True, batch=lambda batched, m: np.flip(m, 2), shows=True)
rule(np.flipud, lambda g, y, m: np.flipud(g), linear=True, batch=lambda batched, m: np.flip(m, 1), shows=True)
rule(
    np.rot90,
    lambda g, y, m, k=1, axes=(0, 1): np.rot90(g, -k, axes),
    linear=True,
    batch=lambda batched, m, k=1, axes=(0, 1): np.rot90(m, k, shifted(axes, m.ndim)),
    shows=True,
)
rule(
    np.roll,
    lambda g, y, a, shift, axis=None: np.roll(g, np.negative(shift).tolist(), axis),
    linear=True,
    batch=_roll_each,
    fresh=True,
)

# -- repeated --------------------------------------------------------------------------------------


def _untile(g: Cotangent, y: Value, A: Value, reps: Value) -> Cotangent:
    reps = tuple(reps) if np.iterable(reps) else (reps,)
    reps = (1,) * (y.ndim - len(reps)) + reps
    shape = (1,) * (y.ndim - A.ndim) + A.shape
    pairs = [n for pair in zip(reps, shape, strict=True) for n in pair]
    return g.reshape(pairs).sum(axis=tuple(range(0, 2 * y.ndim, 2))).reshape(A.shape)


def _tile_each(batched: Sequence[bool], x: Value, reps: Value) -> Value:
    reps = tuple(reps) if np.iterable(reps) else (reps,)
    reps = (1,) * (x.ndim - 1 - len(reps)) + reps
    return np.tile(x.reshape((len(x),) + (1,) * (len(reps) + 1 - x.ndim) + x.shape[1:]), (1, *reps))


rule(np.tile, _untile, linear=True, batch=_tile_each, fresh=True)


@implements(np.repeat)
def repeat(a: Value, repeats: Value, axis: int | None = None) -> Value:
    a, repeats = operand(a), value_of(repeats)
    if axis is None:
        a, axis = a.reshape(-1), 0
    axis = normalize_axis_index(axis, a.ndim)
    if np.ndim(repeats):
        repeats = as_array(repeats).astype(np.intp, casting="same_kind")  # NumPy itself refuses those of uint64
        return take(a, np.repeat(like(repeats).arange(a.shape[axis]), repeats), axis)
    before, n, after = a.shape[:axis], a.shape[axis], a.shape[axis + 1 :]
    spread = np.broadcast_to(a.reshape((*before, n, 1, *after)), (*before, n, repeats, *after))
    y = spread.reshape((*before, n * repeats, *after))
    return held(y) if type(y) is Tensor else y


# -- padded ----------------------------------------------------------------------------------------


@primitive(name="pad")
def pad_with(x: Value, *, widths: Sequence[tuple[int, int]], value: Value) -> Value:
    """`x` in the middle of a larger array that is `value` elsewhere."""
    return np.pad(x, widths, constant_values=value)


def _cut(g: Cotangent, y: Value, x: Value, *, widths: Sequence[tuple[int, int]], value: Value) -> Cotangent:
    return g[tuple(slice(before, before + n) for (before, _), n in zip(widths, x.shape, strict=True))]


def _pad_each(batched: Sequence[bool], x: Value, *, widths: Sequence[tuple[int, int]], value: Value) -> Value:
    value = value if np.ndim(value) < 2 else np.concatenate([np.zeros((1, 2)), np.broadcast_to(value, (x.ndim - 1, 2))])
    return pad_with(x, widths=((0, 0), *widths), value=value)


rule(pad_with, _cut, forward=lambda t, y, x, *, widths, value: np.pad(t, widths), batch=_pad_each)

attach("repeat", repeat)
