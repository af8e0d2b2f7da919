"""The five methods by which a search knows a manifold, and the points that the search has evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from qad.typing import Tree, Vector

    Metric: TypeAlias = Callable[[Any, Vector, float], Vector]  # at a point, of a vector; with the gradient's norm


class Manifold(Protocol):
    """What `minimize_on` asks of a manifold.

    A point is any object that the manifold likes; a tangent vector a flat float64 array.
    """

    def point(self, params: Tree) -> Any:
        """The point at `params`; raises if they do not lie on the manifold."""

    def params(self, point: Any) -> Tree:
        """The parameters at a point, as the loss takes them."""

    def gradient(self, point: Any, gradient: Tree) -> Vector:
        """The tangent vector of a gradient by the parameters."""

    def retract(self, point: Any, vector: Vector) -> tuple[Any, Vector]:
        """The point that is reached along a tangent vector, and the velocity with which it is reached."""

    def transport(self, point: Any, vector: Vector, new: Any, vectors: Vector) -> Vector:
        """Tangent vectors (rows of an array) at `point` as such at ``new = retract(point, vector)``."""


class EvaluatedPoint:
    """A point with its loss and gradient there; where there is no loss, with infinity and None."""

    __slots__ = ("point", "value", "gradient", "norm")
    point: Any
    value: float
    gradient: Any  # a Vector, None where there is no loss
    norm: float

    def __init__(self, point: Any, value: float, gradient: Vector | None):
        self.point, self.value, self.gradient = point, value, gradient
        self.norm = np.inf if gradient is None else float(np.linalg.norm(gradient))
