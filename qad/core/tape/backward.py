"""The backward sweep.

Iterative, in descending order of node ids (a topological order), each node once.  A cotangent is the
unconjugated functional ``Re sum g * d_ans``, in which holomorphic rules are the textbook's.  Cotangents of
real-valued nodes are projected to their real part when the node is reached, and a node's cotangents are
added in place only in a buffer that the sweep itself made, or that a rule promised to be fresh (views never are).
"""

from heapq import heappop, heappush

from numpy import complex128, float64, ndarray, ones

from qad.core.errors import FreedGraphError
from qad.core.tape.levels import blocked
from qad.core.tape.node import ANSWER, FREED, ID, LEAF, PICK, PRIMITIVE, SCALARS
from qad.core.tape.tensor import Tensor


class Lazy:
    """A structured cotangent that is expanded only where a rule needs it.

    Subclasses give ``shape``, ``dtype``, ``real``, ``dense()`` (a newly allocated array) and ``add(other)``,
    the sum with another cotangent of any kind, lazy or newly allocated.
    """

    __slots__ = ()

    def into(self, g):
        """The sum with an array that may be written into."""
        return self.add(g)


class One(Lazy):
    """The cotangent of a scalar loss.  A rule of the form ``g * x`` may accept it, and saves the product."""

    __slots__ = ("dtype", "_dense")
    shape = ()

    def __init__(self, dtype):
        self.dtype = dtype
        self._dense = ones((), dtype)
        self._dense.flags.writeable = False  # it is shared

    @property
    def real(self):
        return One(self._dense.real.dtype)

    def dense(self):
        return self._dense

    def __mul__(self, x):
        return x if x.dtype.kind in "fc" else x.astype(self.dtype)  # a cotangent is no array of integers or bools

    def add(self, other):
        return self._dense + (other.dense() if isinstance(other, Lazy) else other)


def sweep(roots, free=False) -> dict:
    """Propagate cotangents from `roots`, a list of pairs (node, cotangent), down to the leaves.

    The list is emptied.  Where nobody else holds a node its memory goes as the sweep leaves it; with `free`
    it goes in any case, and another sweep through it raises.

    Returns
    -------
    dict
        id of leaf -> (cotangent, whether nobody else holds its memory, the leaf), to be read with `arrived`.
    """
    looker = blocked()
    if type(looker) is not int and looker.plain:
        return plain_sweep(roots, free)
    found, waiting, heap = {}, {}, []  # waiting: id -> (cotangent, owned, node); heap: the ids, negative
    held = []  # triples (node, cotangent, owned) in ascending order: most often a stack is enough, and quicker
    owned = following = end = None  # a contribution, held back: most often its node is the next to be visited
    if roots:
        following, g = roots.pop()
        end = g, following[ANSWER] if len(following) == 6 else None
    while roots:
        arrive(waiting, heap, *roots.pop(), False)
    while True:
        if following is None:
            if held:
                following, g, owned = held.pop()
            elif heap:
                g, owned, following = waiting.pop(-heappop(heap))
            else:
                return found
        elif held and held[-1][0][ID] >= following[ID]:
            arrive(waiting, heap, following, g, owned)
            following, g, owned = held.pop()
        if heap and -heap[0] >= following[ID]:
            arrive(waiting, heap, following, g, owned)
            g, owned, following = waiting.pop(-heappop(heap))
        node, following = following, None
        _, p, args, kwargs, ans, parents = node if len(node) == 6 else alive(node)
        kind = type(g)
        if kind is ndarray:
            if g.dtype is not ans.dtype and g.dtype.kind == "c":
                g, owned = prepared(g, owned, ans, p)
        elif kind is float64 or (kind is complex128 and type(ans) is complex128):
            pass  # right as it is
        elif kind not in p.accepts or (g.dtype is not ans.dtype and g.dtype.kind == "c"):
            g, owned = prepared(g, owned, ans, p)
        if p.adds is not None and added(p, found.get(parents[0][ID]) or waiting.get(parents[0][ID]), g, args):
            pass
        elif p.vjps:
            seed, fresh = g, p.fresh
            if pair := kwargs is None and len(args) == 2:  # which Python calls quicker than it unpacks
                left, right = args
            for parent, rule in zip(parents, p.vjps):  # noqa: B905 - metadata that trails has no rule
                if parent is not None:
                    if pair:
                        c = rule(seed, ans, left, right)
                    else:
                        c = rule(seed, ans, *args) if kwargs is None else rule(seed, ans, *args, **kwargs)
                    if parent[PRIMITIVE] is LEAF:
                        if parent[ID] in found:
                            collect(found, parent, c, fresh)
                        else:
                            found[parent[ID]] = c, fresh, parent
                    elif following is None:
                        g, owned, following = c, fresh, parent
                    elif following is parent:
                        g, owned = add(g, owned, c), True
                    elif parent[ID] > following[ID]:
                        hold(held, waiting, heap, following, g, owned)
                        g, owned, following = c, fresh, parent
                    else:
                        hold(held, waiting, heap, parent, c, fresh)
        elif p is LEAF:
            collect(found, node, g, owned)
        else:
            spread(found, waiting, heap, node, g, owned, end)
        if free and p is not LEAF:
            node[1:] = FREED


def plain_sweep(roots, free=False) -> dict:
    """What `sweep` does, without its short-cuts: `qad.core.looking.observer.plain_roads` puts it in its place."""
    found, waiting, heap = {}, {}, []  # waiting: id -> (cotangent, node)
    end = None if not roots else (roots[-1][1], roots[-1][0][ANSWER] if len(roots[-1][0]) == 6 else None)
    while roots:
        gather(waiting, heap, *roots.pop())
    while heap:
        g, node = waiting.pop(-heappop(heap))
        number, p, args, kwargs, ans, parents = alive(node)
        if p is PICK:
            outputs = [None] * len(alive(parents[0])[ANSWER])
            outputs[args] = g
            gather(waiting, heap, parents[0], outputs)
            continue
        g = projected(g, ans)
        if p is LEAF:
            found[number] = g, False, node
            continue
        wanted = tuple([i for i, parent in enumerate(parents) if parent is not None])
        options = {**(kwargs or {}), **({"end": end} if p.scaled else {})}
        for i, c in zip(wanted, p.cotangents(wanted, g, ans, args, options), strict=True):
            gather(waiting, heap, parents[i], c)
        if free:
            node[1:] = FREED
    return found


def gather(waiting, heap, node, c):
    """Add cotangent `c`, an array or a list of them, to what waits for `node`, in a new array."""
    c = c.dense() if isinstance(c, Lazy) else c
    if node[ID] not in waiting:
        waiting[node[ID]] = c, node
        heappush(heap, -node[ID])
        return
    g, _ = waiting[node[ID]]
    if type(c) is list:
        waiting[node[ID]] = [a if b is None else b if a is None else a + b for a, b in zip(g, c, strict=True)], node
    else:
        waiting[node[ID]] = g + c, node


def projected(g, ans):
    """Cotangents of real answers are real."""
    if type(g) is list:
        return [None if part is None else projected(part, a) for part, a in zip(g, ans, strict=True)]
    return g.real if g.dtype.kind == "c" and ans.dtype.kind == "f" else g


def hold(held, waiting, heap, node, g, owned):
    """Put a contribution on the stack, in ascending order, or where it does not fit there among those waiting."""
    if held and held[-1][0][ID] >= node[ID]:
        arrive(waiting, heap, node, g, owned)
    else:
        held.append((node, g, owned))


def arrived(found, leaf):
    """Cotangent of `leaf` among what `sweep` found, and whether nobody else holds its memory; None if there is none."""
    if leaf[ID] not in found:
        return None, False
    g, owned, _ = found[leaf[ID]]
    if type(g) is not ndarray or g.dtype is not leaf[ANSWER].dtype:  # only now: lazy cotangents stay lazy in their sum
        return prepared(g, owned, leaf[ANSWER], LEAF)
    return g, owned


def arrive(waiting, heap, node, c, fresh):
    """Add cotangent `c` to what waits for `node`."""
    key = node[ID]
    if key in waiting:
        g, owned, _ = waiting[key]
        waiting[key] = add(g, owned, c), True, node
    else:
        waiting[key] = c, fresh, node
        heappush(heap, -key)


def added(p, entry, g, args) -> bool:
    """Whether the cotangent of the one argument of `p` went straight into what waits for it."""
    return entry is not None and entry[1] and type(entry[0]) is ndarray and p.adds(entry[0], g, *args)


def collect(found, leaf, c, fresh):
    """Add cotangent `c` to what was found for `leaf`."""
    key = leaf[ID]
    if key in found:
        g, owned, _ = found[key]
        c, fresh = add(g, owned, c), True
    found[key] = c, fresh, leaf


def spread(found, waiting, heap, node, g, owned, end):
    """Hand the cotangent of one output to its node, or ask a shared rule for those of all arguments."""
    _, p, args, kwargs, ans, parents = node
    if p is PICK:
        arrive_output(waiting, heap, parents[0], args, g)
        return
    wanted = tuple([i for i, parent in enumerate(parents) if parent is not None])
    kwargs = dict(kwargs or {})
    if p.scaled:
        kwargs["end"] = end
    if p.consumes:
        kwargs["owned"] = owned
    fresh = p.fresh
    for i, c in zip(wanted, p.shared(wanted, g, ans, *args, **kwargs), strict=True):
        parent = parents[i]
        if parent[PRIMITIVE] is not LEAF:
            arrive(waiting, heap, parent, c, fresh)
        elif parent[ID] in found:
            collect(found, parent, c, fresh)
        else:
            found[parent[ID]] = c, fresh, parent


def arrive_output(waiting, heap, node, i, c):
    """Add cotangent `c` to what waits for output `i` of `node`; its cotangent is a list."""
    key = node[ID]
    if key not in waiting:
        waiting[key] = [None] * len(alive(node)[ANSWER]), False, node
        heappush(heap, -key)
    parts = waiting[key][0]
    parts[i] = c if parts[i] is None else add(parts[i], False, c)


def prepared(g, owned, ans, p):
    """A cotangent as its node needs it: real where the answer is real, dense unless its primitive accepts it lazy."""
    if type(g) is Tensor:
        return (g.real, owned) if g.dtype.kind == "c" and ans.dtype.kind == "f" else (g, owned)
    if type(g) is list:  # several outputs
        return [None if part is None else prepared(part, False, a, p)[0] for part, a in zip(g, ans, strict=True)], False
    if g.dtype.kind == "c" and ans.dtype.kind == "f":
        g = g.real
    if not isinstance(g, Lazy) or type(g) in p.accepts:
        return g, owned
    if type(g) is One:
        return g.dense()[()] if type(ans) in SCALARS else g.dense(), False  # among scalars a scalar is quicker
    return g.dense(), True


def add(g, owned, c):
    """Sum of two cotangents: in place if the first is `owned`, else newly allocated."""
    if type(g) is ndarray and owned:
        if type(c) is ndarray and g.base is None and g.dtype is c.dtype and g.shape == c.shape:
            g += c
            return g
        return c.into(g) if isinstance(c, Lazy) else g + c
    if isinstance(g, Lazy):
        return g.add(c)
    if isinstance(c, Lazy):
        return c.into(g) if owned else c.add(g)
    return g + c


def alive(node):
    """`node`, unless an earlier backward pass freed it."""
    if len(node) != 6:
        raise FreedGraphError(
            "this part of the graph was freed by an earlier backward pass: write y.backward(retain_graph=True) in the "
            "first one, or use qad.grad and qad.hvp for higher derivatives"
        )
    return node
