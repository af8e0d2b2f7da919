"""What a frozen function shows of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.core.errors import ArgumentError
from qad.frozen import display
from qad.frozen.files import Absent
from qad.frozen.signature import signature_of

if TYPE_CHECKING:
    from typing import Any, Self

    from qad.frozen.program import Program


class Inspection:
    """The programs of a frozen function, as they are listed, as Python, and by the time that their steps take."""

    def __copy__(self) -> Self:
        """Frozen anew: of the same function, which copies of functions are, and nothing recorded."""
        if isinstance(self.f, Absent):
            make, given = self.__reduce__()
            return make(*given)
        return type(self)(self.f, self.static.names, self.passes, self.constant or None)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.__copy__()

    @property
    def program(self) -> Program:
        """The program that was run or recorded last; ``print(frozen.program)`` lists its steps."""
        if not self._entries:
            raise ArgumentError("nothing has been recorded yet: call the frozen function first")
        if not self._latest.branches:
            raise ArgumentError(f"there is no program: {self._latest.reason}")
        return display.Listed(self._latest.branches[0].program)

    def _repr_html_(self) -> str:
        from qad.showing import card  # which nobody needs who shows nothing

        stats = self.stats
        rows = [("recordings", stats.recordings), ("replays", stats.replays), ("answered by the function", stats.eager)]
        rows += [("recorded again because", reason) for reason in stats.reasons[-3:]]
        shown = bool(self._entries) and bool(self._latest.branches)
        return card(f"frozen {getattr(self, '__name__', 'function')}", rows, str(self.program) if shown else "")

    @property
    def source(self) -> str:
        """The program as Python, for reading: a replay runs a list of steps, and no text at all."""
        return display.source(self.program)

    def profile(self, *args: Any, **kwargs: Any) -> Any:
        """Where the time goes for these arguments: a table of calls, their number and microseconds."""
        self(*args, **kwargs)
        args, kwargs, static = self.static.taken_out(args, kwargs)
        signature, leaves, _ = signature_of(args, kwargs, static)
        entry = self._entries.get(signature)
        if entry is None or not entry.branches:
            raise ArgumentError(
                "there is no program for these arguments: the function itself answers; see stats.reasons"
            )
        return display.profile(entry.branches[0].program, signature.moving(leaves))
