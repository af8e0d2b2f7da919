"""What searches share: they evaluate points, remember the best, tell of every step, and say why they ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ConvergenceError, RejectedPoint
from qad.core.transforms.grad import value_and_grad
from qad.optimize.result import BY_USER, OptimizeResult
from qad.showing.progress import note

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from qad.optimize.manifolds import Manifold
    from qad.optimize.packing import Parameters
    from qad.typing import Function


class Stop(Exception):
    """Ends the search from within an evaluation."""


class NotFinite(RejectedPoint):
    """The loss or its gradient is no number."""


@dataclass(eq=False, slots=True)
class EvaluatedPoint:
    """A point with its loss and gradient there; where there is no loss, with infinity and None."""

    point: Any
    value: float
    gradient: Any  # a Vector, None where there is no loss
    norm: float = field(init=False)

    def __post_init__(self) -> None:
        self.norm = np.inf if self.gradient is None else float(np.linalg.norm(self.gradient))


@dataclass(eq=False)
class Minimisation:
    """One minimisation over the points of a space.

    `fatal` are the errors of an evaluation that end the search; it turns back from others.
    """

    space: Manifold | Parameters
    start: Any
    fun: Callable[[Any], Any]
    callback: Callable[[Any, Any], object] | None = None
    accepted: Callable[[Any, float], object] | None = None
    jac: bool = False
    evaluated: Callable[[float, float], object] | None = None
    fatal: tuple[type[Exception], ...] = ()
    bar: Any = None
    best: Any = None  # an EvaluatedPoint, None before the first
    here: Any = None  # that of the last iteration
    history: list[float] = field(default_factory=list)
    evaluations: int = 0
    rejections: int = 0
    interrupted: bool = False
    value_and_grad: Function = field(init=False)

    def __post_init__(self) -> None:
        self.value_and_grad = self.fun if self.jac else value_and_grad(self.fun)

    def evaluate(self, point: Any) -> EvaluatedPoint:
        """A point with loss and gradient; where it is rejected with infinity and None."""
        try:
            place = self.known(point)
        except (RejectedPoint, ConvergenceError) as rejection:
            what = str(rejection) or "the loss is rejected"
            if self.best is None and isinstance(rejection, ConvergenceError):
                raise
            if self.best is None:
                raise ArgumentError(f"{what} at the starting parameters: start where it is finite") from None
            if isinstance(rejection, self.fatal):
                raise Stop(
                    f"{what} in evaluation {self.evaluations}; the best parameters before it are returned"
                ) from None
            self.rejections += 1
            place = EvaluatedPoint(point, np.inf, None)
        if self.evaluated is not None:
            self.evaluated(place.value, place.norm)
        return place

    def known(self, point: Any) -> EvaluatedPoint:
        """A point with loss and gradient; raises where there are none."""
        self.evaluations += 1
        params = self.space.params(point)
        value, gradient = self.value_and_grad(params)
        if float(value) == np.inf:
            raise RejectedPoint("the loss is inf")
        place = EvaluatedPoint(point, float(value), self.space.gradient(point, gradient))
        if not np.isfinite(place.value):
            raise NotFinite(f"the loss is {place.value}")
        if not np.isfinite(place.norm):
            raise NotFinite("the gradient is not finite")
        if self.best is None:
            self.history.append(place.value)
            self.here = place
        if self.best is None or place.value < self.best.value:
            self.best = place
            if self.accepted is not None:
                self.accepted(params, place.value)
        return place

    def step(self, place: EvaluatedPoint) -> None:
        """Tell history, bar and callback that an iteration ended at a point."""
        self.here = place
        self.history.append(place.value)
        note(self.bar, self.history, place.norm)
        if self.callback is not None:
            try:
                self.callback(self.space.params(place.point), place.value)
            except StopIteration:
                raise Stop("stopped by the callback") from None

    def guarded(self, search: Callable[[], tuple[bool, str]]) -> OptimizeResult:
        """What was found until ``search()`` returned success and message, or was ended from within or by the user."""
        try:
            success, message = search()
        except (Stop, KeyboardInterrupt) as end:
            if self.best is None:
                raise
            success, message, self.interrupted = False, str(end) if isinstance(end, Stop) else BY_USER, True
        rejected = f" ({self.rejections} points were rejected)" if self.rejections else ""
        return OptimizeResult(
            self.space.params(self.best.point), self.best.value, np.array(self.history), self.best.norm, success,
            self.interrupted, message + rejected, len(self.history) - 1, self.evaluations,
        )  # fmt: skip
