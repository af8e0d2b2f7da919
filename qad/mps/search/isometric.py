"""Open chains in right-canonical gauge as a manifold, for Riemannian optimisation.

Every site tensor, as a matrix ``A`` of left bond by (physical, right bond), has orthonormal rows, and ``N`` completes
them: ``[A; N]`` is unitary.  Changes that move the state are ``X N``; ``X`` are the coordinates of the tangent space,
without any gauge freedom left.  A step is Cayley's transform of ``[[0, X], [-X^H, 0]]``, closed in terms of one small
inverse ``M = (1 + X X^H / 4)^-1``, and carries ``N`` along, so that tangent vectors are transported by keeping their
coordinates.  A change ``X`` moves the state by ``tr(X^H L X)``, L the reduced density matrix of what stands left of the
site: the metric.  M. Hauru, M. Van Damme and J. Haegeman, SciPost Phys. 10, 040 (2021).
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from qad.mps.canonical import schmidt_form
from qad.mps.chain import bare
from qad.mps.state import MPS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from qad.mps.chain import Chain

LEAST, MOST = 1e-12, 1e-2  # what is added to the metric


class IsometricChain:
    """The manifold of open chains of given bonds; equal neighbours are treated as one stack.

    Parameters
    ----------
    state : MPS
        Open; its bonds and dtype are kept (bonds that are larger than its sides can fill are not).
    """

    def __init__(self, state: Chain):
        self.dtype: np.dtype[Any] = state.dtype

    def point(self, params: Any) -> Point:
        """Stacks of A and N, and the metric, filled when it is asked for."""
        state, _ = schmidt_form(params)
        stacks = [np.array(list(same)) for _, same in groupby(state, key=np.shape)]
        self.phys: list[int] = [stack.shape[2] for stack in stacks]
        isometries = [stack.reshape(*stack.shape[:2], -1) for stack in stacks]
        return Point(isometries, [complement(a) for a in isometries])

    def params(self, point: Point) -> Any:
        """The chain."""
        rows = zip(point.isometries, self.phys, strict=True)
        return bare(MPS, [t for a, d in rows for t in a.reshape(*a.shape[:2], d, -1)], None)

    def gradient(self, point: Point, gradient: Iterable[np.ndarray]) -> np.ndarray:
        """``G N^H`` for every site, as one vector."""
        tensors, parts = iter(gradient), []
        for a, n in zip(point.isometries, point.complements, strict=True):
            stack = np.array([next(tensors).reshape(a.shape[1:]) for _ in a])
            parts.append(stack @ n.conj().mT)
        return self.pack(parts)

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
        """The reduced density matrix of what stands left of every site, as stacks."""
        density, stacks = np.ones((1, 1)), []
        for isometries, phys in zip(point.isometries, self.phys, strict=True):
            rows = []
            for tensor in isometries:
                rows.append(density)
                half = (density @ tensor).reshape(len(density) * phys, -1)
                density = tensor.reshape(half.shape).conj().T @ half
            stacks.append(np.array(rows))
        return stacks

    def pack(self, parts: Iterable[np.ndarray]) -> np.ndarray:
        """One real vector."""
        return np.concatenate([np.ascontiguousarray(x).reshape(-1).view(float) for x in parts])

    def unpack(self, point: Point, vector: np.ndarray) -> list[np.ndarray]:
        """Coordinates of every stack."""
        parts, start = [], 0
        numbers = vector.view(self.dtype)
        for a, n in zip(point.isometries, point.complements, strict=True):
            shape = (len(a), a.shape[1], n.shape[1])
            stop = start + shape[0] * shape[1] * shape[2]
            parts.append(numbers[start:stop].reshape(shape))
            start = stop
        return parts


class Point:
    """Stacks of isometries, their complements, and (once asked for) the inverse metric."""

    __slots__ = ("isometries", "complements", "inverses")

    def __init__(self, isometries: list[np.ndarray], complements: list[np.ndarray]):
        self.isometries: list[np.ndarray] = isometries
        self.complements: list[np.ndarray] = complements
        self.inverses: list[np.ndarray] | None = None


def complement(isometries: np.ndarray) -> np.ndarray:
    """Rows that complete each stack of orthonormal rows to a unitary matrix."""
    rows = isometries.shape[1]
    q = np.linalg.qr(isometries.conj().mT, mode="complete")[0]
    return q[..., rows:].conj().mT
