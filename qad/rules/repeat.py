"""Functions that repeat, turn round and pad."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from qad.extend import (
    Tensor,
    as_array,
    attach,
    defjvp,
    defvjp,
    defvjp_tuned,
    implements,
    like,
    operand,
    primitive,
    value_of,
)
from qad.extend.memory import snapshot
from qad.rules.index import take

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Cotangent, Value

# -- turned round ----------------------------------------------------------------------------------

defvjp_tuned(np.flip, lambda g, y, m, axis=None: np.flip(g, axis), linear=True, shows=True)
defvjp_tuned(np.fliplr, lambda g, y, m: np.fliplr(g), linear=True, shows=True)
defvjp_tuned(np.flipud, lambda g, y, m: np.flipud(g), linear=True, shows=True)
defvjp_tuned(np.rot90, lambda g, y, m, k=1, axes=(0, 1): np.rot90(g, -k, axes), linear=True, shows=True)
defvjp_tuned(
    np.roll, lambda g, y, a, shift, axis=None: np.roll(g, np.negative(shift).tolist(), axis), linear=True, fresh=True
)

# -- repeated --------------------------------------------------------------------------------------


def _untile(g: Cotangent, y: Value, A: Value, reps: Value) -> Cotangent:
    reps = tuple(reps) if np.iterable(reps) else (reps,)
    reps = (1,) * (y.ndim - len(reps)) + reps
    shape = (1,) * (y.ndim - A.ndim) + A.shape
    pairs = [n for pair in zip(reps, shape, strict=True) for n in pair]
    return g.reshape(pairs).sum(axis=tuple(range(0, 2 * y.ndim, 2))).reshape(A.shape)


defvjp_tuned(np.tile, _untile, linear=True, fresh=True)


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
    return snapshot(y) if type(y) is Tensor else y


# -- padded ----------------------------------------------------------------------------------------


@primitive(name="pad")
def pad_with(x: Value, *, widths: Sequence[tuple[int, int]], value: Value) -> Value:
    """`x` in the middle of a larger array that is `value` elsewhere."""
    return np.pad(x, widths, constant_values=value)


def _cut(g: Cotangent, y: Value, x: Value, *, widths: Sequence[tuple[int, int]], value: Value) -> Cotangent:
    return g[tuple(slice(before, before + n) for (before, _), n in zip(widths, x.shape, strict=True))]


defvjp(pad_with, _cut)
defjvp(pad_with, lambda t, y, x, *, widths, value: np.pad(t, widths))

attach("repeat", repeat)
