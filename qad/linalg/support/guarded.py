"""Numbers whose derivative does not always exist: the check waits until a derivative is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.extend import core, primitive, rule, stack_of
from qad.linalg.support.derivative_order import orders

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.typing import Array


@primitive
def guarded(x: Array, *, check: Callable[[Array, int], None]) -> Array:
    """`x` as it is; ``check(g, order)`` may refuse its bare cotangents or tangents, of a derivative of this order."""
    return x


def _checked(g, ans, x, *, check):
    check(stack_of(g), orders(x) + 1)
    return g


rule(guarded, _checked, forward=_checked, batch=core(0))
