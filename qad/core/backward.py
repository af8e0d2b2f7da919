"""The backward sweep.

Iterative, in descending order of node ids (a topological order), each node once.  A cotangent is the
unconjugated functional ``Re sum g * d_ans``, in which holomorphic rules are the textbook's.  Cotangents of
real-valued nodes are projected to their real part when the node is reached, and a node's cotangents are
added in place only in a buffer that the sweep itself made, or that a rule promised to be fresh.
"""

from heapq import heappop, heappush

from numpy import ndarray

from qad.core.errors import FreedGraphError
from qad.core.node import LEAF, PICK


class Lazy:
    """A structured cotangent that is expanded only where a rule needs it.

    Subclasses give ``shape``, ``dtype``, ``real``, ``dense()`` (a newly allocated array) and ``add(other)``,
    the sum with another cotangent of any kind, lazy or newly allocated.
    """

    __slots__ = ()


class Waiting:
    """Cotangents that have arrived at nodes which the sweep has not reached yet."""

    __slots__ = ("slots", "heap")

    def __init__(self):
        self.slots = {}  # id -> [cotangent, owned, node]
        self.heap = []

    def arrive(self, node, c, fresh):
        """Add cotangent `c` to what waits for `node`."""
        key = node[0]
        slot = self.slots.get(key)
        if slot is None:
            self.slots[key] = [c, fresh, node]
            heappush(self.heap, -key)
        else:
            slot[0] = add(slot[0], slot[1], c)
            slot[1] = True

    def arrive_output(self, node, i, c):
        """Add cotangent `c` to what waits for output `i` of `node`; its cotangent is a list."""
        key = node[0]
        slot = self.slots.get(key)
        if slot is None:
            slot = self.slots[key] = [[None] * len(alive(node)[4]), False, node]
            heappush(self.heap, -key)
        parts = slot[0]
        parts[i] = c if parts[i] is None else add(parts[i], False, c)

    def pop(self):
        """The cotangent, its ownership and the node of highest id."""
        return self.slots.pop(-heappop(self.heap))


def sweep(roots, free=False) -> dict:
    """Propagate cotangents from `roots`, a list of pairs (node, cotangent), down to the leaves.

    The list is emptied.  Where nobody else holds a node its memory goes as the sweep leaves it; with `free`
    it goes in any case, and another sweep through it raises.

    Returns
    -------
    dict
        id of leaf -> (cotangent, whether nobody else holds its memory, the leaf).
    """
    found, waiting = {}, Waiting()
    heap = waiting.heap
    owned = following = None  # a first contribution, held back: in a chain it is the next to be visited
    if roots:
        following, g = roots.pop()
    while roots:
        waiting.arrive(*roots.pop(), False)
    while heap or following:
        if following is None or (heap and -heap[0] >= following[0]):
            if following is not None:
                waiting.arrive(following, g, owned)
            g, owned, node = waiting.pop()
        else:
            node = following
        following = None
        _, p, args, kwargs, ans, parents = node if len(node) == 6 else alive(node)
        if type(g) is not ndarray or g.dtype is not ans.dtype:
            g, owned = prepared(g, owned, ans, p)
        if p.vjps:
            seed, fresh = g, p.fresh
            for parent, rule in zip(parents, p.vjps):  # noqa: B905 - metadata that trails has no rule
                if parent is not None:
                    c = rule(seed, ans, *args) if kwargs is None else rule(seed, ans, *args, **kwargs)
                    if following is None:
                        g, owned, following = c, fresh, parent
                    elif following is parent:
                        g, owned = add(g, owned, c), True
                    else:
                        waiting.arrive(parent, c, fresh)
        elif p is LEAF:
            found[node[0]] = g, owned, node
        else:
            spread(waiting, node, g)
        if free and p is not LEAF:
            del node[1:]
    return found


def prepared(g, owned, ans, p):
    """A cotangent as its node needs it: real where the answer is real, dense unless its primitive accepts it lazy."""
    if type(g) is list:  # several outputs
        return [None if part is None else prepared(part, False, a, p)[0] for part, a in zip(g, ans, strict=True)], False
    if g.dtype.kind == "c" and ans.dtype.kind == "f":
        g = g.real
    return (g.dense(), True) if isinstance(g, Lazy) and type(g) not in p.lazy else (g, owned)


def spread(waiting, node, g):
    """Hand the cotangent of one output to its node, or ask a shared rule for those of all arguments."""
    _, p, args, kwargs, ans, parents = node
    if p is PICK:
        waiting.arrive_output(parents[0], args, g)
        return
    wanted = tuple(i for i, parent in enumerate(parents) if parent is not None)
    for i, c in zip(wanted, p.shared(wanted, g, ans, *args, **kwargs or {}), strict=True):
        waiting.arrive(parents[i], c, p.fresh)


def add(g, owned, c):
    """Sum of two cotangents: in place if the first is `owned`, else newly allocated."""
    if isinstance(g, Lazy):
        return g.add(c)
    if isinstance(c, Lazy):
        return c.add(g)
    if owned and type(g) is ndarray and g.dtype is c.dtype and g.shape == c.shape:
        g += c
        return g
    return g + c


def alive(node):
    """`node`, unless an earlier backward pass freed it."""
    if len(node) == 1:
        raise FreedGraphError(
            "this part of the graph was freed by an earlier backward pass: write y.backward(retain_graph=True) in the "
            "first one, or use qad.grad and qad.hvp for higher derivatives"
        )
    return node
