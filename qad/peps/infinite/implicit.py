"""Environments as functions of the double layer: implicit derivatives of a move at its fixed point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qad.core.errors import ConvergenceError
from qad.core.trees import flatten, unflatten
from qad.extend import as_array, value_of
from qad.linalg.implicit.fixed_point import fixed_point
from qad.linalg.implicit.root import Equation, root
from qad.peps.infinite.iteration import weighted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from qad.linalg import Report
    from qad.peps.infinite.iteration import Around
    from qad.typing import Array

LOOSER = 100.0  # what a fixed point is confirmed to, in units of what it was iterated to
LEAST = 1e-14  # of tolerances
PRODUCTS = 300  # with a derivative of moves, before a solve begins anew: near a transition moves contract slowly


def at_rest(
    move: Callable[[Around, Any], Around],
    around: Around,
    layers: Any,
    tols: tuple[float, float],
    report: Report,
    after: Sequence[int] | None = None,
) -> Around:
    """The fixed point of ``move(around, layers)`` as a function of the recorded `layers`.

    Tolerances are those of the last change, and of the adjoint equation; `after` is that of `weighted`.
    """
    given, of_layers = flatten(layers)
    plain, limit = [as_array(value_of(x)) for x in given], LOOSER * max(tols[0], LEAST)
    solution, spec = flatten(around)
    change = weighted(move(around, unflatten(of_layers, plain)), around, after)
    if not change <= limit:
        raise ConvergenceError(
            f"the environment is not at rest: by the step of derivatives it changes by {change:.1e}, more than "
            f"{limit:.1e}: change chi a little, or lower tol"
        )

    def residual(x: Sequence[Array], given: Sequence[Array]) -> list[Array]:
        moved = flatten(move(unflatten(spec, list(x)), unflatten(of_layers, list(given))))[0]
        return [a - b for a, b in zip(x, moved, strict=True)]

    def again(residual: Callable[..., Sequence[Array]], start: Sequence[np.ndarray]) -> list[Array]:
        return fixed_point(lambda x: [a - b for a, b in zip(x, residual(x), strict=True)], list(start))

    options = {"tol": tols[1], "restart": PRODUCTS}
    # the solution is where moves were expanded: one move on, third derivatives lose four digits
    equation = Equation(residual, plain, solution, again, options=options, report=report)
    return unflatten(spec, list(root(*given, equation=equation)))
