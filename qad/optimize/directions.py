"""Where to step next on a manifold: steepest descent, conjugate gradients, L-BFGS.

A direction has three methods: `candidates` yields tangent vectors to try, the best first; `moved` learns from an
accepted step; `forget` is told that a candidate failed.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from qad.optimize.search import EvaluatedPoint
    from qad.typing import Vector

    Linear: TypeAlias = Callable[[Vector], Vector]
    Direction: TypeAlias = "Gradient | LBFGS"


class Gradient:
    """Steepest descent in the metric; steps as long as the last one that was accepted."""

    def __init__(self, memory: int):
        self.length: float | None = None

    def forget(self) -> None:
        self.length = None

    def candidates(self, here: EvaluatedPoint, scaled: Vector, metric: Linear) -> Iterator[Vector]:
        """Directions to try, the best first."""
        slope = here.gradient @ scaled
        yield -scaled * (self.length / slope if self.length else min(1.0, 1.0 / np.sqrt(slope)))
        yield -scaled * (1e-3 / np.sqrt(slope))

    def moved(self, here: EvaluatedPoint, there: EvaluatedPoint, velocity: Vector, carry: Linear) -> None:
        """Learn from an accepted step, and `carry` tangent vectors (rows) along it."""
        self.length = 2 * abs(there.value - here.value)


class ConjugateGradient(Gradient):
    """Hestenes and Stiefel's, restarted where it would not descend."""

    last: tuple[Vector, Vector] | None = None

    def forget(self) -> None:
        super().forget()
        self.last = None

    def candidates(self, here: EvaluatedPoint, scaled: Vector, metric: Linear) -> Iterator[Vector]:
        if self.last is not None:
            direction, old = self.last
            change = here.gradient - old
            beta = max((scaled @ change) / (direction @ change), 0.0) if direction @ change else 0.0
            vector = beta * direction - scaled
            if (slope := here.gradient @ vector) < 0:
                yield vector * (self.length / -slope)
        yield from super().candidates(here, scaled, metric)

    def moved(self, here: EvaluatedPoint, there: EvaluatedPoint, velocity: Vector, carry: Linear) -> None:
        super().moved(here, there, velocity, carry)
        self.last = velocity, carry(here.gradient[None])[0]


class LBFGS:
    """Limited-memory BFGS, the metric as its first guess of the curvature."""

    def __init__(self, memory: int):
        self.steps: deque[Vector] = deque(maxlen=memory)
        self.changes: deque[Vector] = deque(maxlen=memory)

    def forget(self) -> None:
        self.steps.clear()
        self.changes.clear()

    def candidates(self, here: EvaluatedPoint, scaled: Vector, metric: Linear) -> Iterator[Vector]:
        if self.steps:
            vector = -self.apply(here.gradient, metric)
            if here.gradient @ vector < 0:
                yield vector
        yield -scaled * min(1.0, 0.1 / np.sqrt(here.gradient @ scaled))

    def apply(self, vector: Vector, metric: Linear) -> Vector:
        """The approximate inverse Hessian times a vector: J. Nocedal's two loops, Math. Comp. 35, 773 (1980)."""
        weights = []
        for step, change in zip(reversed(self.steps), reversed(self.changes), strict=True):
            weights.append((step @ vector) / (step @ change))
            vector = vector - weights[-1] * change
        step, change = self.steps[-1], self.changes[-1]
        vector = metric(vector) * ((step @ change) / (change @ metric(change)))
        for step, change in zip(self.steps, self.changes, strict=True):
            weight = (change @ vector) / (step @ change)
            vector = vector + (weights.pop() - weight) * step
        return vector

    def moved(self, here: EvaluatedPoint, there: EvaluatedPoint, velocity: Vector, carry: Linear) -> None:
        old, *rest = carry(np.stack([here.gradient, *self.steps, *self.changes]))
        half = len(rest) // 2
        for memory, moved in ((self.steps, rest[:half]), (self.changes, rest[half:])):
            memory.clear()
            memory.extend(moved)
        change = there.gradient - old
        if velocity @ change > 1e-10 * np.linalg.norm(velocity) * np.linalg.norm(change):
            self.steps.append(velocity)
            self.changes.append(change)


DIRECTIONS: dict[str, type[Direction]] = {"L-BFGS": LBFGS, "CG": ConjugateGradient, "gradient": Gradient}
