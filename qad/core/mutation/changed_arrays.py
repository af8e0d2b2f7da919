"""Plain arrays that meet recorded Tensors: graphs hold copies of them.

A plain array belongs to the caller, who may write into it before the backward pass.  So what is recorded in its place
is a copy of what it holds; where a level meets it again it is compared, whole and bit by bit, and as long as it has not
changed all share one copy.  Whatever becomes of the array, the gradient is that of the numbers that were used.

Nothing is copied of an array that nobody else can reach, and of a large one that the caller made read-only.  Where
memory is short a large array is digested instead, and if the digest has changed before a backward pass, its places in
the graph are taken by a `Changed`: a rule that needs its numbers raises, and names the operation.
"""

from __future__ import annotations

from hashlib import blake2b
from sys import getrefcount
from typing import TYPE_CHECKING, Any, NoReturn
from weakref import ref

import numpy as np
from numpy import ndarray
from numpy.lib.mixins import NDArrayOperatorsMixin

from qad.core import malloc as memory
from qad.core.errors import ArgumentError
from qad.core.foreign import is_foreign
from qad.core.mutation.references import COUNTED
from qad.core.tape import hooks
from qad.core.tape.node import ARGS, FREED, ID, PARENTS, PICK, PRIMITIVE
from qad.core.tape.reverse import TAPE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from qad.core.words import Cotangent, Node, Value

SMALL = 1 << 15  # bytes up to which `tobytes` is the quickest copy


class Private(bytearray):
    """The memory of a copy that graphs hold: nobody else knows it, so that it never changes."""

    __slots__ = ()


class Seen(dict[int, tuple[Any, Any]]):
    """The plain arrays that a level has met, by their ids, each with its copy; and the last one, to be quick.

    `digests` are those of large arrays that were not copied.
    """

    __slots__ = ("last", "held", "copy", "digests")
    last: Any
    held: Any
    copy: Any

    def __init__(self) -> None:
        self.last = self.held = self.copy = None
        self.digests: dict[int, tuple[NDArray[Any], str]] = {}


def watch(level: Any, array: NDArray[Any], names: int = 1, sparing: bool = False) -> NDArray[Any]:
    """What a level shall record in the place of a plain `array`: a copy, or the array itself where that is safe.

    The caller holds the array by so many `names` of its own, and says whether it is `sparing` with memory.
    """
    if getrefcount(array) < KNOWN + names and array.base is None:
        return array  # made on the spot, as in x * np.ones(3)
    if array.nbytes > SMALL and not array.flags.writeable and locked(array):
        return array
    if level is TAPE:
        return snapshot(array)
    seen = level.seen
    if seen is None:
        seen = level.seen = Seen()
    if sparing and array.nbytes > SMALL:
        return digested(array, seen)
    _, copy = seen.get(id(array), NOTHING)
    if copy is None or not holds(array, copy.base):
        copy = copied(array)
        seen[id(array)] = array, copy
    if array.flags.c_contiguous:  # next time, quickly
        seen.last, seen.held, seen.copy = array, copy.base, copy
        return copy
    return laid_out(copy, array)


def constant(level: Any, value: Value, names: int = 1, sparing: bool = False) -> Value:
    """What a level shall record in the place of a constant: an array as `watch` says, one of another library copied."""
    if type(value) is ndarray:
        return watch(level, value, names, sparing)
    return value.copy() if is_foreign(value) else value


hooks.constant = constant


def locked(array: Any) -> bool:
    """Whether the caller made an array read-only, and all memory that it shows: the word of its owner."""
    while type(array) is np.ndarray and not array.flags.writeable:
        array = array.base
    return array is None or type(array) is bytes


def holds(array: NDArray[Any], held: Any) -> bool:
    """Whether an array still holds what its copy is made of, bit by bit."""
    flat = array if array.flags.c_contiguous else _flat(array)
    return held == (flat.tobytes() if array.nbytes <= SMALL else flat)


def copied(array: NDArray[Any]) -> NDArray[Any]:
    """A copy of what an array holds, as `_flat`, over memory that can be compared."""
    flat = _flat(array)
    if array.nbytes <= SMALL:
        return np.ndarray(flat.shape, flat.dtype, Private(flat.tobytes()))
    memory.ready(array.nbytes)
    return np.ndarray(flat.shape, flat.dtype, Private(flat.data))


def laid_out(copy: NDArray[Any], array: NDArray[Any]) -> NDArray[Any]:
    """A copy with the axes of `array`, which lies in memory alike, so that what is made of it does."""
    flags = array.flags
    if flags.c_contiguous:
        return copy
    if flags.f_contiguous:
        return copy.T
    if 0 not in array.strides:
        return copy if array.ndim == 1 else copy.transpose(np.argsort(_order(array)))
    return np.broadcast_to(copy.transpose(np.argsort(_order(array))), array.shape)


def _flat(array: NDArray[Any]) -> NDArray[Any]:
    """The numbers of an array as they lie: itself, its axes in another order, or a copy without what is repeated."""
    flags = array.flags
    if flags.c_contiguous:
        return array
    if flags.f_contiguous:
        return array.T
    if 0 in array.strides:
        array = array[tuple([slice(None if step else 1) for step in array.strides])]
        return np.ascontiguousarray(array.transpose(_order(array)))
    return np.ascontiguousarray(array if array.ndim == 1 else array.transpose(_order(array)))


def _order(array: NDArray[Any]) -> list[int]:
    """The axes of an array from the slowest to the fastest in memory."""
    steps = array.strides
    return sorted(range(len(steps)), key=lambda axis: (-abs(steps[axis]), axis))


# -- the tape of `qad.tensor`, which never closes, so it must not keep arrays alive ----------------------------

# id of an array -> weak references to it and to the copy of it that graphs hold
COPIES: dict[int, tuple[ref[Any], ref[Any]]] = {}
UNKNOWN: tuple[Callable[[], None], Callable[[], None]] = (lambda: None, lambda: None)
NOTHING = (None, None)


def snapshot(array: NDArray[Any]) -> NDArray[Any]:
    """A copy of `array`, the one made last where the array has not changed since and a graph still holds that."""
    key = id(array)
    of, made = COPIES.get(key, UNKNOWN)
    copy = made() if of() is array else None
    if copy is None or not holds(array, copy.base):
        copy = copied(array)
        COPIES[key] = ref(array, lambda _: COPIES.pop(key, None)), ref(copy)
    return laid_out(copy, array)


# -- where memory is short ---------------------------------------------------------------------------


def digest(array: NDArray[Any]) -> str:
    """What stands for the content of an array where a copy would take too much memory."""
    return blake2b(_flat(array).data, digest_size=16).hexdigest()


def digested(array: NDArray[Any], seen: Seen) -> NDArray[Any]:
    """The array itself, with a digest to be checked."""
    _, before = seen.digests.get(id(array), NOTHING)
    now = digest(array)
    if before is not None and before != now:
        Changed(array, "a network").refuse()
    seen.digests[id(array)] = array, now
    return array


def check(roots: Sequence[tuple[Any, Cotangent]], seen: Seen | None) -> None:
    """Make rules below `roots` refuse arrays whose digests are not what they were when they were `seen`."""
    if seen is None or not seen.digests:
        return
    changed = [array for array, held in list(seen.digests.values()) if digest(array) != held]
    nodes = below(roots) if changed else ()
    for array in changed:
        _bar(nodes, array)


def below(roots: Sequence[tuple[Any, Cotangent]]) -> Collection[Node]:
    """All nodes that `roots` depend on."""
    found, waiting = {}, [node for node, _ in roots]
    while waiting:
        node = waiting.pop()
        if node is not None and node[ID] not in found and node[PRIMITIVE] is not FREED:
            found[node[ID]] = node
            waiting.extend(node[PARENTS])
    return found.values()


def _bar(nodes: Iterable[Node], array: NDArray[Any]) -> None:
    for node in nodes:
        if type(node[ARGS]) is tuple and node[PRIMITIVE] is not PICK:
            args = node[ARGS]
            node[ARGS] = tuple([Changed(a, node[PRIMITIVE].name) if a is array else a for a in args])


class Changed(NDArrayOperatorsMixin):
    """Stands where an array stood that has changed: it knows its shape and dtype, and refuses the rest."""

    __slots__ = ("shape", "dtype", "ndim", "size", "name")

    def __init__(self, array: NDArray[Any], name: str) -> None:
        self.shape: tuple[int, ...] = array.shape
        self.dtype: Any = array.dtype
        self.ndim: int = array.ndim
        self.size: int = array.size
        self.name: str = name

    def refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise ArgumentError(
            f"an array of shape {self.shape} was changed in place after {self.name} had recorded it, and the gradient "
            "needs what it held: pass x.copy(), or write into an array made by qad.zeros, which records it"
        )

    __array_ufunc__: Callable[..., NoReturn] = refuse
    __array_function__ = refuse
    __array__ = refuse
    __getitem__ = refuse
    __len__ = refuse

    def __getattr__(self, attribute: str) -> NoReturn:
        raise self.refuse()


class _Probe:
    def __mul__(self, other: NDArray[Any]) -> int:
        return self._count(other)

    def _count(self, array: NDArray[Any]) -> int:
        return getrefcount(array)


def _known() -> float:
    """References that `watch` counts of an array that a variable and no name of the caller holds, if it can tell."""
    array = np.zeros(1)
    held, temporary = _Probe() * array, _Probe() * np.zeros(1)
    return held - 1 if COUNTED and temporary < held else -np.inf


KNOWN: float = _known()
