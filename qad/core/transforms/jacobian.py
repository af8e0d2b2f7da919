"""All first derivatives of a function at once: a batch of cotangents in one sweep, or of tangents in one pass.

Reverse mode costs a sweep per entry of the output, forward mode a pass per entry of the input; the smaller number is
taken.  Either way all of them go together, as a batch (`qad.vmap`), in portions that bound the memory.
"""

from __future__ import annotations

from itertools import islice, pairwise
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qad.core.errors import BatchError
from qad.core.foreign import like
from qad.core.process import malloc as memory
from qad.core.tape import backward
from qad.core.tape.backward import arrived
from qad.core.tape.forward import Forward
from qad.core.tape.tensor import Tensor, argument, value_of
from qad.core.transforms.arguments import numbers_of, output_dtype, run
from qad.core.transforms.linearized import linearized, output_leaves, tangent_out
from qad.core.trees import ONE_LEAF, flatten, strip, unflatten
from qad.core.vmap.batched import Batched
from qad.core.vmap.rules import Batch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from qad.core.tape.levels import Level
    from qad.typing import ArrayLike, DTypeLike, Function, Tree
    from qad.typing.words import Cotangent, Keywords, Node, Pair, Spec, Tangent, Value

PORTION = 2**20  # numbers in a batch of cotangents or tangents
FEW = 3  # rows that are swept one by one


def derivatives(
    f: Function, args: Sequence[Tree], kwargs: Keywords, argnums: int | tuple[int, ...], name: str
) -> tuple[Tree, Leaves]:
    """Value of `f` and its derivatives by the arguments of these numbers, in a `Leaves`.

    Returns
    -------
    value : pytree of arrays
    table : Leaves
        Of pairs (by_z, by_conj), arrays of shape ``out.shape + in.shape``, for each leaf of the output and of the
        arguments: the Wirtinger derivatives; for a real argument its derivative, and None.
    """
    numbers = numbers_of(argnums)
    out, _, level, given = linearized(f, args, numbers, kwargs)
    nodes, values, spec = output_leaves(out, level)
    dtypes = [output_dtype(value, name) for value in values] or [output_dtype(out, name)]
    xs = [x for leaves, _ in given for x in leaves]
    shapes = [np.shape(value_of(value)) for value in values]
    rows = sum(map(reals, shapes, dtypes))
    if rows > 2 * sum(reals(x.shape, x.dtype) for x in xs) and any(node is not None for node in nodes):
        plain = {n: ([x.value for x in leaves], s) for n, (leaves, s) in zip(numbers, given, strict=True)}
        table = by_columns(f, args, kwargs, plain, shapes, dtypes)
    else:
        table = [by_rows(node, shape, t, xs) for node, shape, t in zip(nodes, shapes, dtypes, strict=True)]
    specs = [nested for _, nested in given]
    return unflatten(spec, values), Leaves(table, spec, specs, isinstance(argnums, tuple))


def reals(shape: Sequence[int], dtype: np.dtype[Any]) -> int:
    """The count of real numbers in an array."""
    return prod(shape) * (2 if dtype.kind == "c" else 1)


class Leaves(NamedTuple):
    """Something for each leaf of an output and each leaf of the arguments, ``rows[i][j]``."""

    rows: list[list[Any]]
    out: Spec
    specs: list[Spec]
    several: bool

    def tree(self, function: Function) -> Tree:
        """``function(entry)`` of each, nested like the output and, inside of that, like the arguments."""
        return unflatten(
            self.out, [nested([function(pair) for pair in row], self.specs, self.several) for row in self.rows]
        )

    def by_argument(self) -> list[Leaves]:
        """A table for each of the arguments."""
        ends = np.cumsum([0, *(spec.num_leaves for spec in self.specs)])
        columns = [slice(a, b) for a, b in pairwise(ends)]
        return [
            Leaves([row[part] for row in self.rows], self.out, [spec], False)
            for part, spec in zip(columns, self.specs, strict=True)
        ]


def nested(items: Sequence[Any], specs: Sequence[Spec], several: bool) -> Tree:
    """Items in a row as trees of these `specs`: a tuple of them if they are `several`, else the one."""
    if not several and specs[0] is ONE_LEAF:  # the common case, quickly
        return items[0]
    left = iter(items)
    trees = [unflatten(spec, list(islice(left, spec.num_leaves))) for spec in specs]
    return tuple(trees) if several else trees[0]


def basis(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """All unit vectors of this shape, along the first axis; then i times those where `dtype` is complex."""
    n = prod(shape)
    one = np.zeros((n, n), dtype)
    one.reshape(-1)[:: n + 1] = 1  # twice as quick as np.eye
    memory.ready(one.nbytes)
    if len(shape) != 1:
        one = one.reshape((len(one), *shape))
    return np.concatenate([one, 1j * one]) if dtype.kind == "c" else one


def portions(directions: Value, size: int) -> list[Value]:
    """`directions` in portions whose batches hold not too many numbers."""
    step = max(1, PORTION // max(1, size))
    if step >= len(directions):
        return [directions]
    return [directions[k : k + step] for k in range(0, max(1, len(directions)), step)]


# -- reverse mode ------------------------------------------------------------------------------------------------------


def by_rows(node: Node | None, shape: tuple[int, ...], dtype: np.dtype[Any], xs: Sequence[Tensor]) -> list[Pair]:
    """The derivatives by sweeps from `node`; the cotangent e gives the slope of Re f, and -ie that of Im f."""
    seeds = like(*xs).asarray(basis(shape, dtype))
    if node is None or not len(seeds):
        swept = [like(x).zeros((len(seeds), *x.shape), x.dtype) for x in xs]
    else:
        swept = _swept(node, seeds.conj(), xs)
    return [_pair(rows, shape, dtype, x) for rows, x in zip(swept, xs, strict=True)]


def _pair(rows: Value, shape: tuple[int, ...], dtype: np.dtype[Any], x: Tensor) -> Pair:
    """The Wirtinger derivatives by `x` from all its cotangents."""
    if dtype.kind != "c":
        real, imag = rows.reshape(shape + x.shape), 0.0
    else:
        real, imag = (part.reshape(shape + x.shape) for part in (rows[: len(rows) // 2], rows[len(rows) // 2 :]))
    if x.dtype.kind != "c":
        return (real if dtype.kind != "c" else real + 1j * imag), None
    return 0.5 * (real + 1j * imag), 0.5 * (np.conj(real) + 1j * np.conj(imag))


def _swept(node: Node, seeds: Value, xs: Sequence[Tensor]) -> Sequence[Value]:
    """The cotangents of each leaf in `xs` for the cotangents `seeds` of `node`, stacked."""
    if len(seeds) > FEW:
        try:
            size = max(seeds[0].size, *(x.size for x in xs))
            parts = [_batch_swept(node, part, xs) for part in portions(seeds, size)]
            return parts[0] if len(parts) == 1 else [np.concatenate(c) for c in zip(*parts, strict=True)]
        except BatchError:  # a rule asks for numbers: it gets them one by one
            pass
    rows = [[c for c, _ in _cotangents(node, seed, xs)] for seed in seeds]
    return [np.stack(row) for row in zip(*rows, strict=True)]


def _cotangents(node: Node, seed: Cotangent, xs: Sequence[Tensor]) -> list[tuple[Cotangent, bool]]:
    """The cotangent of each leaf for one `seed`, and whether nobody else holds it; zeros where the sweep found none."""
    found = backward.sweep([(node, seed)])
    arrivals = [arrived(found, x.node) for x in xs]
    return [
        (like(x).zeros(x.shape, x.dtype), True) if c is None else (c, o) for (c, o), x in zip(arrivals, xs, strict=True)
    ]


def _batch_swept(node: Node, seeds: Value, xs: Sequence[Tensor]) -> list[Value]:
    with Batch(len(seeds)) as level:
        rows = _cotangents(node, Batched(seeds, level).tensor(), xs)
    return [_own(stacked(row, level, len(seeds)), alone) for row, alone in rows]


def _own(x: Value, alone: bool) -> Value:
    """An array in memory of its own; `alone`, if nobody else holds `x`."""
    return x if type(x) is not np.ndarray or (alone and x.base is None and x.flags.writeable) else x.copy()


def stacked(y: Value, level: Level, size: int) -> Value:
    """`y` of a batch, or one for all, with the axis of the batch in front."""
    if type(y) is Tensor and y.level is level:
        return y.value.array
    return np.broadcast_to(y, (size, *np.shape(value_of(y))))


# -- forward mode ------------------------------------------------------------------------------------------------------


def by_columns(
    f: Function, args: Sequence[Tree], kwargs: Keywords, given: dict[int, tuple[list[Value], Spec]],
    shapes: Sequence[tuple[int, ...]], dtypes: Sequence[np.dtype[Any]],
) -> list[list[Pair]]:  # fmt: skip
    """The derivatives along the axes of each leaf of the arguments, by tangents of a batch.

    Of the arguments of some numbers the leaves and the spec are `given`; the leaves of the output have these shapes.
    """
    sizes = list(map(prod, shapes))
    columns = []
    for n, (leaves, spec) in given.items():
        for i, x in enumerate(leaves):

            def moving(x, n=n, i=i, leaves=leaves, spec=spec):
                tree = unflatten(spec, [*leaves[:i], x, *leaves[i + 1 :]])
                return joined(flatten(f(*args[:n], tree, *args[n:][1:], **kwargs))[0])

            moved = pushed(moving, x, basis(x.shape, x.dtype), sum(sizes))
            parts = np.split(moved, np.cumsum(sizes)[:-1].tolist(), axis=1) if len(sizes) > 1 else [moved]
            columns.append([_columns(p, s, t, x) for p, s, t in zip(parts, shapes, dtypes, strict=True)])
    return [list(row) for row in zip(*columns, strict=True)]


def joined(leaves: Sequence[Value]) -> Value:
    """Arrays as one vector; one array as it is."""
    if len(leaves) == 1:
        return leaves[0]
    return np.concatenate([np.reshape(y, -1) for y in leaves])


def _columns(moved: Value, shape: tuple[int, ...], dtype: np.dtype[Any], x: Value) -> Pair:
    """The Wirtinger derivatives of one output of this `shape` by `x` from all its tangents, in memory of its own."""
    moved = of_dtype(moved, dtype)
    columns = moved.T if moved.ndim == 2 else np.moveaxis(moved, 0, -1)
    if x.dtype.kind != "c":
        return columns.reshape(shape + x.shape), None
    along_x, along_y = columns[..., : x.size], columns[..., x.size :]
    by_z, by_conj = 0.5 * (along_x - 1j * along_y), 0.5 * (along_x + 1j * along_y)
    return by_z.reshape(shape + x.shape), by_conj.reshape(shape + x.shape)


def of_dtype(x: ArrayLike, dtype: DTypeLike) -> Any:
    """A part of a vector of several kinds as the kind that it was."""
    x = x.real if x.dtype.kind == "c" and dtype.kind != "c" else x
    return x if x.dtype == dtype else x.astype(dtype)


def pushed(f: Function, x: Value, directions: Value, size: int) -> Value:
    """The tangents of ``f(x)``, of this `size`, along `directions`, stacked, in memory of their own."""
    directions = like(x).asarray(directions)
    try:
        parts = [_batch_pushed(f, x, part) for part in portions(directions, max(x.size, size))]
    except BatchError:
        parts = [np.stack([_pushed(f, x, t) for t in directions])]
    moved = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return moved.copy() if type(moved) is np.ndarray and not moved.flags.writeable else moved


def _batch_pushed(f: Function, x: Value, directions: Value) -> Value:
    with Batch(len(directions)) as level:
        return stacked(_pushed(f, x, Batched(directions, level).tensor()), level, len(directions))


def _pushed(f: Function, x: Value, t: Tangent) -> Tangent:
    with Forward() as level:
        out = run(f, (argument(Tensor(x, None, level, t)),), {})
    value, moved = strip(out, level), tangent_out(out, level)
    if moved is None:
        return like(value).zeros(np.shape(value_of(value)), np.result_type(value_of(value)))
    return moved if moved.dtype == value.dtype else moved.astype(value.dtype)
