"""Open chains in right-canonical gauge as a manifold, for Riemannian optimisation.

Every site tensor, as a matrix ``A`` of left bond by (physical, right bond), has orthonormal rows, and ``N`` completes
them: ``[A; N]`` is unitary.  Changes that move the state are ``X N``; ``X`` are the coordinates of the tangent space,
without any gauge freedom left.  A step is Cayley's transform of ``[[0, X], [-X^H, 0]]``, closed in terms of one small
inverse ``M = (1 + X X^H / 4)^-1``, and carries ``N`` along, so that tangent vectors are transported by keeping their
coordinates.  A change ``X`` moves the state by ``tr(X^H L X)``, L the reduced density matrix of what stands left of the
site: the metric.  M. Hauru, M. Van Damme and J. Haegeman, SciPost Phys. 10, 040 (2021).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.mps.chain.canonical import schmidt_form
from qad.symmetric.generic import as_map, charges_of, join, of_map

if TYPE_CHECKING:
    from collections.abc import Iterable

LEAST, MOST = 1e-12, 1e-2  # what is added to the metric


class IsometricChain:
    """The manifold of open chains of given bonds; every sector of a site is an isometric matrix of its own.

    Neighbours of one shape are treated as one stack.

    Parameters
    ----------
    state : MPS
        Open; its bonds and dtype are kept (bonds that are larger than its sides can fill are not).
    """

    def __init__(self, state: Any):
        self.state: Any = state
        self.dtype: np.dtype[Any] = state.dtype
        self.maps: list[Any] = []  # where the matrices of every site stand

    def point(self, params: Any) -> Point:
        """Stacks of A and N, and the metric, filled when it is asked for."""
        found = [as_map(tensor, 1) for tensor in schmidt_form(params.tensors)[0]]
        self.maps = [where for where, _ in found]
        matrices = [matrix for _, matrices in found for matrix in matrices]
        isometries = [np.array(list(same)) for _, same in groupby(matrices, key=np.shape)]
        return Point(isometries, [complement(a) for a in isometries])

    def params(self, point: Point) -> Any:
        """The chain."""
        return self.state._made_of(self.tensors(point))

    def tensors(self, point: Point) -> list[Any]:
        """The site tensors of the matrices."""
        matrices = iter([matrix for stack in point.isometries for matrix in stack])
        return [of_map(where, [next(matrices) for _ in charges_of(where)]) for where in self.maps]

    def gradient(self, point: Point, gradient: Iterable[Any]) -> np.ndarray:
        """``G N^H`` for every matrix, as one vector."""
        matrices = [matrix for tensor in gradient for matrix in as_map(tensor, 1)[1]]
        pairs = zip(in_stacks(matrices, point.isometries), point.complements, strict=True)
        return self.pack([g @ n.conj().mT for g, n in pairs])

    def retract(self, point: Point, vector: np.ndarray) -> tuple[Point, np.ndarray]:
        """Cayley's transform of every site."""
        isometries, complements, velocity = [], [], []
        for a, n, x in zip(point.isometries, point.complements, self.unpack(point, vector), strict=True):
            half = x / 2
            inverse = np.linalg.inv(np.eye(a.shape[1]) + half @ half.conj().mT)
            mixed = 2 * inverse @ (a + half @ n)
            isometries.append(mixed - a)
            complements.append(n - half.conj().mT @ mixed)
            velocity.append(inverse @ x)
        return Point(isometries, complements), self.pack(velocity)

    def transport(self, point: Point, vector: np.ndarray, new: Point, vectors: np.ndarray) -> np.ndarray:
        """Coordinates are kept: the frame N was carried along."""
        return vectors

    def metric(self, point: Point, vector: np.ndarray, norm: float) -> np.ndarray:
        """The inverse of the reduced density matrices applied, regularised as the gradient's norm allows."""
        if point.inverses is None:
            floor = min(max(norm**2, LEAST), MOST)
            point.inverses = [np.linalg.inv(rho + floor * np.eye(rho.shape[-1])) for rho in self.densities(point)]
        return self.pack([g @ x for g, x in zip(point.inverses, self.unpack(point, vector), strict=True)])

    def densities(self, point: Point) -> list[np.ndarray]:
        """The reduced density matrix of what stands left of every site, by sector of its left bond, as stacks."""
        environment: Any = None
        found: list[np.ndarray] = []
        for where, tensor in zip(self.maps, self.tensors(point), strict=True):
            if environment is None:
                found += [np.ones((1, 1)) for _ in charges_of(where)]
            else:
                here, matrices = as_map(environment, 1)
                table = dict(zip(charges_of(here), matrices, strict=True))
                found += [table[charge] for charge in charges_of(where)]
            half = tensor if environment is None else join(environment, tensor)
            environment = join(tensor.conj(), half, ((0, 1), (0, 1)))
        return in_stacks(found, point.isometries)

    def pack(self, parts: Iterable[np.ndarray]) -> np.ndarray:
        """One real vector."""
        return np.concatenate([np.ascontiguousarray(x).reshape(-1).view(float) for x in parts])

    def unpack(self, point: Point, vector: np.ndarray) -> list[np.ndarray]:
        """Coordinates of every stack."""
        shapes = [(*a.shape[:2], n.shape[1]) for a, n in zip(point.isometries, point.complements, strict=True)]
        parts = np.split(vector.view(self.dtype), np.cumsum([prod(shape) for shape in shapes])[:-1])
        return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


@dataclass
class Point:
    """Stacks of isometries, their complements, and (once asked for) the inverse metric."""

    isometries: list[np.ndarray]
    complements: list[np.ndarray]
    inverses: list[np.ndarray] | None = None


def in_stacks(matrices: Iterable[np.ndarray], stacks: Iterable[np.ndarray]) -> list[np.ndarray]:
    """Matrices stacked as others are."""
    one = iter(matrices)
    return [np.array([next(one) for _ in stack]) for stack in stacks]


def complement(isometries: np.ndarray) -> np.ndarray:
    """Rows that complete each stack of orthonormal rows to a unitary matrix."""
    rows = isometries.shape[1]
    q = np.linalg.qr(isometries.conj().mT, mode="complete")[0]
    return q[..., rows:].conj().mT
