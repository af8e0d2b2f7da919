"""Functions that repeat, turn round and pad."""

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from qad.core.aliases import snapshot
from qad.core.errors import ArgumentError
from qad.extend import Tensor, attach, defjvp, defvjp, implements, operand, primitive, value_of
from qad.rules.index import take

# -- turned round ----------------------------------------------------------------------------------

defvjp(np.flip, lambda g, y, m, axis=None: np.flip(g, axis), linear=True)
defvjp(np.fliplr, lambda g, y, m: np.fliplr(g), linear=True)
defvjp(np.flipud, lambda g, y, m: np.flipud(g), linear=True)
defvjp(np.rot90, lambda g, y, m, k=1, axes=(0, 1): np.rot90(g, -k, axes), linear=True)
defvjp(np.roll, lambda g, y, a, shift, axis=None: np.roll(g, np.negative(shift), axis), linear=True, fresh=True)

# -- repeated --------------------------------------------------------------------------------------


def _untile(g, y, A, reps):
    reps = tuple(reps) if np.iterable(reps) else (reps,)
    reps = (1,) * (y.ndim - len(reps)) + reps
    shape = (1,) * (y.ndim - A.ndim) + A.shape
    pairs = [n for pair in zip(reps, shape, strict=True) for n in pair]
    return g.reshape(pairs).sum(axis=tuple(range(0, 2 * y.ndim, 2))).reshape(A.shape)


defvjp(np.tile, _untile, linear=True, fresh=True)


@implements(np.repeat)
def repeat(a, repeats, axis=None):
    a, repeats = operand(a), value_of(repeats)
    if axis is None:
        a, axis = a.reshape(-1), 0
    axis = normalize_axis_index(axis, a.ndim)
    if np.ndim(repeats):
        repeats = np.asarray(repeats).astype(np.intp, casting="same_kind")  # NumPy itself refuses those of uint64
        return take(a, np.repeat(np.arange(a.shape[axis]), repeats), axis)
    before, n, after = a.shape[:axis], a.shape[axis], a.shape[axis + 1 :]
    spread = np.broadcast_to(a.reshape((*before, n, 1, *after)), (*before, n, repeats, *after))
    y = spread.reshape((*before, n * repeats, *after))
    return snapshot(y) if type(y) is Tensor else y


# -- padded ----------------------------------------------------------------------------------------


@primitive(name="pad")
def pad_with(x, *, widths, value):
    """`x` in the middle of a larger array that is `value` elsewhere."""
    return np.pad(x, widths, constant_values=value)


def _cut(g, y, x, *, widths, value):
    return g[tuple(slice(before, before + n) for (before, _), n in zip(widths, x.shape, strict=True))]


defvjp(pad_with, _cut)
defjvp(pad_with, lambda t, y, x, *, widths, value: np.pad(t, widths))

REPEATING = ("edge", "reflect", "symmetric", "wrap")  # modes that copy entries


@implements(np.pad)
def pad(array, pad_width, mode="constant", *, constant_values=0, reflect_type="even", end_values=0, stat_length=None):
    # end_values and stat_length belong to modes that are refused below
    if type(constant_values) is Tensor:
        raise ArgumentError("np.pad has no derivative in constant_values: build recorded borders with qad.concatenate")
    widths = _widths(value_of(pad_width), array.ndim)
    if mode == "constant":
        return pad_with(array, widths=widths, value=constant_values)
    if mode not in REPEATING or reflect_type != "even":
        raise ArgumentError(
            f"np.pad with mode={mode!r}, reflect_type={reflect_type!r} has no derivative rule: the modes are "
            f"'constant' and {', '.join(map(repr, REPEATING))}; build others with qad.concatenate"
        )
    return array.reshape(-1)[np.pad(np.arange(array.size).reshape(array.shape), widths, mode)]


def _widths(pad_width, ndim) -> tuple:
    """`pad_width` as one pair (before, after) per axis."""
    if isinstance(pad_width, dict):
        table = {axis % ndim: width for axis, width in pad_width.items()}
        pad_width = [np.broadcast_to(table.get(axis, 0), 2) for axis in range(ndim)]
    return tuple(map(tuple, np.broadcast_to(np.asarray(pad_width), (ndim, 2)).tolist()))


attach("repeat", repeat)
