"""Products of manifolds, whose factors of one kind move together as a stack."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.trees import flatten, nesting, unflatten
from qad.optimize.manifolds import Euclidean, Grassmann, Stiefel, Unitary

if TYPE_CHECKING:
    from qad.typing import Tree, Vector

STACKED = Euclidean, Stiefel, Unitary, Grassmann  # whose leading axes are batches


@lru_cache(maxsize=64)
def layout(kinds: tuple[Any, ...], sizes: tuple[int, ...]) -> list[tuple[list[int], list[slice]]]:
    """Which factors are of one kind, and the pieces of flat vectors that are theirs, as few as possible."""
    groups: dict[Any, tuple[list[int], list[slice]]] = {}
    start = 0
    for i, (kind, size) in enumerate(zip(kinds, sizes, strict=True)):
        places, pieces = groups.setdefault(kind, ([], []))
        first = pieces.pop().start if places and places[-1] == i - 1 else start
        start += size
        places.append(i)
        pieces.append(slice(first, start))
    return list(groups.values())


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

    def __init__(self, manifolds: Tree):
        self.factors, self.spec = flatten(manifolds)

    def __repr__(self) -> str:
        return f"Product({unflatten(self.spec, self.factors)!r})"

    def point(self, params: Tree) -> list[Any]:
        """A list of points, one per leaf."""
        leaves, spec = flatten(params)
        if spec != self.spec:
            raise ArgumentError(f"the manifolds are nested as {nesting(self.spec)}, the parameters as {nesting(spec)}")
        return [manifold.point(leaf) for manifold, leaf in zip(self.factors, leaves, strict=True)]

    def params(self, point: list[Any]) -> Tree:
        """The tree of all points."""
        return unflatten(self.spec, [manifold.params(p) for manifold, p in zip(self.factors, point, strict=True)])

    def gradient(self, point: list[Any], gradient: Tree) -> Vector:
        """The gradients of all factors, one after the other."""
        leaves, groups = flatten(gradient)[0], self.groups(point)
        parts = [manifold.gradient(stack(point, places), stack(leaves, places)) for manifold, places, _ in groups]
        return joined(parts, groups)

    def retract(self, point: list[Any], vector: Vector) -> tuple[list[Any], Vector]:
        """Every factor for itself, those of one kind as a stack."""
        new, velocities, groups = [*point], [], self.groups(point)
        for manifold, places, pieces in groups:
            moved, velocity = manifold.retract(stack(point, places), part(vector, pieces))
            velocities.append(velocity)
            for i, own in zip(places, moved if len(places) > 1 else [moved], strict=True):
                new[i] = own
        return new, joined(velocities, groups)

    def transport(self, point: list[Any], vector: Vector, new: list[Any], vectors: Vector) -> Vector:
        """Every factor for itself, those of one kind as a stack."""
        groups, moved = self.groups(point), []
        for manifold, places, pieces in groups:
            start, end = stack(point, places), stack(new, places)
            moved.append(manifold.transport(start, part(vector, pieces), end, part(vectors, pieces)))
        return joined(moved, groups)

    def groups(self, point: list[Any]) -> list[tuple[Any, list[int], list[slice]]]:
        """Each kind of factor: its manifold, which factors are of it, and their pieces of flat vectors."""
        kinds, sizes = [], []
        for i, (manifold, own) in enumerate(zip(self.factors, point, strict=True)):
            if type(manifold) in STACKED:
                kinds.append((type(manifold), own.shape, own.dtype))
                sizes.append(own.size * (2 if own.dtype.kind == "c" else 1))
            else:
                kinds.append(i)
                sizes.append(manifold.gradient(own, np.zeros_like(manifold.params(own))).size)
        return [(self.factors[places[0]], places, pieces) for places, pieces in layout(tuple(kinds), tuple(sizes))]


def stack(arrays: list[Any], places: list[int]) -> Any:
    """Several arrays as one, with an axis before; one as it is."""
    return np.stack([arrays[i] for i in places]) if len(places) > 1 else arrays[places[0]]


def part(vectors: Vector, pieces: list[slice]) -> Vector:
    """Some pieces of flat vectors, one after the other."""
    found = [vectors[..., piece] for piece in pieces]
    return np.concatenate(found, axis=-1) if len(found) > 1 else found[0]


def joined(parts: list[Vector], groups: list[tuple[Any, list[int], list[slice]]]) -> Vector:
    """Flat vectors from the parts of all groups."""
    found = {}
    for own, (_, _, pieces) in zip(parts, groups, strict=True):
        end = 0
        for piece in pieces:
            end, start = end + piece.stop - piece.start, end
            found[piece.start, piece.stop] = own[..., start:end]
    return np.concatenate([found[where] for where in sorted(found)], axis=-1)
