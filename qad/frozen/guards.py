"""Guards: what a recording took for granted about values, checked again in every run.

A program holds only while each decision that Python made on a traced value (a branch, a loop's length, an index, a
shape) comes out as it did.  Guards are numbered in the order in which they were met; the outcomes of a
recording are its path, and the programs of one signature form a tree of paths.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from numpy import generic, may_share_memory, ndarray

if TYPE_CHECKING:
    from collections.abc import Hashable

    from qad.frozen.program import Step

    Outcome: TypeAlias = tuple[str, Hashable]


OF_MEMORY = frozenset(("strides", "flags", "apart"))  # kinds of outcomes


class GuardFailed(Exception):
    """Guard number `number` came out as `actual`; it is caught by `Branches.replay`."""

    def __init__(self, number: int, actual: Outcome):
        super().__init__(number, actual)
        self.number = number
        self.actual = actual


def check_value(x: Any, *, expected: Outcome, number: int) -> None:
    """Raise unless the outcome of `x` is the expected one."""
    actual = outcome(x, expected[0])
    if actual != expected:
        raise GuardFailed(number, actual)


def outcome(x: Any, kind: str) -> Outcome:
    """What a decision of this kind sees of `x`, as something hashable: pairs (kind, content).

    Decisions are truths, integers, numbers and arrays of them; "strides" decide what is a view, "flags" are these and
    what else an array says of its memory, "apart" is how far from one array another begins, None if they are disjoint,
    and "layout" is the kind, shape and dtype of what a function gives.
    """
    if kind == "bool":
        return "bool", bool(x)
    if kind == "int":
        return "int", int(x)
    if kind == "float":
        return "float", repr(complex(x))  # nan equals itself, and -0.0 is not 0.0
    if kind == "array":
        return "array", x.tobytes()
    if kind == "strides":
        return "strides", x.strides
    if kind == "flags":
        return "flags", (x.strides, x.flags.num)
    if kind == "apart":
        return "apart", _address(x[1]) - _address(x[0]) if may_share_memory(*x) else None
    return "layout", _structure(x)


def _address(x):
    return x.__array_interface__["data"][0]


def _structure(x):
    if isinstance(x, (ndarray, generic)):
        return x.shape, x.dtype.str
    if isinstance(x, (tuple, list)):
        return type(x).__name__, *map(_structure, x)
    return type(x).__name__


def is_guard(step: Step) -> bool:
    """Whether a step checks something."""
    return step.fn is check_value
