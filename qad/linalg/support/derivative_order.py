"""How many derivatives are being taken of an operand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.extend.recording import directions

if TYPE_CHECKING:
    from typing import Any


def orders(x: Any) -> int:
    """The number of levels that differentiate `x` now; those of `qad.vmap` do not count."""
    return len(directions(x))


def is_pushed_gradient(x: Any) -> bool:
    """Whether `x` is differentiated backward, and that forward, and nothing else: `qad.hvp` and `qad.hessian`."""
    return directions(x) == ["backward", "forward"]
