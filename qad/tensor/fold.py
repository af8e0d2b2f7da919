"""What constants alone make, held from one call to the next, and compared each time."""

from collections import deque
from math import prod

from numpy import ndarray

__all__ = ["Fold"]

MOST = 2**23  # bytes of constants, and of what they make, that are held at most
HOLDERS = 32  # so many plans hold something at once, those that began last
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
        self.held, self.called = None, False

    def fill(self, values):
        """Put the values of the subtrees into a list of values by node; False where that does not pay any more."""
        first, self.called = not self.called, True
        constants = [values[number] for number in self.operands]
        if first or self.misses >= MISSES or set(map(type, constants)) != {ndarray}:
            return False
        held = self.held
        if held is not None and all(map(_same, held[0], constants)):
            self.misses, found = 0, held[1]
        else:
            self.misses += held is not None
            found = self._computed(values)
            self._hold([(x.dtype, x.tobytes()) for x in constants], found)
        for node, value in zip(self.tops, found, strict=True):
            values[node] = value
        return True

    def _hold(self, copies, found):
        if self.held is None:
            _holders.append(self)
            if len(_holders) > HOLDERS:
                _holders.popleft().held = None
        self.held = copies, found

    def _computed(self, values):
        values = list(values)
        for node, left, right, recipe in self.fixed:
            values[node] = recipe.run(values[left], values[right])
        return [values[node] for node in self.tops]


_holders = deque()


def _same(copy, x):
    """Whether an array holds the very bytes of a copy, a pair (dtype, bytes) of an array of its shape."""
    return copy[0] == x.dtype and copy[1] == x.tobytes()
