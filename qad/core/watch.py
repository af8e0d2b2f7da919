"""Plain arrays that change after they were recorded: compared whole before a backward pass would use them.

A plain array that meets a recorded Tensor belongs to the caller, who may write into it.  So its content is copied when
a level first meets it.  Inside a transform the two are compared before a backward pass; where they differ, the places
of the array in the graph are taken by a `Changed`: rules that only ask for its shape go on, one that needs its numbers
raises, and names the operation.  The tape of `qad.tensor` has no end at which to compare, so its graphs hold the copy
in place of the array, and are right whatever becomes of that.

Nothing is copied of an array that nobody else can reach, and of a large one that the caller made read-only.
"""

import sys
from hashlib import blake2b
from sys import getrefcount
from weakref import ref

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from qad.core.errors import ArgumentError
from qad.core.levels import REVERSE, Seen
from qad.core.node import ARGS, ID, PARENTS, PICK, PRIMITIVE

SMALL = 1 << 15  # bytes up to which `tobytes` is the quickest copy


def watch(level, array, names=1, sparing=False):
    """What a level shall record in the place of a plain `array`: itself, its content being remembered, or a copy.

    The caller holds the array by so many `names` of its own.  Where it is `sparing`, a large array is digested instead
    of copied, which takes ten times as long.
    """
    if getrefcount(array) < KNOWN + names and array.base is None:
        return array  # made on the spot, as in x * np.ones(3)
    if array.nbytes > SMALL and not array.flags.writeable and locked(array):
        return array
    if level == 0:
        return snapshot(array)
    seen = REVERSE[level]
    if seen is None:
        seen = REVERSE[level] = Seen()
    seen[id(array)] = array, array.tobytes() if array.nbytes <= SMALL else digest(array) if sparing else content(array)
    seen.last = array
    return array


def locked(array) -> bool:
    """Whether the caller made an array read-only, and all memory that it shows: the word of its owner."""
    while type(array) is np.ndarray and not array.flags.writeable:
        array = array.base
    return array is None or type(array) is bytes


def content(array):
    """A copy of the numbers that an array holds."""
    return array.tobytes() if array.nbytes <= SMALL else bytearray(_flat(array).data)


def digest(array) -> str:
    """What stands for the `content` where that would take too much memory."""
    return blake2b(_flat(array).data, digest_size=16).hexdigest()


def holds(array, held) -> bool:
    """Whether an array still has this `content`, bit by bit, or this `digest`."""
    return held == (array.tobytes() if type(held) is bytes else digest(array) if type(held) is str else _flat(array))


def _flat(array):
    """The numbers of an array in C order: itself, its transpose, or a copy in which nothing is repeated by strides."""
    if array.flags.c_contiguous:
        return array
    if array.flags.f_contiguous:
        return array.T
    return np.ascontiguousarray(array[tuple([slice(None if step else 1) for step in array.strides])])


COPIES: dict = {}  # id of an array -> weak references to it and to the copy of it that graphs hold
UNKNOWN = (lambda: None, lambda: None)


def snapshot(array):
    """A copy of `array`, the one made last where the array has not changed since and a graph still holds that."""
    key = id(array)
    of, made = COPIES.get(key, UNKNOWN)
    copy = made() if of() is array else None
    if copy is None or not holds(array, copy.base):
        copy = _copied(array)
        COPIES[key] = ref(array, lambda _: COPIES.pop(key, None)), ref(copy)
    if type(copy.base) is bytes or array.flags.c_contiguous:
        return copy
    return copy.T if array.flags.f_contiguous else np.broadcast_to(copy, array.shape)


def _copied(array):
    """An array over the `content` of another."""
    held = content(array)
    return np.ndarray(array.shape if type(held) is bytes else _flat(array).shape, array.dtype, held)


def check(roots, seen):
    """Make rules below `roots` refuse arrays that are not what they were when they were `seen` (if any were)."""
    if not seen:
        return
    changed = [
        array
        for array, held in list(seen.values())
        if (held != array.tobytes() if type(held) is bytes else not holds(array, held))
    ]
    if changed:
        nodes = below(roots)
        for array in changed:
            _bar(nodes, array)


def below(roots):
    """All nodes that `roots` depend on."""
    found, waiting = {}, [node for node, _ in roots]
    while waiting:
        node = waiting.pop()
        if node is not None and node[ID] not in found and len(node) == 6:
            found[node[ID]] = node
            waiting.extend(node[PARENTS])
    return found.values()


def _bar(nodes, array):
    for node in nodes:
        if type(node[ARGS]) is tuple and node[PRIMITIVE] is not PICK:
            args = node[ARGS]
            node[ARGS] = tuple([Changed(a, node[PRIMITIVE].name) if a is array else a for a in args])


class Changed(NDArrayOperatorsMixin):
    """Stands where an array stood that has changed: it knows its shape and dtype, and refuses the rest."""

    __slots__ = ("shape", "dtype", "ndim", "size", "name")

    def __init__(self, array, name):
        self.shape, self.dtype, self.ndim, self.size = array.shape, array.dtype, array.ndim, array.size
        self.name = name

    def refuse(self, *args, **kwargs):
        raise ArgumentError(
            f"an array of shape {self.shape} was changed in place after {self.name} had recorded it, and the gradient "
            "needs what it held: pass x.copy(), or write into an array made by qad.zeros, which records it"
        )

    __array_ufunc__ = __array_function__ = __array__ = __getitem__ = __len__ = refuse

    def __getattr__(self, attribute):
        raise self.refuse()


class _Probe:
    def __mul__(self, other):
        return self._count(other)

    def _count(self, array):
        return getrefcount(array)


def counts_references() -> bool:
    """Whether this Python counts every reference to an object: CPython up to 3.13 that has its lock."""
    has_lock = getattr(sys, "_is_gil_enabled", lambda: True)()  # free threads, and 3.14 and later, borrow some
    return sys.implementation.name == "cpython" and sys.version_info < (3, 14) and has_lock


def _known():
    """References that `watch` counts of an array that a variable and no name of the caller holds, if it can tell."""
    array = np.zeros(1)
    held, temporary = _Probe() * array, _Probe() * np.zeros(1)
    return held - 1 if temporary < held and counts_references() else -np.inf


KNOWN = _known()
