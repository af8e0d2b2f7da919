"""Nodes of the tape and the primitives that they record.

A node is a plain list ``[id, primitive, args, kwargs, answer, parents]`` of raw values of the level below; a list costs
half of a class instance.  ``parents[i]`` is the node of ``args[i]``, or None where that argument is a constant; those
that trail may be left out.  Ids increase, so that descending ids are a topological order.  A leaf keeps its accumulated
gradient in the place of args.
"""

from __future__ import annotations

from itertools import count
from operator import getitem
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from qad.core.words import Answer, Cotangent, Keywords, Node, Rule, Value

ID, PRIMITIVE, ARGS, KWARGS, ANSWER, PARENTS = range(6)
GRAD = ARGS  # of a leaf

next_id: Callable[[], int] = count().__next__

NUMPY_SCALARS: frozenset[type] = frozenset((np.float64, np.complex128, np.float32, np.complex64))
# of NumPy's own values, as opposed to those of other libraries and traced ones
ARRAY_TYPES: frozenset[type] = NUMPY_SCALARS | {np.ndarray}


class Primitive:
    """A function with its derivative rules; `qad.extend.rule` explains the fields."""

    __slots__ = (
        "fn", "raw", "name", "vjps", "shared", "scaled", "jvps", "forward", "linear", "elementwise", "fresh", "accepts",
        "broadcasting", "consumes", "batch", "adds", "canonical", "root", "carries",
        "keeps", "shows",
    )  # fmt: skip

    def __init__(
        self, fn: Any, name: str, vjps: Sequence[Rule | None] = (), shared: Rule | None = None, linear: bool = False,
        elementwise: bool = False, fresh: bool = False, lazy: Iterable[type] = (), raw: Any = None
    ):  # fmt: skip
        self.fn: Any = fn  # dispatches on Tensors
        self.raw: Any = raw or fn  # for plain operands
        self.name: str = name
        self.vjps: Sequence[Any] = vjps  # rules, None where there is none
        self.shared: Any = shared
        self.scaled: bool = False  # whether the shared rule asks for the end of the sweep
        self.jvps: Sequence[Any] = ()
        self.forward: Any = None  # the shared rule of forward mode
        self.linear: bool = linear
        self.elementwise: bool = elementwise
        self.fresh: bool = fresh
        self.accepts: frozenset[type] = ARRAY_TYPES.union(lazy)  # kinds of cotangents that rules take as they are
        self.consumes: bool = False  # whether the shared rule is told if it may write into the cotangent
        self.broadcasting: Any = None  # the variant for operands of different shapes
        self.adds: Any = None  # adds the cotangent of its argument to one that waits, see `defvjp`
        self.batch: Any = None  # a batching rule of its own, where `fn` has none
        self.canonical: Any = None  # (x, y) -> what is recorded instead of `fn` of these two, or None
        self.root: Any = None  # (operands) -> the square of the answer, where that is smoother than the answer
        self.keeps: bool = False  # whether `raw` returns a pair (answer, kept), the second for the rules
        self.shows: Any = False  # whether the answer may be a view of the first operand, whose entries `fn` moves
        self.carries: bool = False  # whether `fn` only moves entries, so that a root of one operand stays one

    def __repr__(self) -> str:
        return f"Primitive({self.name})"

    def has_rule(self, i: int) -> bool:
        """Whether argument `i` may be differentiated."""
        return self.shared is not None or (i < len(self.vjps) and self.vjps[i] is not None)

    def cotangents(
        self, wanted: Sequence[int], g: Cotangent, ans: Answer, args: Sequence[Value], kwargs: Keywords
    ) -> Sequence[Cotangent]:
        """Cotangents of the arguments numbered `wanted`, given that of the answer."""
        if self.shared is not None:
            return self.shared(wanted, g, ans, *args, **kwargs)
        return [self.vjps[i](g, ans, *args, **kwargs) for i in wanted]


GETITEM = Primitive(getitem, "getitem")
WRITE = Primitive(None, "write", fresh=True)  # a copy of an array in which something stands at an index
LEAF = Primitive(None, "leaf")
FREED = Primitive(None, "freed")
NOTHING = FREED, None, None, None, ()  # what is left of a node besides its id
PICK = Primitive(None, "pick")  # output number ``args`` of a primitive with several outputs


def leaf(value: Value) -> Node:
    """A node with nothing below it."""
    return [next_id(), LEAF, None, None, value, ()]


def given(node: Node) -> Keywords:
    """The keywords that the caller gave; what the primitive kept is not among them, for it belongs to one run."""
    kwargs = node[KWARGS] or {}
    return {name: x for name, x in kwargs.items() if name != "kept"} if node[PRIMITIVE].keeps else kwargs
