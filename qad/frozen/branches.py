"""The programs of one signature: a tree of branches, of which each run takes the one whose guards hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from qad.frozen.capture.bindings import GONE
from qad.frozen.guards import GuardFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.frozen.capture.bindings import Bindings
    from qad.frozen.program import Program
    from qad.frozen.signature import Signature
    from qad.frozen.stats import Stats

MOST = 32  # programs of one signature
NOT_FOUND, RAISED = object(), object()


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
    captured : Bindings
        What the function read beyond its arguments, as it was.
    form : tuple
        The structure of the result: its spec, the number of its leaves, the numbers of those that are Tensors.
    """

    path: Sequence[Any]
    places: Sequence[str]
    program: Program
    run: Callable[[Any], Any]
    captured: Bindings
    form: tuple[Any, ...]
    holds: Callable[[], bool] | None = field(init=False)

    def __post_init__(self) -> None:
        self.holds = self.captured.quick


class Branches:
    """The branches of one signature, the one that was taken last first."""

    __slots__ = ("signature", "branches", "stats", "reason")

    def __init__(self, signature: Signature, stats: Stats):
        self.signature: Signature = signature
        self.branches: list[Branch] = []
        self.stats: Stats = stats
        self.reason: str = "it is new"

    def replay(self, values: Any) -> Any:
        """The result of a branch whose guards hold; NOT_FOUND where there is none, RAISED where one raised an error."""
        branch = self.branches[0] if self.branches else None
        while branch is not None:
            try:
                if branch.holds is not None and not branch.holds():
                    branch = self._drop(branch)
                    continue
            except GONE:
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
        self.reason = f"what the function captured has changed: {', '.join(branch.captured.broken()[:3])}"
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


def _short(content):
    text = repr(content)
    return text if len(text) < 60 else text[:57] + "..."
