"""Angles that are entries of one recorded array: taken together they are one step of the tape.

A circuit that is written down in every call takes its angles one by one, ``theta[layer, q]``; to record how they are
joined, and to go back through each of them, takes longer than a small state.  Without this file (`together` giving
None) nothing changes but the time: of four qubits and 32 angles gradients take up to twice as long.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import chain
from math import prod
from operator import getitem
from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.gates.scatter import Indices, scatter
from qad.extend import Tensor, primitive, rule
from qad.extend.recording import ANSWER, ARGS, PARENTS, PRIMITIVE, PRIMITIVES, note, recording_level

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence
    from typing import Any, TypeAlias

    Path: TypeAlias = tuple[Any, ...]  # indices, one after another

LARGEST = 1 << 14  # entries of an array whose places are kept
ITEM = PRIMITIVES[getitem]
WHOLE, ENDS = frozenset((int, np.int64, type(...))), frozenset((int, np.int64, type(None)))


@primitive
def taken(x: Any, *, places: Indices) -> Any:
    """Entries (E,) of an array, by their numbers in C order."""
    return x.reshape(-1)[places.indices]


rule(
    taken, lambda g, ans, x, *, places: scatter(g, indices=places).reshape(x.shape), linear=True, fresh=True
)  # fmt: skip
TAKEN = PRIMITIVES[taken]


def together(pieces: list[Any]) -> Tensor | None:
    """Recorded angles and vectors of angles in a row, if all were taken from one array by their indices; else None."""
    if set(map(type, pieces)) != {Tensor} or len({x.level for x in pieces}) > 1:
        return None
    level, nodes = recording_level(pieces[:1]), [x.node for x in pieces]
    if level is None:
        return None
    paths, depth = [()] * len(nodes), 0
    while depth == 0 or len(set(map(id, nodes))) > 1:
        if {node[PRIMITIVE] for node in nodes} != {ITEM}:
            return None
        paths = [(node[ARGS][1], *path) for node, path in zip(nodes, paths, strict=True)]
        nodes, depth = [node[PARENTS][0] for node in nodes], depth + 1
    parent = nodes[0]
    array, key = parent[ANSWER], key_of(paths)
    if key is None or type(array) is not np.ndarray or array.size > LARGEST:
        return None
    found, values = places_of(array.shape, key), [x.value for x in pieces]
    if found is None:
        return None
    ans = np.array(values) if values[0].ndim == 0 else np.concatenate(values)
    return note(TAKEN, (array,), {"places": found}, ans, (parent,), level)


def key_of(paths: Sequence[Path]) -> Path | None:
    """Paths of indices as a tuple that can be hashed; None if there are indices other than integers and slices."""
    indices = [*chain.from_iterable(paths)]
    kinds = set(map(type, indices))
    if tuple in kinds:
        inner = [*chain.from_iterable([index for index in indices if type(index) is tuple])]
        kinds = (kinds - {tuple}) | set(map(type, inner))
    if kinds <= WHOLE:
        return tuple(paths)
    if not kinds <= WHOLE | {slice}:
        return None
    found = [
        tuple([tuple(map(ends_of, index if type(index) is tuple else (index,))) for index in path]) for path in paths
    ]
    ends = [i for path in found for index in path for i in index if type(i) is tuple]
    return tuple(found) if set(map(type, chain.from_iterable(ends))) <= ENDS else None


def ends_of(i: Any) -> Hashable:
    """A slice as a tuple; everything else as it is."""
    return (i.start, i.stop, i.step) if type(i) is slice else i


def index_of(key: Any) -> Any:
    """The index that such an entry of a key stands for."""
    return tuple([slice(*i) if type(i) is tuple else i for i in key]) if type(key) is tuple else key


@lru_cache(maxsize=256)
def places_of(shape: tuple[int, ...], key: tuple[Path, ...]) -> Indices | None:
    """Where entries that such paths name stand in an array of this shape; None if some are vectors and some are not."""
    numbers, parts = np.arange(prod(shape)).reshape(shape), []
    for path in key:
        part = numbers
        for index in path:
            part = part[index_of(index)]
        parts.append(part)
    axes = {part.ndim for part in parts}
    return Indices(np.hstack(parts), numbers.size) if axes in ({0}, {1}) else None
