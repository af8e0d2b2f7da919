"""Environments as functions of the double layer: implicit derivatives of a step that is recorded, or written out.

First derivatives are those of a `FixedPointStep` step, for speed alone; all others those of the recorded one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from qad.core.errors import ConvergenceError
from qad.extend import as_array, value_of
from qad.linalg.implicit.fixed_point import fixed_point
from qad.linalg.implicit.root import ADJOINT, Equation, root, solution_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from qad.linalg import Report
    from qad.typing import Array

    Arrays = Sequence[np.ndarray]

LOOSER = 100.0  # what a fixed point is confirmed to, in units of what it was iterated to
LEAST = 1e-14  # of tolerances


class FixedPointStep(Protocol):
    """A step around its fixed point x; all adjoints are those of ``Re <u, v>``."""

    def residual(self) -> float:
        """How far a step goes from x, as environments feel it."""

    def pullback(self, cotangent: Arrays) -> Arrays:
        """The adjoint of the derivative by x."""

    def of_layer(self, cotangent: Arrays) -> np.ndarray:
        """The adjoint of the derivative by the double layer."""


def settled(
    move: Callable[..., Arrays],
    solution: Arrays,
    layer: Array,
    step: FixedPointStep,
    tols: tuple[float, float],
    report: Report,
) -> tuple[Any, ...]:
    """The fixed point of ``move(x, layer)`` as a function of the recorded `layer`; `step` is the same move at x.

    Tolerances are those of the last change, and of the adjoint equation.
    """
    change, limit = step.residual(), LOOSER * max(tols[0], LEAST)
    if not change <= limit:
        raise ConvergenceError(
            f"the environment is not at rest: by the step of derivatives it changes by {change:.1e}, more than "
            f"{limit:.1e}: change chi a little, or lower tol"
        )

    def residual(x: Sequence[Array], layers: Sequence[Array]) -> list[Array]:
        return [a - b for a, b in zip(x, move(type(solution)(*x), layers[0]), strict=True)]

    def again(residual: Callable[..., Sequence[Array]], start: Arrays) -> list[Array]:
        return fixed_point(lambda x: [a - b for a, b in zip(x, residual(x), strict=True)], list(start))

    def written_out(seeds: Arrays) -> list[np.ndarray]:
        u = solution_of(
            lambda u: [x - y for x, y in zip(u, step.pullback(u), strict=True)], list(seeds), None, report, ADJOINT,
            tol=tols[1],
        )  # fmt: skip
        return [step.of_layer(u)]

    equation = Equation(
        residual, [as_array(value_of(layer))], list(solution), again, pullback=written_out,
        options={"tol": tols[1]}, report=report,
    )  # fmt: skip
    return root(layer, equation=equation)
