"""The derivative of a move by QR at its fixed point, transposed and written out; see `qad.peps.infinite.implicit`.

With Y = C T = U B, G = T a U and E = U^H G at the fixed point, and changes dC, dT that are Hermitian as C and T are,

    dU = (1 - U U^H) W,   W = dY B^-1,     F = U^H (dT a U)
    dT' = 2 dU^H G + F,                    dC' = 2 dU^H Y^H G + U^H B^H (W^H U E + dU^H G + F)

but for the Hermitian part and the norm: of two terms that mirror each other one is taken twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.peps.infinite.c4v.moves import column, norm, normalised, signed
from qad.peps.infinite.iteration import Around, difference, weighted

if TYPE_CHECKING:
    from collections.abc import Callable


class LinearizedMove:
    """The move around its fixed point `around`, with the isometry `u`."""

    around: Around
    u: np.ndarray
    back: np.ndarray  # U^H
    projected: np.ndarray  # T U
    below: np.ndarray  # G
    square: np.ndarray  # B
    edge: np.ndarray  # E
    half: np.ndarray  # B^H E = Y^H G
    corner: np.ndarray
    of_corner: Callable[[np.ndarray], np.ndarray]
    of_edge: Callable[[np.ndarray], np.ndarray]
    inverse: np.ndarray  # of B^H
    layer: np.ndarray

    def __init__(self, around: Around, layer: np.ndarray, u: np.ndarray):
        chi, p, _ = around.edges.shape
        self.around, self.layer, self.u, self.back = around, layer, u, u.conj().T
        self.projected = (around.edges.reshape(chi * p, chi) @ u.reshape(chi, -1)).reshape(chi, p * p, chi)
        self.below = (layer @ self.projected).reshape(chi * p, -1)
        self.square = self.back @ column(around)
        self.edge = self.back @ self.below
        self.half = (self.square.conj().T @ self.edge).reshape(chi * p, chi)
        self.corner = self.back @ self.half
        self.of_corner, self.of_edge = (
            unnormalised(x, y) for x, y in zip((self.corner, self.edge.reshape(chi, p, chi)), around, strict=True)
        )
        self.inverse = np.linalg.inv(self.square).conj().T

    def residual(self) -> float:
        """How far the move goes from `around`."""
        new = signed(normalised(self.corner, self.edge.reshape(self.around.edges.shape)), self.around)
        return weighted(difference(new, self.around), self.around)

    def pullback(self, cotangent: tuple[np.ndarray, np.ndarray]) -> Around:
        """The adjoint of the derivative by C and T."""
        chi, p, _ = self.around.edges.shape
        u, c, t, q = self.unfolded(cotangent)
        turned = 2 * self.half @ c.conj().T + self.below @ (2 * t + q).conj().T  # of dU
        w = turned - u @ (self.back @ turned - self.edge @ q.conj().T)
        ends = self.layer.conj().T @ (u @ (t + q)).reshape(chi, p * p, chi)
        y = (w @ self.inverse).reshape(chi, -1)
        t = ends.reshape(chi * p, -1) @ u.reshape(chi, -1).conj().T + (self.around.corners.conj().T @ y).reshape(
            chi * p, chi
        )
        return Around(y @ self.around.edges.reshape(chi, -1).conj().T, t.reshape(chi, p, chi))

    def of_layer(self, cotangent: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """The adjoint of the derivative by the layer a."""
        chi, p, _ = self.around.edges.shape
        u, _, t, q = self.unfolded(cotangent)
        return np.tensordot((u @ (t + q)).reshape(chi, p * p, chi), self.projected.conj(), ((0, 2), (0, 2)))

    def unfolded(self, cotangent: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, ...]:
        """U, and cotangents of the corner, the edge, and what the corner has of the edge: ``U^H B^H E``."""
        corner, edge = cotangent
        chi = len(corner)
        c, t = self.of_corner(corner), self.of_edge(edge).reshape(chi, -1)
        return self.u, c, t, self.square @ (self.u @ c).reshape(chi, -1)


def hermitian(x: np.ndarray) -> np.ndarray:
    """The sum with the mirror image."""
    return x + x.conj().transpose(tuple(reversed(range(x.ndim))))


def unnormalised(x: np.ndarray, at: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The adjoint of the derivative of ``s / |s|``, s the Hermitian sum and signed as `at` is, where x becomes that."""
    s = hermitian(x)
    size = norm(s) if np.vdot(at, s).real >= 0 else -norm(s)
    unit = s / size

    def adjoint(cotangent: np.ndarray) -> np.ndarray:
        return hermitian((cotangent - unit * np.vdot(unit, cotangent).real) / size)

    return adjoint
