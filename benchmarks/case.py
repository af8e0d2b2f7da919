"""What a benchmark declares: cases, and the contenders for each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Contender:
    """One way to compute a case.

    `setup()` returns the call to be timed; `result` turns what that returns into `(value, gradients)`, NumPy
    arrays in qad's convention, with None for the gradients where only the value is computed. `forward`, like
    `setup`, prepares the value alone. `needs` names the package without which the contender sits out,
    `baseline` marks the hand-written reference, `most_rounds` bounds the samples of a slow one. A mere yardstick, of
    which only the time is meant, has None for `result`.
    """

    name: str
    setup: Callable[[], Callable[[], Any]]
    result: Callable[[Any], tuple] | None = tuple
    needs: str | None = None
    forward: Callable[[], Callable[[], Any]] | None = None
    baseline: bool = False
    most_rounds: int | None = None


@dataclass(frozen=True)
class Case:
    """Contenders for one computation; times are divided by `operations`, those that a call makes."""

    name: str
    contenders: list[Contender]
    operations: int = 1
    tolerance: float = 1e-10
