"""The derivative of a move by QR at its fixed point, transposed and written out, for the speed of first derivatives.

`qad.vjp` of the move in `implicit` is the same linear map, at twice the cost; without this module it takes over.

With Y = C T = U B, G = T a U and E = U^H G at the fixed point, and changes dC, dT that are Hermitian as C and T are,

    dU = (1 - U U^H) W,   W = dY B^-1,     F = U^H (dT a U)
    dT' = 2 dU^H G + F,                    dC' = 2 dU^H Y^H G + U^H B^H (W^H U E + dU^H G + F)

but for the Hermitian part and the norm: of two terms that mirror each other one is taken twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.peps.c4v.moves import Pair, column, norm, row

if TYPE_CHECKING:
    from collections.abc import Callable


def pullback(pair: Pair, layer: np.ndarray, u: np.ndarray) -> Callable[[Pair], Pair]:
    """The adjoint of the derivative of the move by C and T, at the fixed point `pair` with the isometry `u`."""
    chi, p, _ = pair.edge.shape
    edge, wide, back = pair.edge.reshape(chi, -1), u.reshape(chi, -1), u.conj().T
    y, below = column(pair), row(pair, layer, u)
    square = back @ y
    inverse, new_edge = np.linalg.inv(square).conj().T, back @ below
    half = square.conj().T @ new_edge
    corner_of, edge_of = unnormalised(back @ half.reshape(chi * p, chi)), unnormalised(new_edge.reshape(chi, p, chi))
    layer_back, wide_back, edge_back = (np.ascontiguousarray(x.conj().T) for x in (layer, wide, edge))
    half, corner_back = 2 * half.reshape(chi * p, chi), pair.corner.conj().T

    def adjoint(cotangent: Pair) -> Pair:
        c, t = corner_of(cotangent.corner), edge_of(cotangent.edge).reshape(chi, -1)
        q = square @ (u @ c).reshape(chi, -1)
        turned = half @ c.conj().T + below @ (2 * t + q).conj().T  # of dU
        w = turned - u @ (back @ turned - new_edge @ q.conj().T)
        ends = layer_back @ (u @ (t + q)).reshape(chi, p * p, chi)
        y = (w @ inverse).reshape(chi, -1)
        t = ends.reshape(chi * p, -1) @ wide_back + (corner_back @ y).reshape(chi * p, chi)
        return Pair(y @ edge_back, t.reshape(chi, p, chi))

    return adjoint


def unnormalised(x: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The adjoint of the derivative of ``s / |s|``, ``s = x + x^H``, where x becomes that."""
    axes = tuple(reversed(range(x.ndim)))
    s = x + x.conj().transpose(axes)
    size = norm(s)
    unit = s / size

    def adjoint(cotangent: np.ndarray) -> np.ndarray:
        g = (cotangent - unit * np.vdot(unit, cotangent).real) / size
        return g + g.conj().transpose(axes)

    return adjoint
