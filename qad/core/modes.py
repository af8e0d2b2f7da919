"""What may stand above levels: `no_grad`, and observers (`qad.core.debug`)."""

from __future__ import annotations

from contextlib import ContextDecorator
from typing import TYPE_CHECKING, Any, Self

from qad.core.tape.levels import MODE, QUICK, fresh, mode
from qad.core.tape.tensor import CONSTANT

if TYPE_CHECKING:
    from qad.core.tape.levels import Level


class Mode:
    """A context manager that stands above the levels of the running thread.

    Attributes
    ----------
    below : Mode or None
        What it stands upon.
    """

    below: Any = None
    plain: bool = False  # whether short-cuts step aside that would not by themselves

    def enter(self, top: Any) -> Any:
        """Make `top` what the running thread finds; levels that are open have to be asked for it from now on."""
        token = MODE.set(top)
        while QUICK:
            QUICK.pop().quick = False
        return token


class Barrier:
    """What `no_grad` puts there: levels older than it record nothing."""

    looks_on = plain = False

    def __init__(self) -> None:
        self.number: int = fresh()
        self.below: Any = mode()

    def above(self, level: Level) -> Level:
        """Who handles an operation of `level`."""
        return CONSTANT if level.stops and level.number < self.number else level


class no_grad(Mode, ContextDecorator):
    """Context manager and decorator under which operations on Tensors give constant Tensors.

    It holds for every level that is open when it is entered; a `qad.grad` called inside still differentiates
    its own function.  The mode belongs to the running thread (it is a context variable).

    Examples
    --------
    >>> import qad
    >>> x = qad.tensor([1.0, 2.0], requires_grad=True)
    >>> with qad.no_grad():
    ...     y = 2 * x
    >>> y.requires_grad
    False
    """

    def __enter__(self) -> Self:
        self._tokens = getattr(self, "_tokens", [])
        self._tokens.append(self.enter(Barrier()))
        return self

    def __exit__(self, *exc: object) -> None:
        MODE.reset(self._tokens.pop())

    def _recreate_cm(self) -> no_grad:
        return no_grad()
