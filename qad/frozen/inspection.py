"""What a frozen function shows of itself, and whether it agrees with its function."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.trees import flatten, leaf_path
from qad.frozen.program.display import Listed
from qad.frozen.record.captures import Captures

if TYPE_CHECKING:
    from typing import Any

    from qad.frozen.program.program import Program

TOLERANCE = 0.75  # power of the precision, relative to the largest entry, by which a replay may differ


class Inspection:
    """The programs of a frozen function, and its results beside those of `f`."""

    @property
    def program(self) -> Program:
        """The program that was run or recorded last; ``print(frozen.program)`` lists its steps."""
        if not self._entries:
            raise ArgumentError("nothing has been recorded yet: call the frozen function first")
        if not self._latest.branches:
            raise ArgumentError(f"there is no program: {self._latest.reason}")
        return Listed(self._latest.branches[0].program)

    def check(self, *args: Any, **kwargs: Any) -> None:
        """Call the function itself, record or replay it and replay it again, and compare the results.

        Raises
        ------
        ArgumentError
            Where they differ: in structure, type, shape, dtype, or in a value by more than rounding.

        Examples
        --------
        >>> import numpy as np, qad
        >>> frozen = qad.freeze(lambda x: np.sum(np.sin(x) ** 2))
        >>> frozen.check(np.arange(3.0))
        """
        expected = self.f(*args, **kwargs)
        for found in (self(*args, **kwargs), self(*args, **kwargs)):
            if words := _difference(found, expected):
                raise ArgumentError(
                    f"qad.freeze: the frozen function gives {words}: if it reads what is not followed, a file, a clock "
                    "or an attribute by a computed name, pass that as an argument"
                )

    def __repr__(self) -> str:
        return f"<frozen {getattr(self.f, '__name__', self.f)}: {self.stats}>"

    def __str__(self) -> str:
        captured = self._captured or Captures(self.f, (), self.constant)
        lines = [f"    {words}" for *_, words in captured.listed()] or ["    nothing"]
        return "\n".join([repr(self), "follows:", *lines])

    def _repr_html_(self) -> str:
        from qad.showing import card  # which nobody needs who shows nothing

        stats = self.stats
        rows = [("recordings", stats.recordings), ("replays", stats.replays), ("answered by the function", stats.eager)]
        rows += [("recorded again because", reason) for reason in stats.reasons[-3:]]
        shown = bool(self._entries) and bool(self._latest.branches)
        return card(f"frozen {getattr(self, '__name__', 'function')}", rows, str(self.program) if shown else "")


def _difference(found, expected):
    """What differs between two results, in words; None where nothing does."""
    (leaves, spec), (others, other) = flatten(found), flatten(expected)
    if spec != other:
        return f"the structure {spec} instead of {other}"
    for i, (x, y) in enumerate(zip(leaves, others, strict=True)):
        a, b = np.asarray(x), np.asarray(y)
        if type(x) is not type(y) or a.shape != b.shape or a.dtype != b.dtype:
            return f"{a.dtype} {a.shape} instead of {b.dtype} {b.shape} at result{leaf_path(found, i)}"
        if a.dtype.kind not in "fc":
            equal = x is y or np.array_equal(a, b)
        else:
            bound = np.finfo(a.dtype).eps ** TOLERANCE * np.abs(b[np.isfinite(b)]).max(initial=0)
            equal = np.allclose(a, b, rtol=0, atol=bound, equal_nan=True)
        if not equal:
            return f"{x!r} instead of {y!r} at result{leaf_path(found, i)}"
    return None
