"""Products of manifolds, whose factors of one kind move together as a stack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.trees import flatten, nesting, unflatten
from qad.extend import as_array
from qad.optimize.manifolds import Euclidean, Grassmann, Stiefel, Unitary

if TYPE_CHECKING:
    from qad.typing import Tree, Vector

STACKED = Euclidean, Stiefel, Unitary, Grassmann  # whose leading axes are batches


class Group(NamedTuple):
    """Factors of one kind: where they stand among the leaves, and in flat vectors."""

    manifold: Any
    places: list[int]
    piece: slice


class Point(NamedTuple):
    """The points of all groups, each a stack where there are several."""

    groups: list[Group]
    stacks: list[Any]


class Product:
    """Parameters whose leaves lie on manifolds of their own.

    Parameters
    ----------
    manifolds : pytree of manifolds
        Of the structure of the parameters.

    Examples
    --------
    >>> import numpy as np, qad
    >>> both = qad.optimize.Product({"u": qad.optimize.Unitary(), "shift": qad.optimize.Euclidean()})
    >>> loss = lambda p: qad.abs2(p["u"] @ np.array([1.0, 0]) * 2 + p["shift"] - np.array([0.0, 3.0])).sum()
    >>> found = qad.optimize.minimize_on(loss, {"u": np.eye(2), "shift": np.zeros(2)}, manifold=both)
    >>> bool(found.fun < 1e-10)
    True
    """

    factors: list[Any]
    spec: Any
    reach: float

    def __init__(self, manifolds: Tree):
        self.factors, self.spec = flatten(manifolds)
        reaches = [getattr(manifold, "reach", 0.0) for manifold in self.factors]
        self.reach = float(np.linalg.norm(reaches)) if all(reaches) else 0.0

    def __repr__(self) -> str:
        return f"Product({unflatten(self.spec, self.factors)!r})"

    def point(self, params: Tree) -> Point:
        """The points of all factors, those of one kind as a stack."""
        leaves, spec = flatten(params)
        if spec != self.spec:
            raise ArgumentError(f"the manifolds are nested as {nesting(self.spec)}, the parameters as {nesting(spec)}")
        kinds: dict[Any, list[int]] = {}
        for i, (manifold, leaf) in enumerate(zip(self.factors, leaves, strict=True)):
            kind: Any = i
            if type(manifold) in STACKED:
                leaves[i] = array = as_array(leaf)
                kind = type(manifold), array.shape, array.dtype
            kinds.setdefault(kind, []).append(i)
        groups, stacks, end = [], [], 0
        for places in kinds.values():
            manifold = self.factors[places[0]]
            stacks.append(manifold.point(stack(leaves, places)))
            size = manifold.gradient(stacks[-1], np.zeros_like(manifold.params(stacks[-1]))).size
            groups.append(Group(manifold, places, slice(end, end + size)))
            end += size
        return Point(groups, stacks)

    def params(self, point: Point) -> Tree:
        """The tree of all points, views of the stacks."""
        leaves: list[Any] = [None] * len(self.factors)
        for (manifold, places, _), points in zip(*point, strict=True):
            for i, own in zip(places, points if len(places) > 1 else [points], strict=True):
                leaves[i] = manifold.params(own)
        return unflatten(self.spec, leaves)

    def gradient(self, point: Point, gradient: Tree) -> Vector:
        """The gradients of all factors, those of one kind beside each other."""
        leaves = flatten(gradient)[0]
        parts = [group.manifold.gradient(own, stack(leaves, group.places)) for group, own in zip(*point, strict=True)]
        return np.concatenate(parts)

    def retract(self, point: Point, vector: Vector) -> tuple[Point, Vector]:
        """Every factor for itself, those of one kind as a stack."""
        moved = [group.manifold.retract(own, vector[group.piece]) for group, own in zip(*point, strict=True)]
        return Point(point.groups, [new for new, _ in moved]), np.concatenate([velocity for _, velocity in moved])

    def transport(self, point: Point, vector: Vector, new: Point, vectors: Vector) -> Vector:
        """Every factor for itself, those of one kind as a stack."""
        moved = [
            manifold.transport(start, vector[piece], end, vectors[..., piece])
            for (manifold, _, piece), start, end in zip(*point, new.stacks, strict=True)
        ]
        return np.concatenate(moved, axis=-1)


def stack(arrays: list[Any], places: list[int]) -> Any:
    """Several arrays as one, with an axis before; one as it is."""
    return np.array([arrays[i] for i in places]) if len(places) > 1 else arrays[places[0]]
