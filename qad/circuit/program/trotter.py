"""Product formulas: the order of exponentials and their parts of a time step."""

from __future__ import annotations

from qad.core.errors import ArgumentError
from qad.mps.evolve.suzuki import ORDERS


def trotter(count: int, steps: int, order: int) -> list[tuple[int, float]]:
    """Pairs (number of the term, part of a step) of a formula for `count` terms, all steps."""
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
        raise ArgumentError(f"evolve takes a positive whole number of steps, not {steps!r}")
    forth = list(range(count))
    if order == 1:
        return [(term, 1.0) for term in forth] * steps
    if order not in ORDERS:
        raise ArgumentError(f"evolve knows formulas of order 1, 2 and 4, not {order!r}")
    return [(term, part / 2) for part in ORDERS[order] for term in (*forth, *reversed(forth))] * steps
