"""Product formulas: the order of exponentials and their parts of a time step."""

from qad.core.errors import ArgumentError


def trotter(count, steps, order):
    """Pairs (number of the term, part of a step) of a formula for `count` terms, all steps.

    Order 4 is Suzuki's: five symmetric formulas with parts p, p, 1 - 4p, p, p and p = 1 / (4 - 4^(1/3)).
    """
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
        raise ArgumentError(f"evolve takes a positive whole number of steps, not {steps!r}")
    forth = list(range(count))
    if order == 1:
        return [(term, 1.0) for term in forth] * steps
    if order not in (2, 4):
        raise ArgumentError(f"evolve knows formulas of order 1, 2 and 4, not {order!r}")
    p = 1 / (4 - 4 ** (1 / 3))
    parts = [1.0] if order == 2 else [p, p, 1 - 4 * p, p, p]
    return [(term, part / 2) for part in parts for term in (*forth, *reversed(forth))] * steps
