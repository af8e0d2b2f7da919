"""One step of the corner transfer matrix in all four directions at once, for any cell.

Legs run clockwise: corners ``[in, out]``, edges ``[in, site, out]``.  Corner and edges of direction k at a site p:

    Q_k = T_(k-1) C_k T_k a,        C_k' = B_(k-1)^T Q_k A_k,        T_k' = B_k^T (T_k a) A_k

with the projectors A_k, B_k on the two sides of the cut that the leg after T_k crosses, between p and its neighbour.
All directions and kinds of sites stand in one stack, number ``direction * kinds + kind``, so that a step is a few large
products; legs that are shorter than others end in zeros.
Reference: P. Corboz, T. M. Rice and M. Troyer, Phys. Rev. Lett. 113, 046402 (2014).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from qad.extend import primitive, rule
from qad.peps.infinite.cells.lattice import ALONG, LEGS, Cell, Wiring, back
from qad.peps.infinite.iteration import Around

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.typing import Array


def double_layer(ket: Array, bra: Array | None = None) -> Array:
    """Ket times bra of a site ``[s, u, l, d, r]``, with legs (up, left, down, right) of ket and bra together."""
    bra = ket if bra is None else bra
    legs = ket.shape[1:]
    both = (ket.reshape(len(ket), -1).T @ bra.reshape(len(bra), -1).conj()).reshape(*legs, *legs)
    return both.transpose(0, 4, 1, 5, 2, 6, 3, 7).reshape([d * d for d in legs])


def stacked(layers: Sequence[Array]) -> Array:
    """The double layers as each direction sees them, matrices ``[up, (left, down, right)]``."""
    p = max(max(layer.shape) for layer in layers)
    equal = [filled(layer, (p,) * 4) for layer in layers]
    return np.stack([layer.transpose(LEGS[k]) for k in range(4) for layer in equal]).reshape(-1, p, p**3)


def filled(x: Array, shape: Sequence[int]) -> Array:
    """An array with zeros at its ends."""
    if x.shape == tuple(shape):
        return x
    return np.pad(x, [(0, n - m) for n, m in zip(shape, x.shape, strict=True)])


def start(
    layers: Sequence[np.ndarray], cell: Cell, closing: Callable[[np.ndarray], np.ndarray] | None = None
) -> Around:
    """Corners and edges of single rows, their outer legs closed: by a vector for the first leg of a site as it is seen.

    By default they are joined ket to bra.
    """
    kinds, p = len(cell.first), max(max(layer.shape) for layer in layers)
    closing = ket_to_bra if closing is None else closing
    edges = np.zeros((4 * kinds, p, p, p), layers[0].dtype)
    corners = np.zeros((4 * kinds, p, p), layers[0].dtype)
    for k in range(4):
        for kind, layer in enumerate(layers):
            ends = [closing(layer.transpose(LEGS[k - i])) for i in (0, 1)]
            edge = np.tensordot(layer.transpose(LEGS[k]), ends[0], (0, 0))  # left, down, right
            at = k * kinds + cell.shifted(kind, back(ALONG[k - 1]))
            edges[at] = filled(edge / np.linalg.norm(edge), (p,) * 3)
            corner = np.tensordot(edge, ends[1], (0, 0))
            at = k * kinds + cell.shifted(kind, ALONG[k], back(ALONG[k - 1]))
            corners[at] = filled(corner / np.linalg.norm(corner), (p,) * 2)
    return Around(corners, edges)


def ket_to_bra(layer: np.ndarray) -> np.ndarray:
    """The vector that joins the ket of a leg to its bra."""
    return np.eye(round(len(layer) ** 0.5)).ravel()


@primitive
def permuted(stack: Array, *, order: tuple[int, ...]) -> Array:
    """The members of a stack in another order."""
    return stack[list(order)]


@cache
def inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    """The order that puts the members back."""
    return tuple(np.argsort(order).tolist())


rule(permuted, lambda g, ans, stack, *, order: permuted(g, order=inverse(order)), linear=True)


def rows(around: Around, layers: Array) -> Array:
    """Edges with the site below: ``(n, (y, left), (down, y', right))``."""
    n, chi, p, _ = around.edges.shape
    row = around.edges.transpose(0, 1, 3, 2).reshape(n, -1, p) @ layers
    return row.reshape(n, chi, chi, p, p, p).transpose(0, 1, 3, 4, 2, 5).reshape(n, chi * p, -1)


def enlarged(around: Around, grown: Array, w: Wiring) -> Array:
    """Corners with the site and both edges: matrices from the legs (x', d) that come in to (y', r) that go out."""
    n, chi, p, _ = around.edges.shape
    half = permuted(around.edges, order=w.before).reshape(n, chi * p, chi) @ around.corners  # (x', l), y
    half = half.reshape(n, chi, p, chi).transpose(0, 1, 3, 2).reshape(n, chi, -1)
    return (half @ grown).reshape(n, chi * p, chi * p)


def absorbed(grown: Array, corners: Array, a: Array, b: Array, w: Wiring) -> Around:
    """All corners and edges one row further out, by the projectors A and B; norms and phases as they come."""
    n, m, chi = a.shape
    p = grown.shape[2] // m
    new_corners = permuted(b, order=w.side).mT @ corners @ a
    new_edges = (permuted(b, order=w.here).mT @ grown).reshape(n, chi * p, m) @ a
    return Around(permuted(new_corners, order=w.corner), permuted(new_edges.reshape(n, chi, p, chi), order=w.edge))
