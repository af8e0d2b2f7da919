"""Levels: who handles an operation.

Each call of a transform opens a level, an object with a number that increases.  An operation is handled by the highest
level among its operands, which runs it on values of the level below; so nesting needs no other mechanism.  `modes.py`
has what may stand above levels: `no_grad`, and what looks on.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from itertools import count
from typing import Any, Self

from qad.core.tape.node import GETITEM, WRITE

fresh: Callable[[], int] = count(1).__next__
MODE: ContextVar[Any] = ContextVar("qad_mode", default=None)
mode: Callable[[], Any] = MODE.get  # what stands above levels in the running thread: a Mode, or None
WATCHING: list[Any] = []  # the observers that are entered, in any thread
QUICK: set[Level] = set()  # open reverse levels that stand alone: no level or mode was opened inside of one


class Level:
    """One call of a transform, from its beginning to its end: a context manager.

    Attributes
    ----------
    number : int
        Higher for what was opened later, which is what lies further inside.
    open : bool
        Whether its Tensors may be used.
    quick : bool
        Whether operations may be recorded here without asking `mode`.  A reverse level begins with True, and has False
        for good when a Mode is entered: so what is read here is never wrong, whatever thread or task reads it.
    """

    __slots__ = ("number", "open", "quick")
    copies: bool = False  # whether `read` gives memory of its own, and `write` changes it in place
    stops: bool = True  # whether `no_grad` makes constants of what it carries
    direction: str | None = None  # in which derivatives go here: "backward", "forward", or not at all

    def __init__(self, number: int | None = None) -> None:
        self.number: int = fresh() if number is None else number
        self.open: bool = True
        self.quick: bool = False

    def apply(self, primitive: Any, operands: Any, keywords: Any) -> Any:
        """The answer of a primitive to operands of which this level is the highest."""
        raise NotImplementedError

    def lift(self, x: Any) -> Any:
        """Tensor `x` of a lower level as one of this level that depends on nothing here."""
        return type(x)(x.value if x.level.number < 0 else x, None, self)

    def read(self, x: Any, index: Any) -> Any:
        """``x[index]`` of a Tensor of this level, in memory of its own if `copies` says so."""
        return self.apply(GETITEM, (x, index), {})

    def write(self, x: Any, index: Any, v: Any, add: bool) -> None:
        """Write `v`, of this level or a lower one, at `index` of a Tensor that nobody else holds, or add it there."""
        y = self.apply(WRITE, (x, v), {"index": index, "add": add})
        x.value, x.node, x.level, x.tangent = y.value, y.node, y.level, y.tangent

    def now(self, x: Any) -> Any:
        """Tensor `x` of this level as operations take it: what it holds at this moment, without structure."""
        return x

    def without(self, x: Any) -> Any:
        """Tensor `x` of this level without derivatives: bare, or what `qad.vmap` needs."""
        return unrecorded(x.value)

    def close(self) -> None:
        self.open = self.quick = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def records(level: Any) -> bool:
    """Whether an open level handles its operations itself, in the running thread: nothing stands above it."""
    top = mode()
    return level.open and (top is None or top.above(level) is level)


def barrier() -> int:
    """The number of the `no_grad` that was entered last in the running thread, whoever looks on; 0 without one."""
    top = mode()
    while top is not None and top.looks_on:
        top = top.below
    return 0 if top is None else top.number


def stopped(level: Level) -> bool:
    """Whether `no_grad` makes constants of what `level` carries, in the running thread."""
    return level.stops and level.number < barrier()


def unrecorded(x: Any) -> Any:
    """The value of `x` as an operand without derivative: a bare array, under `qad.vmap` a Tensor of all examples.

    Examples
    --------
    >>> import qad
    >>> qad.extend.unrecorded(qad.tensor([1.0]))
    array([1.])
    """
    level = getattr(x, "level", None)
    return level.without(x) if isinstance(level, Level) else x
