"""The backward sweep.

A cotangent is the unconjugated functional ``Re sum g * d_ans``, in which holomorphic rules are the textbook's.  Those
of real-valued nodes are projected to their real part when the node is reached.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

from numpy import ndarray

from qad.core.errors import FreedGraphError
from qad.core.tape.cotangents import Lazy, prepared
from qad.core.tape.node import ANSWER, FREED, ID, LEAF, NOTHING, PARENTS, PICK, PRIMITIVE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.typing.words import Answer, Cotangent, Found, Node, Roots


def plain_sweep(roots: Roots, free: bool = False, visit: Callable[[Node, Cotangent], None] | None = None) -> Found:
    """Propagate cotangents from `roots`, a list of pairs (node, cotangent), down to the leaves.

    The list is emptied.  Where nobody else holds a node its memory goes as the sweep leaves it; with `free`
    it goes in any case, and another sweep through it raises.  ``visit(node, cotangent)`` is called for every node.

    Returns
    -------
    dict
        id of leaf -> (cotangent, whether nobody else holds its memory, the leaf), to be read with `arrived`.
    """
    found, waiting, heap = {}, {}, []  # waiting: id -> (cotangent, node); heap: the ids, negative
    end = (roots[-1][1], alive(roots[-1][0])[ANSWER]) if roots else None
    while roots:
        arrive(waiting, heap, *roots.pop())
    while heap:  # descending ids are a topological order, so that every node is visited once
        g, node = waiting.pop(-heappop(heap))
        g = projected(g, alive(node)[ANSWER])
        if visit is not None:
            visit(node, g)
        if node[PRIMITIVE] is LEAF:
            found[node[ID]] = g, False, node
            continue
        for parent, c in pulled_back(node, g, end):
            arrive(waiting, heap, parent, c)
        if free:
            node[1:] = NOTHING
    return found


sweep = plain_sweep  # `qad.core.fast` puts a quicker one here, which finds the same


def arrive(waiting: dict[int, tuple[Cotangent, Node]], heap: list[int], node: Node, c: Cotangent) -> None:
    """Add cotangent `c`, an array or a list of them, to what waits for `node`."""
    c = c.dense() if isinstance(c, Lazy) else c
    if node[ID] in waiting:
        waiting[node[ID]] = total(waiting[node[ID]][0], c), node
    else:
        waiting[node[ID]] = c, node
        heappush(heap, -node[ID])


def total(g: Cotangent, c: Cotangent) -> Cotangent:
    """Sum of two cotangents, or of two lists of them in which None is nothing."""
    if type(g) is list:
        return [y if x is None else x if y is None else x + y for x, y in zip(g, c, strict=True)]
    return g + c


def projected(g: Cotangent, ans: Answer) -> Cotangent:
    """Cotangents of real answers are real."""
    if type(g) is list:
        return [None if part is None else projected(part, a) for part, a in zip(g, ans, strict=True)]
    return g.real if g.dtype.kind == "c" and ans.dtype.kind == "f" else g


def pulled_back(node: Node, g: Cotangent, end: tuple[Cotangent, Answer] | None) -> list[tuple[Node, Cotangent]]:
    """Pairs (parent, cotangent), given the cotangent of the answer."""
    _, p, args, kwargs, ans, parents = node
    if p is PICK:  # one of several outputs, whose cotangents are a list
        return [(parents[0], [g if i == args else None for i in range(len(alive(parents[0])[ANSWER]))])]
    wanted = tuple([i for i, parent in enumerate(parents) if parent is not None])
    keywords = {**(kwargs or {}), "end": end} if p.scaled else kwargs or {}
    return [(parents[i], c) for i, c in zip(wanted, p.cotangents(wanted, g, ans, args, keywords), strict=True)]


def arrived(found: Found, leaf: Node) -> tuple[Cotangent, bool]:
    """Cotangent of `leaf` among what `sweep` found, and whether nobody else holds its memory; None if there is none."""
    if leaf[ID] not in found:
        return None, False
    g, owned, _ = found[leaf[ID]]
    if type(g) is not ndarray or g.dtype is not leaf[ANSWER].dtype:  # only now: lazy cotangents stay lazy in their sum
        return prepared(g, owned, leaf[ANSWER], LEAF)
    return g, owned


def towards(nodes: Sequence[Node | None], leaves: Sequence[Node]) -> list[Node | None]:
    """Copies of `nodes` and of all below them, without the ways that lead to none of these leaves."""
    below, stack = {}, [node for node in nodes if node is not None]
    while stack:
        node = stack.pop()
        if node[ID] not in below:
            below[node[ID]] = node
            stack += [parent for parent in node[PARENTS] if parent is not None]
    copies = {leaf[ID]: leaf for leaf in leaves}
    for key in sorted(below):
        parents = [parent and copies.get(parent[ID]) for parent in below[key][PARENTS]]
        if any(parents):
            copies[key] = [*below[key][:PARENTS], parents]
    return [node and copies.get(node[ID]) for node in nodes]


def alive(node: Node) -> Node:
    """`node`, unless an earlier backward pass freed it."""
    if node[PRIMITIVE] is FREED:
        raise FreedGraphError(
            "this part of the graph was freed by an earlier backward pass: write y.backward(retain_graph=True) in the "
            "first one, or use qad.grad and qad.hvp for higher derivatives"
        )
    return node
