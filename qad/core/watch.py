"""Arrays that change after they were recorded: noticed before a backward pass would use them.

A plain array that meets a recorded Tensor is kept by reference.  The first time that a level sees one it takes its
fingerprint: a copy of an array up to 32 KiB, an even sample of some 500 words of 8 bytes of a larger one.  Before a
backward pass the fingerprints are compared.  An array that nobody else can reach is left alone.

Where an array has changed, its places in the graph are taken by a `Changed`.  Rules that only ask for its shape go on;
one that needs its numbers raises, and names the operation.
"""

from functools import lru_cache
from sys import getrefcount
from weakref import ref

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from qad.core.errors import ArgumentError
from qad.core.levels import REVERSE, Seen
from qad.core.node import ARGS, ID, PARENTS, PICK, PRIMITIVE
from qad.core.references import COUNTED

SMALL = 1 << 15  # bytes of an array that is copied
WORDS = 512  # in a sample of a larger one


def watch(level, array, number, names=1):
    """Remember what `array` holds when a level meets it, by the node of this `number`.

    The caller holds the array by so many `names` of its own.
    """
    if getrefcount(array) < KNOWN + names and array.base is None:
        return  # made on the spot, as in x * np.ones(3)
    seen = REVERSE[level]
    if seen is None:
        seen = REVERSE[level] = Seen()
    key = id(array)
    if level == 0:  # never closes, so it must not keep arrays alive
        seen[key] = ref(array, lambda _: seen.pop(key, None)), fingerprint(array), number
    else:
        seen[key] = array, array.tobytes() if array.nbytes <= SMALL else fingerprint(array), number
        seen.last = array


def fingerprint(array) -> bytes:
    """What an array holds, or a sample of that."""
    if array.nbytes <= SMALL:
        return array.tobytes()
    if array.itemsize % 8 == 0:
        words = array.reshape(-1, order="A").view(np.uint64)
        return words[:: _step(words.size)].tobytes()
    octets = array.reshape(-1, order="A").view(np.uint8)
    words = octets[: octets.size // 8 * 8].view(np.uint64)
    return words[:: _step(words.size)].tobytes() + octets[8 * words.size :].tobytes()


@lru_cache(maxsize=256)
def _step(size) -> int:
    """A prime, so that the sample meets every column of a matrix."""
    step = size // WORDS + 1
    while any(step % k == 0 for k in range(2, int(step**0.5) + 1)):
        step += 1
    return step


def check(roots, seen):
    """Make rules below `roots` refuse arrays that are not what they were when they were `seen` (if any were)."""
    if not seen:
        return
    changed = []
    for array, held, number in list(seen.values()):
        if type(array) is ref:
            array = array()
        if array is not None and (array.tobytes() if array.nbytes <= SMALL else fingerprint(array)) != held:
            changed.append((array, number))
    if changed:
        nodes = _below(roots)
        for array, number in changed:
            if number in nodes:  # else it was seen first by another graph, and may well be right in this one
                _bar(nodes.values(), array)


def _below(roots):
    """All nodes that `roots` depend on, by id."""
    found, waiting = {}, [node for node, _ in roots]
    while waiting:
        node = waiting.pop()
        if node is not None and node[ID] not in found and len(node) == 6:
            found[node[ID]] = node
            waiting.extend(node[PARENTS])
    return found


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


def _known():
    """References that `watch` counts of an array that a variable and no name of the caller holds, if it can tell."""
    array = np.zeros(1)
    held, temporary = _Probe() * array, _Probe() * np.zeros(1)
    return held - 1 if COUNTED and temporary < held else -np.inf


KNOWN = _known()
