"""What constants alone make, held from one call to the next, and compared each time."""

from collections import deque
from itertools import pairwise
from math import prod
from operator import eq

from numpy import ndarray

__all__ = ["LITTLE", "Fold", "octets"]

MOST = 2**23  # bytes of constants, and of what they make, that are held at most
HOLDERS = 32  # so many plans hold something at once, those that began last
LITTLE = 2**16  # bytes that are copied as quickly as an array is looked at
MISSES = 3  # after so many calls in a row with other constants nothing is held any more
WORTH, STEP = 4, 1000  # in multiply-adds: what comparing an element costs, and what a pair costs besides its own


class Fold:
    """The largest subtrees of a plan that hold no variable.

    A changed constant is never overlooked: all their operands are compared, byte by byte, with a copy.  That is cheap
    beside the products that it saves.

    Parameters
    ----------
    plan : Plan
    fixed : sequence
        Steps (node, left, right, recipe) on nodes that depend on no variable.
    """

    def __init__(self, plan, fixed):
        count, size = len(plan.shapes), [prod([plan.sizes[label] for label in term]) for term in plan.terms]
        used = {child for _, left, right, _ in fixed for child in (left, right)}
        self.fixed = fixed
        self.operands = tuple(sorted(child for child in used if child < count))
        self.tops = tuple(node for node, *_ in fixed if node not in used)
        compared, made = (sum(size[node] for node in nodes) for nodes in (self.operands, self.tops))
        pays = WORTH * compared <= sum(recipe.flops + STEP for *_, recipe in fixed)
        fits = max(compared, made) * plan.dtype.itemsize <= MOST
        self.misses = 0 if pays and fits else MISSES
        self.groups = _groups([size[node] * plan.dtype.itemsize for node in self.operands])
        self.held, self.called = None, False

    def fill(self, values):
        """Put the values of the subtrees into a list of values by node; False where that does not pay any more."""
        first, self.called = not self.called, True
        constants = [values[number] for number in self.operands]
        if first or self.misses >= MISSES or set(map(type, constants)) != {ndarray}:
            return False
        held = self.held
        kinds = [x.dtype for x in constants]
        if held is not None and held[0] == kinds and all(map(eq, held[1], self._octets(constants))):
            self.misses, found = 0, held[2]
        else:
            self.misses += held is not None
            found = self._computed(values)
            self._hold(kinds, list(self._octets(constants)), found)
        for node, value in zip(self.tops, found, strict=True):
            values[node] = value
        return True

    def _octets(self, constants):
        """The bytes of the constants, little ones taken together, since a call costs more than the bytes."""
        return map(octets, (constants[some] for some in self.groups))

    def _hold(self, kinds, copies, found):
        if self.held is None:
            _holders.append(self)
            if len(_holders) > HOLDERS:
                _holders.popleft().held = None
        self.held = kinds, copies, found

    def _computed(self, values):
        values = list(values)
        for node, left, right, recipe in self.fixed:
            values[node] = recipe.run(values[left], values[right])
        return [values[node] for node in self.tops]


_holders = deque()


def _groups(sizes):
    """Slices of a list of arrays of so many bytes, each of `LITTLE` bytes in all or of one array."""
    starts, total = [], LITTLE
    for place, size in enumerate(sizes):
        total += size
        if total > LITTLE:
            starts.append(place)
            total = size
    return [slice(*pair) for pair in pairwise([*starts, len(sizes)])]


def octets(arrays):
    """The bytes of arrays, one after another, each in C order."""
    try:
        return b"".join(arrays)
    except TypeError:  # one of them is not contiguous
        return b"".join([x.tobytes() for x in arrays])
