"""A move by QR near its fixed point, with first derivatives that are written out: for speed alone.

With Y = C T = U B, G = T a U and E = U^H G at the fixed point, and changes dC, dT that are Hermitian as C and T are,

    dU = (1 - U U^H) W,   W = dY B^-1,     F = U^H (dT a U)
    dT' = 2 dU^H G + F,                    dC' = 2 dU^H Y^H G + U^H B^H (W^H U E + dU^H G + F)

but for the Hermitian part and the norm: of two terms that mirror each other one is taken twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import defvjp, primitive
from qad.peps.infinite.c4v.moves import column, norm, row
from qad.peps.infinite.c4v.smooth import by_qr
from qad.peps.infinite.iteration import Around

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.typing import Array

    Adjoint = Callable[[Sequence[int], Sequence[Array]], Sequence[Array]]


@primitive
def by_hand(corner: Array, edge: Array, layer: Array, *, reference: np.ndarray, adjoint: Adjoint) -> Around:
    """As `by_qr`, with the `adjoint` of its derivative, by those of the operands that are needed."""
    return by_qr(Around(corner, edge), layer, reference)


def of_operands(
    needed: Sequence[int], g: Sequence[Array], *operands: Array, adjoint: Adjoint, **_: Array
) -> list[Array]:
    """Cotangents of corner and edge, or of the layer."""
    return [x.conj() for x in adjoint(needed, [x.conj() for x in g])]


defvjp(by_hand, shared=of_operands)


def adjoint_of(around: Around, layer: np.ndarray, u: np.ndarray) -> Adjoint:
    """The adjoint of the derivative at the fixed point `around`, with the isometry `u`; that of ``Re <x, y>``."""
    chi, p, _ = around.edges.shape
    back = u.conj().T
    projected = (around.edges.reshape(chi * p, chi) @ u.reshape(chi, -1)).reshape(chi, p * p, chi)
    below = row(around, layer, u)
    square = back @ column(around)
    below_u = back @ below
    half = (square.conj().T @ below_u).reshape(chi * p, chi)
    of_corner, of_edge = (
        unnormalised(x, y) for x, y in zip((back @ half, below_u.reshape(chi, p, chi)), around, strict=True)
    )
    inverse = np.linalg.inv(square).conj().T

    def adjoint(needed: Sequence[int], cotangent: Sequence[Array]) -> Sequence[Array]:
        c, t = of_corner(cotangent[0]), of_edge(cotangent[1]).reshape(chi, -1)
        q = square @ (u @ c).reshape(chi, -1)
        ends = (u @ (t + q)).reshape(chi, p * p, chi)
        if needed == (2,):
            return [np.tensordot(ends, projected.conj(), ((0, 2), (0, 2)))]
        turned = 2 * half @ c.conj().T + below @ (2 * t + q).conj().T  # of dU
        w = turned - u @ (back @ turned - below_u @ q.conj().T)
        y = (w @ inverse).reshape(chi, -1)
        edge = (layer.conj().T @ ends).reshape(chi * p, -1) @ u.reshape(chi, -1).conj().T
        edge = edge + (around.corners.conj().T @ y).reshape(chi * p, chi)
        return [y @ around.edges.reshape(chi, -1).conj().T, edge.reshape(chi, p, chi)]

    return adjoint


def hermitian(x: Array) -> Array:
    """The sum with the mirror image."""
    return x + x.conj().transpose(tuple(reversed(range(x.ndim))))


def unnormalised(x: np.ndarray, at: np.ndarray) -> Callable[[Array], Array]:
    """The adjoint of the derivative of ``s / |s|``, s the Hermitian sum and signed as `at` is, where x becomes that."""
    s = hermitian(x)
    size = norm(s) if np.vdot(at, s).real >= 0 else -norm(s)
    unit = s / size

    def adjoint(cotangent: Array) -> Array:
        return hermitian((cotangent - unit * np.vdot(unit, cotangent).real) / size)

    return adjoint
