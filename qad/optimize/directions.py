"""Where to step next on a manifold: steepest descent, conjugate gradients, L-BFGS.

A direction has three methods: `candidates` yields tangent vectors to try, the best first; `moved` learns from an
accepted step; `forget` is told that a candidate failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeAlias

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
        self.memory = memory
        self.forget()

    def forget(self) -> None:
        self.pairs: Any = None  # steps, and changes of the gradient (2, number, size), the oldest first
        self.products: list[float] = []  # of each step with its change

    def candidates(self, here: EvaluatedPoint, scaled: Vector, metric: Linear) -> Iterator[Vector]:
        if self.products:
            vector = -self.apply(here.gradient, metric)
            if here.gradient @ vector < 0:
                yield vector
        yield -scaled * min(1.0, 0.1 / np.sqrt(here.gradient @ scaled))

    def apply(self, vector: Vector, metric: Linear) -> Vector:
        """The approximate inverse Hessian times a vector: J. Nocedal's two loops, Math. Comp. 35, 773 (1980)."""
        weights, remembered = [], list(zip(*self.pairs, self.products, strict=True))
        for step, change, product in reversed(remembered):
            weights.append((step @ vector) / product)
            vector = vector - weights[-1] * change
        change = self.pairs[1, -1]
        vector = metric(vector) * (self.products[-1] / (change @ metric(change)))
        for step, change, product in remembered:
            weight = (change @ vector) / product
            vector = vector + (weights.pop() - weight) * step
        return vector

    def moved(self, here: EvaluatedPoint, there: EvaluatedPoint, velocity: Vector, carry: Linear) -> None:
        size = here.gradient.size
        known = [] if self.pairs is None else [self.pairs.reshape(-1, size)]
        moved = carry(np.concatenate([here.gradient[None], *known]))
        self.pairs, change = moved[1:].reshape(2, -1, size), there.gradient - moved[0]
        if velocity @ change > 1e-10 * np.linalg.norm(velocity) * np.linalg.norm(change):
            new = np.stack([velocity, change])[:, None]
            self.pairs = np.concatenate([self.pairs, new], axis=1)[:, -self.memory :]
        self.products = np.vecdot(*self.pairs).tolist()


DIRECTIONS: dict[str, type[Direction]] = {"L-BFGS": LBFGS, "CG": ConjugateGradient, "gradient": Gradient}
