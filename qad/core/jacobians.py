"""All first derivatives of a function at once: a batch of cotangents in one sweep, or of tangents in one pass.

Reverse mode costs a sweep per entry of the output, forward mode a pass per entry of the input; the smaller number is
taken.  Either way all of them go together, as a batch (`qad.vmap`), in portions that bound the memory.
"""

from math import prod

import numpy as np

from qad.core.aliases import argument
from qad.core.arguments import check_argnums, numbers_of, output_dtype, run
from qad.core.backward import arrived, sweep
from qad.core.batch import Batched, unit_vectors
from qad.core.errors import ArgumentError, BatchError
from qad.core.leaves import lift
from qad.core.levels import BATCH, FORWARD, REVERSE, open_level
from qad.core.tensor import Tensor, value_of
from qad.core.transforms import node_of
from qad.core.trees import strip
from qad.core.watch import check

PORTION = 2**20  # numbers in a batch of cotangents or tangents
FEW = 3  # rows that are swept one by one


def derivatives(f, args, kwargs, argnums, name):
    """Value of `f` and its derivatives by each of the array arguments of these numbers.

    Returns
    -------
    value : array
    pairs : list of (by_z, by_conj), arrays of shape ``out.shape + in.shape``
        The Wirtinger derivatives; for a real argument its derivative, and None.
    """
    numbers = numbers_of(argnums)
    check_argnums(numbers, args)
    call = list(args)
    level = open_level(REVERSE)
    try:
        xs = [_lifted(call, n, level) for n in numbers]
        out = run(f, call, kwargs)
    finally:
        seen = REVERSE.discard(level)
    node, value = node_of(out, level), strip(out, level)
    check([(node, None)], seen)
    dtype = output_dtype(value, name)
    rows = int(np.prod(np.shape(value))) * (2 if dtype.kind == "c" else 1)
    if rows > 2 * sum(x.size * (2 if x.dtype.kind == "c" else 1) for x in xs) and node is not None:
        for n, x in zip(numbers, xs, strict=True):
            call[n] = x.value
        return value, [by_columns(f, call, kwargs, n, value) for n in numbers]
    return value, by_rows(node, np.shape(value), dtype, xs)


def _lifted(call, n, level):
    """The Tensor that takes the place of array number `n` of the arguments `call`."""
    call[n], leaves, _ = lift(call[n], level, n)
    if len(leaves) != 1:
        raise ArgumentError("the argument is one array here: for a pytree use qad.vjp")
    return leaves[0]


def basis(shape, dtype):
    """All unit vectors of this shape, along the first axis; then i times those where `dtype` is complex."""
    one = unit_vectors(prod(shape), dtype)
    if len(shape) != 1:
        one = one.reshape((len(one), *shape))
    return np.concatenate([one, 1j * one]) if dtype.kind == "c" else one


def portions(directions, size):
    """`directions` in portions whose batches hold not too many numbers."""
    step = max(1, PORTION // max(1, size))
    if step >= len(directions):
        return [directions]
    return [directions[k : k + step] for k in range(0, max(1, len(directions)), step)]


# -- reverse mode ------------------------------------------------------------------------------------------------------


def by_rows(node, shape, dtype, xs):
    """The derivatives by sweeps from `node`; the cotangent e gives the slope of Re f, and -ie that of Im f."""
    seeds = basis(shape, dtype)
    if node is None or not len(seeds):
        swept = [np.zeros((len(seeds), *x.shape), x.dtype) for x in xs]
    else:
        swept = _swept(node, seeds.conj(), xs)
    return [_pair(rows, shape, dtype, x) for rows, x in zip(swept, xs, strict=True)]


def _pair(rows, shape, dtype, x):
    """The Wirtinger derivatives by `x` from all its cotangents."""
    if dtype.kind != "c":
        real, imag = rows.reshape(shape + x.shape), 0.0
    else:
        real, imag = (part.reshape(shape + x.shape) for part in (rows[: len(rows) // 2], rows[len(rows) // 2 :]))
    if x.dtype.kind != "c":
        return (real if dtype.kind != "c" else real + 1j * imag), None
    return 0.5 * (real + 1j * imag), 0.5 * (np.conj(real) + 1j * np.conj(imag))


def _swept(node, seeds, xs):
    """The cotangents of each leaf in `xs` for the cotangents `seeds` of `node`, stacked."""
    if len(seeds) > FEW:
        try:
            size = max(seeds[0].size, *(x.size for x in xs))
            return _joined([_batch_swept(node, part, xs) for part in portions(seeds, size)], np.concatenate)
        except BatchError:  # a rule asks for numbers: it gets them one by one
            pass
    return _joined([_cotangents(node, seed, xs) for seed in seeds], np.stack)


def _joined(parts, join):
    """The list of what `parts`, lists of one array per leaf, hold for each leaf."""
    return parts[0] if len(parts) == 1 and join is np.concatenate else [join(c) for c in zip(*parts, strict=True)]


def _cotangents(node, seed, xs):
    """The cotangent of each leaf for one `seed`, zeros where the sweep found none."""
    found = sweep([(node, seed)])
    arrivals = [arrived(found, x.node)[0] for x in xs]
    return [np.zeros(x.shape, x.dtype) if c is None else c for c, x in zip(arrivals, xs, strict=True)]


def _batch_swept(node, seeds, xs):
    level = open_level(BATCH)
    try:
        rows = _cotangents(node, Batched(seeds, level).tensor(), xs)
    finally:
        BATCH.discard(level)
    return [stacked(row, level, len(seeds)) for row in rows]


def stacked(y, level, size):
    """`y` of a batch, or one for all, with the axis of the batch in front."""
    if type(y) is Tensor and y.level == level:
        return y.value.array
    return np.broadcast_to(y, (size, *np.shape(value_of(y))))


# -- forward mode ------------------------------------------------------------------------------------------------------


def by_columns(f, call, kwargs, argnums, value):
    """The derivatives along the axes, by tangents of a batch."""
    x = call[argnums]
    moved = pushed(lambda x: f(*call[:argnums], x, *call[argnums + 1 :], **kwargs), x, basis(x.shape, x.dtype), value)
    columns = np.moveaxis(moved, 0, -1)
    if x.dtype.kind != "c":
        return columns.reshape(np.shape(value) + x.shape), None
    along_x, along_y = columns[..., : x.size], columns[..., x.size :]
    by_z, by_conj = 0.5 * (along_x - 1j * along_y), 0.5 * (along_x + 1j * along_y)
    return by_z.reshape(np.shape(value) + x.shape), by_conj.reshape(np.shape(value) + x.shape)


def pushed(f, x, directions, value=None):
    """The tangents of ``f(x)`` along `directions`, stacked, in memory of their own; `value` is ``f(x)`` if known."""
    size = max(x.size, np.size(value_of(value)) if value is not None else 0)
    try:
        parts = [_batch_pushed(f, x, part) for part in portions(directions, size)]
    except BatchError:
        parts = [np.stack([_pushed(f, x, t) for t in directions])]
    moved = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return moved.copy() if type(moved) is np.ndarray and not moved.flags.writeable else moved


def _batch_pushed(f, x, directions):
    level = open_level(BATCH)
    try:
        return stacked(_pushed(f, x, Batched(directions, level).tensor()), level, len(directions))
    finally:
        BATCH.discard(level)


def _pushed(f, x, t):
    level = open_level(FORWARD)
    try:
        out = run(f, (argument(Tensor(x, t, level)),), {})
    finally:
        FORWARD.discard(level)
    value, moved = strip(out, level), node_of(out, level)
    if moved is None:
        return np.zeros(np.shape(value_of(value)), np.result_type(value_of(value)))
    return moved if moved.dtype == value.dtype else moved.astype(value.dtype)
