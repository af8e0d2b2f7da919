"""Environments as functions of the double layer: implicit derivatives of a move at its fixed point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.core.errors import ConvergenceError
from qad.extend import as_array, value_of
from qad.linalg.implicit.fixed_point import fixed_point
from qad.linalg.implicit.root import Equation, root
from qad.peps.infinite.iteration import Around, weighted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from qad.linalg import Report
    from qad.typing import Array

LOOSER = 100.0  # what a fixed point is confirmed to, in units of what it was iterated to
LEAST = 1e-14  # of tolerances
PRODUCTS = 300  # with a derivative of moves, before a solve begins anew: near a transition moves contract slowly


def at_rest(
    move: Callable[[Around, Array], Around],
    around: Around,
    layers: Array,
    tols: tuple[float, float],
    report: Report,
    after: Sequence[int] | None = None,
) -> Around:
    """The fixed point of ``move(around, layers)`` as a function of the recorded `layers`.

    Tolerances are those of the last change, and of the adjoint equation; `after` is that of `weighted`.
    """
    plain, limit = as_array(value_of(layers)), LOOSER * max(tols[0], LEAST)
    change = weighted(move(around, plain), around, after)
    if not change <= limit:
        raise ConvergenceError(
            f"the environment is not at rest: by the step of derivatives it changes by {change:.1e}, more than "
            f"{limit:.1e}: change chi a little, or lower tol"
        )

    def residual(x: Sequence[Array], given: Sequence[Array]) -> list[Array]:
        return [a - b for a, b in zip(x, move(Around(*x), given[0]), strict=True)]

    def again(residual: Callable[..., Sequence[Array]], start: Sequence[np.ndarray]) -> list[Array]:
        return fixed_point(lambda x: [a - b for a, b in zip(x, residual(x), strict=True)], list(start))

    options = {"tol": tols[1], "restart": PRODUCTS}
    solution = list(around)  # where moves were expanded: one move on, third derivatives lose four digits
    return Around(*root(layers, equation=Equation(residual, [plain], solution, again, options=options, report=report)))
