"""What a frozen function captured at a call on Tensors, and all programs that were recorded with it.

The function is looked at when it is called, and never again: programs of a version are replayed without a comparison,
in a backward pass long after the call too, and recorded only as long as nothing has changed.
"""

from __future__ import annotations

from itertools import count
from threading import RLock
from typing import TYPE_CHECKING, Any

from qad.core.errors import ArgumentError
from qad.frozen.capture.bindings import Bindings
from qad.frozen.capture.captured import Captured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from qad.frozen.capture.bindings import Binding

KEPT = 2  # roots for one structure of arguments, for what goes to and fro
_number, _lock = count().__next__, RLock()


class Changed(ArgumentError):
    """A program is missing, and what the function captured at the call is not there any more to record it with."""


class Version:
    """One state of what a function captures.

    Attributes
    ----------
    number : int
        Equal for calls with the same captured values, by which `qad.checkpoint` tells whether these are.
    captured : Captured
    recordings, failures : int
        How many programs were recorded with it, and how many recordings gave none.
    stepwise : bool
        Whether the function asks what only the caller's own arrays can answer, so that it is run step by step.
    reason : str or None
        In words, what differs from the version before.
    """

    def __init__(self, captured: Captured, reason: str | None):
        self.captured: Captured = captured
        self.number: int = _number()
        self.recordings: int = 0
        self.failures: int = 0
        self.stepwise: bool = captured.live
        self.reason: str | None = reason
        self._bindings = captured.bindings

    def holds(self) -> bool:
        """Whether all that was captured is as it was."""
        return self._bindings.hold()

    def changes(self) -> list[str]:
        """Names of what is not as it was."""
        return self._bindings.broken()[:3]

    def meet(self, bindings: Sequence[Binding]) -> None:
        """Compare these arrays too, which a recording met."""
        if bindings:
            self._bindings = Bindings([*self._bindings.listed, *bindings])

    def settled(self) -> Captured:
        """What is captured, for a recording; raises where it has changed since the call."""
        if not self.holds():
            raise Changed(
                f"qad.freeze: what a frozen function captured ({', '.join(self.changes())}) was changed between its "
                "call and the backward pass, which needs a program that was not recorded at the call: pass what "
                "changes as an argument, or change it after the backward pass"
            )
        return self.captured


def current(kept: list[Any], f: Any, statics: Iterable[Any], constant: Any, made: Callable[[Version, Any], Any]) -> Any:
    """The root whose version holds now, the newest first; where none does, one `made` of a version and the last root.

    Roots refer to their versions, and not the other way, so that both go when nobody needs them.
    """
    for root in tuple(kept):
        if root.version.holds():
            return root
    with _lock:  # equal states have one number, whichever thread comes first
        for root in kept:
            if root.version.holds():
                return root
        old = kept[0] if kept else None
        words = f"what the function captured has changed: {', '.join(old.version.changes())}" if old else None
        root = made(Version(Captured(f, statics, constant), words), old)
        kept[:] = [root, *kept[: KEPT - 1]]
    return root
