"""Product formulas made of a symmetric one: the parts of a time step, by order.

Suzuki's five steps with parts p, p, 1 - 4p, p, p and p = 1 / (4 - 4^(1/3)) are of fourth order: M. Suzuki,
Phys. Lett. A 146, 319 (1990).
"""

P = 1 / (4 - 4 ** (1 / 3))
ORDERS: dict[int, tuple[float, ...]] = {2: (1.0,), 4: (P, P, 1 - 4 * P, P, P)}
