"""Product formulas made of a symmetric one: the parts of a time step, by order.

Suzuki's five steps with parts p, p, 1 - 4p, p, p and p = 1 / (4 - 4^(1/3)) are of fourth order: M. Suzuki,
Phys. Lett. A 146, 319 (1990).
"""

P = 1 / (4 - 4 ** (1 / 3))
ORDERS: dict[int, tuple[float, ...]] = {2: (1.0,), 4: (P, P, 1 - 4 * P, P, P)}


def rounds(order: int, steps: int) -> list[tuple[float, float]]:
    """Shares of a step by which first the even and then the odd bonds evolve, round by round.

    Half steps of the even bonds that meet are made as one; the last round is of even bonds alone.
    """
    odd = ORDERS[order] * steps
    even = [(before + after) / 2 for before, after in zip((0.0, *odd), (*odd, 0.0), strict=True)]
    return list(zip(even, (*odd, 0.0), strict=True))
