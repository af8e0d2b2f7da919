"""The programs of one signature: a tree of branches, of which each run takes the one whose guards hold."""

from qad.freeze.guards import GuardFailed

__all__ = ["NOT_FOUND", "Branch", "Branches"]

MOST = 32  # programs of one signature
NOT_FOUND = object()


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
    watch : Watch
    form : tuple
        The structure of the result: its spec, the number of its leaves, the numbers of those that are Tensors.
    """

    __slots__ = ("path", "places", "program", "run", "watch", "watched", "form")

    def __init__(self, path, places, program, run, watch, form):
        self.path, self.places, self.program = path, places, program
        self.run, self.watch, self.form = run, watch, form
        self.watched = bool(watch.small or watch.large)


class Branches:
    """The branches of one signature, the one that was taken last first."""

    __slots__ = ("signature", "branches", "stats", "reason")

    def __init__(self, signature, stats):
        self.signature = signature
        self.branches = []
        self.stats = stats
        self.reason = "it is new"

    def replay(self, values):
        """The result of a branch whose guards hold, NOT_FOUND where there is none."""
        branch = self.branches[0] if self.branches else None
        while branch is not None:
            if branch.watched and branch.watch.changed():
                self.reason = "a captured array has changed"
                self.branches = [b for b in self.branches if b is not branch]
                branch = self.branches[0] if self.branches else None
                continue
            try:
                return branch.run(values)
            except GuardFailed as failed:
                branch = self._other(branch, failed)
        return NOT_FOUND

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

    def add(self, branch):
        """Take up a new branch; where there are too many, the one that was not taken for longest goes."""
        self.branches = [branch, *self.branches[: MOST - 1]]


def _short(content):
    text = repr(content)
    return text if len(text) < 60 else text[:57] + "..."
