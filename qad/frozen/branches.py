"""The programs of one signature: a tree of branches, of which each run takes the one whose guards hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from qad.frozen.program.program import GuardFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.frozen.program.program import Program
    from qad.frozen.record.captures import Captures

MOST = 32  # programs of one signature
NOT_FOUND, RAISED = object(), object()


@dataclass
class Stats:
    """How often a frozen function was recorded and replayed.

    Attributes
    ----------
    recordings, replays, guard_failures : int
    eager : int
        Calls that the function itself answered: inside of a transform, where a replay raised, and where recordings give
        no program.
    reasons : list of str
        Why each recording after the first was made, and why one was not kept.
    """

    recordings: int = 0
    replays: int = 0
    guard_failures: int = 0
    eager: int = 0
    reasons: list[str] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Branch:
    """One recorded path through the function.

    Attributes
    ----------
    path : list
        Outcomes of its guards.
    places : list of str
        Where in the source they were taken.
    program : the program as it is run
    run : callable
        From the values of the inputs to what the function returns.
    captured : Captures
        What the function read beyond its arguments, as it was.
    """

    path: Sequence[Any]
    places: Sequence[str]
    program: Program
    run: Callable[[Any], Any]
    captured: Captures


class Branches:
    """The branches of one signature, the one that was taken last first.

    Attributes
    ----------
    failures : int
        Recordings in a row that gave no program.
    """

    __slots__ = ("branches", "stats", "reason", "failures")

    def __init__(self, stats: Stats):
        self.branches: list[Branch] = []
        self.stats: Stats = stats
        self.reason: str = "it is new"
        self.failures: int = 0

    def replay(self, values: Any) -> Any:
        """The result of a branch whose guards hold; NOT_FOUND where there is none, RAISED where one raised an error."""
        branch = self.branches[0] if self.branches else None
        while branch is not None:
            if not branch.captured.hold():
                branch = self._drop(branch)
                continue
            try:
                return branch.run(values)
            except GuardFailed as failed:
                branch = self._other(branch, failed)
            except Exception:  # whatever it is, the function itself says what becomes of it
                return RAISED
        return NOT_FOUND

    def _drop(self, branch):
        """Forget a branch that was recorded with something else; the next one to try."""
        self.reason = f"what the function captured has changed: {branch.captured.changed()}"
        self.branches = [b for b in self.branches if b is not branch]
        return self.branches[0] if self.branches else None

    def _other(self, branch, failed):
        """A branch that agrees with the outcomes so far, the failed one corrected; it moves to the front."""
        self.stats.guard_failures += 1
        k = failed.number
        prefix = [*branch.path[:k], failed.actual]
        for other in self.branches:
            if other.path[: k + 1] == prefix:
                self.branches = [other, *(b for b in self.branches if b is not other)]
                return other
        self.reason = (
            f"a {failed.actual[0]} decided upon at {branch.places[k]} came out as "
            f"{_short(failed.actual[1])} instead of {_short(branch.path[k][1])}"
        )
        return None

    def add(self, branch: Branch) -> None:
        """Take up a new branch; where there are too many, the one that was not taken for longest goes."""
        self.branches = [branch, *self.branches[: MOST - 1]]
        self.failures = 0


def _short(content):
    text = repr(content)
    return text if len(text) < 60 else text[:57] + "..."
