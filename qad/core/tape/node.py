"""Nodes of the tape and the primitives that they record.

A node is a plain list ``[id, primitive, args, kwargs, answer, parents]`` of raw values of the level below; a list costs
half of a class instance.  ``parents[i]`` is the node of ``args[i]``, or None where that argument is a constant; those
that trail may be left out.  Ids increase, so that descending ids are a topological order.  A leaf keeps its accumulated
gradient in the place of args.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from operator import getitem
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.typing.words import Answer, Cotangent, Keywords, Node, Value

ID, PRIMITIVE, ARGS, KWARGS, ANSWER, PARENTS = range(6)
GRAD = ARGS  # of a leaf

next_id: Callable[[], int] = count().__next__

NUMPY_SCALARS: frozenset[type] = frozenset((np.float64, np.complex128, np.float32, np.complex64))
# of NumPy's own values, as opposed to those of other libraries and traced ones
ARRAY_TYPES: frozenset[type] = NUMPY_SCALARS | {np.ndarray}


@dataclass(slots=True, eq=False)
class Primitive:
    """A function with its derivative rules; `qad.extend.rule` explains the fields."""

    fn: Any  # dispatches on Tensors
    name: str
    raw: Any = None  # for plain operands; `fn`, if none is given
    shared: Any = None
    fresh: bool = False
    vjps: Sequence[Any] = ()  # rules, None where there is none
    scaled: bool = False  # whether the shared rule asks for the end of the sweep
    jvps: Sequence[Any] = ()
    forward: Any = None  # the shared rule of forward mode
    linear: bool = False
    elementwise: bool = False
    accepts: frozenset[type] = ARRAY_TYPES  # kinds of cotangents that rules take as they are
    consumes: bool = False  # whether the shared rule is told if it may write into the cotangent
    broadcasting: Any = None  # the variant for operands of different shapes
    adds: Any = None  # adds the cotangent of its argument to one that waits, see `defvjp`
    batch: Any = None  # a batching rule of its own, where `fn` has none
    canonical: Any = None  # (x, y) -> what is recorded instead of `fn` of these two, or None
    root: Any = None  # (operands) -> the square of the answer, where that is smoother than the answer
    keeps: bool = False  # whether `raw` returns a pair (answer, kept), the second for the rules
    shows: Any = False  # whether the answer may be a view of the first operand, whose entries `fn` moves
    carries: bool = False  # whether `fn` only moves entries, so that a root of one operand stays one

    def __post_init__(self) -> None:
        self.raw = self.raw or self.fn

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
