"""Where to step next on a manifold: steepest descent, conjugate gradients, L-BFGS.

A direction has three methods: `candidates` yields tangent vectors to try, the best first; `moved` learns from an
accepted step; `forget` is told that a candidate failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg.lapack import dtrtrs

from qad.extend import like
from qad.linalg.krylov.lanczos import on_host

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

    def moved(self, here: EvaluatedPoint, there: EvaluatedPoint, velocity: Vector, carry: Linear, reach: float) -> None:
        """Learn from an accepted step, and `carry` tangent vectors (rows) along it, older ones after a `reach`."""
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

    def moved(self, here: EvaluatedPoint, there: EvaluatedPoint, velocity: Vector, carry: Linear, reach: float) -> None:
        super().moved(here, there, velocity, carry, reach)
        self.last = velocity, carry(here.gradient[None])[0]


class LBFGS:
    """Limited-memory BFGS, the metric as its first guess of the curvature."""

    def __init__(self, memory: int):
        self.memory = memory
        self.forget()

    def forget(self) -> None:
        self.known: slice = slice(0, 0)  # which pairs are remembered
        self.drift: float = 0.0  # how far the point has moved since they were carried

    def candidates(self, here: EvaluatedPoint, scaled: Vector, metric: Linear) -> Iterator[Vector]:
        if self.known.stop:
            vector = -self.apply(here.gradient, metric)
            if here.gradient @ vector < 0:
                yield vector
        yield -scaled * min(1.0, 0.1 / np.sqrt(here.gradient @ scaled))

    def apply(self, vector: Vector, metric: Linear) -> Vector:
        """The approximate inverse Hessian times a vector: J. Nocedal's two loops, Math. Comp. 35, 773 (1980).

        Each loop is a substitution in the triangular table of the products of steps with their own and later changes.
        """
        steps, changes = self.pairs[:, self.known]
        table, last = self.table[self.known, self.known], changes[-1]
        beside = like(vector).asarray  # vectors stay where they are, and tables are on the host
        weights = dtrtrs(table, on_host(steps @ vector))[0]
        vector = metric(vector - beside(weights) @ changes) * (float(table[-1, -1]) / (last @ metric(last)))
        rest = table.diagonal() * weights - on_host(changes @ vector)
        return vector + beside(dtrtrs(table, rest, trans=1)[0]) @ steps

    def moved(self, here: EvaluatedPoint, there: EvaluatedPoint, velocity: Vector, carry: Linear, reach: float) -> None:
        self.drift += np.linalg.norm(velocity)
        if self.known.stop and self.drift > reach:
            self.drift = 0.0
            self.carry_pairs(carry)
        change = there.gradient - carry(here.gradient[None])[0]
        if velocity @ change > 1e-10 * np.linalg.norm(velocity) * np.linalg.norm(change):
            self.remember(velocity, change)

    def carry_pairs(self, carry: Linear) -> None:
        """Bring all pairs to where the point is now."""
        known, size = self.known, self.pairs.shape[-1]
        self.pairs[:, known] = carry(self.pairs[:, known].reshape(-1, size)).reshape(2, -1, size)
        self.table[known, known] = on_host(self.pairs[0, known] @ self.pairs[1, known].T)

    def remember(self, step: Vector, change: Vector) -> None:
        """One more pair behind the others; of a full table the latest move to the front."""
        new, room = self.known.stop, 2 * self.memory
        if not new:
            self.pairs: Any = like(step).zeros((2, room, step.size))  # steps, and changes of the gradient
            self.table: Any = np.empty((room, room))  # of their products; what lies below the diagonal is not used
        elif new == room:
            new = self.memory - 1
            self.pairs[:, :new] = self.pairs[:, room - new :]
            self.table[:new, :new] = self.table[room - new :, room - new :]
        self.known = known = slice(max(0, new + 1 - self.memory), new + 1)
        self.pairs[0, new], self.pairs[1, new] = step, change
        self.table[known, new] = on_host(self.pairs[0, known] @ change)


DIRECTIONS: dict[str, type[Direction]] = {"L-BFGS": LBFGS, "CG": ConjugateGradient, "gradient": Gradient}
