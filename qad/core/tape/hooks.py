"""Functions to be told of what is recorded, which `qad.core.mutation` puts here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.core.words import Answer, Keywords, Value


def answered(out: Answer, fn: Callable[..., Any], args: Sequence[Value], kwargs: Keywords, cut: bool) -> None:
    """``fn(*args, **kwargs)`` gave `out`, which may show the memory of an operand; `cut`, if nothing was recorded."""


def registered(fn: Any, handler: Callable[..., Any]) -> Callable[..., Any]:
    """What NumPy's function `fn` is handled by, whose results without axes may have to be numbers, or arrays."""
    return handler
