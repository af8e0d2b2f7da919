"""One step of the corner transfer matrix in all four directions at once, for any cell.

Legs run clockwise: corners ``[in, out]``, edges ``[in, site, out]``.  Corner and edges of direction k at a site p:

    Q_k = T_(k-1) C_k T_k a,        C_k' = B_(k-1) Q_k A_k,        T_k' = B_k (T_k a) A_k

with the projectors A_k, B_k on the two sides of the cut that the leg after T_k crosses, between p and its neighbour.
All directions and kinds of sites stand in one stack, number ``direction * kinds + kind``, so that a step is a few large
products; legs of arrays that are shorter than others end in zeros.
Reference: P. Corboz, T. M. Rice and M. Troyer, Phys. Rev. Lett. 113, 046402 (2014).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.peps.infinite.cells.lattice import ALONG, LEGS, Cell, Wiring, back
from qad.peps.infinite.iteration import Around
from qad.peps.infinite.stacks import join, permuted, stacked, turned
from qad.symmetric import einsum, eye, fuse
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.peps.infinite.stacks import Stack

AHEAD = (1, 2), (0, 1)  # of B, and of what stands behind the cut


def double_layer(ket: Any, bra: Any = None) -> Any:
    """Ket times bra of a site ``[s, u, l, d, r]``, with legs (up, left, down, right) of ket and bra together."""
    bra = ket if bra is None else bra
    if type(ket) is SymTensor:
        both = einsum("suldr,sULDR->uUlLdDrR", ket, bra.conj())
        for leg in range(4):
            both = fuse(both, (leg, leg + 1))
        return both
    legs = ket.shape[1:]
    both = (ket.reshape(len(ket), -1).T @ bra.reshape(len(bra), -1).conj()).reshape(*legs, *legs)
    return both.transpose(0, 4, 1, 5, 2, 6, 3, 7).reshape([d * d for d in legs])


def seen(layers: Sequence[Any]) -> Stack:
    """The double layers as each direction sees them, ``[up, left, down, right]``."""
    return stacked([layer.transpose(LEGS[k]) for k in range(4) for layer in layers], 1, equal=True)


def start(layers: Sequence[Any], cell: Cell, closing: Callable[[Any], Any] | None = None) -> Around:
    """Corners and edges of single rows, their outer legs closed: by a vector for the first leg of a site as it is seen.

    By default they are joined ket to bra.
    """
    kinds, closing = len(cell.first), ket_to_bra if closing is None else closing
    edges: list[Any] = [None] * (4 * kinds)
    corners: list[Any] = [None] * (4 * kinds)
    for k in range(4):
        for kind, layer in enumerate(layers):
            ends = [closing(layer.transpose(LEGS[k - i])) for i in (0, 1)]
            edge = np.tensordot(layer.transpose(LEGS[k]), ends[0], (0, 0))  # left, down, right
            edges[k * kinds + cell.shifted(kind, back(ALONG[k - 1]))] = edge / np.linalg.norm(edge)
            corner = np.tensordot(edge, ends[1], (0, 0))
            corners[k * kinds + cell.shifted(kind, ALONG[k], back(ALONG[k - 1]))] = corner / np.linalg.norm(corner)
    return Around(stacked(corners, 1, equal=True), stacked(edges, 2, equal=True))


def ket_to_bra(layer: Any) -> Any:
    """The vector that joins the ket of a leg to its bra."""
    if type(layer) is SymTensor:
        ket = layer.legs[0].parts[0]
        return fuse(eye(ket.conj()), (0, 1), -layer.legs[0].flow)
    return np.eye(round(len(layer) ** 0.5)).ravel()


def rows(around: Around, layers: Stack) -> Stack:
    """Edges with the site below: ``[y, left, down, y', right]``."""
    return turned(join(around.edges, layers, ((1,), (0,))), (0, 2, 3, 1, 4), 2)


def enlarged(around: Around, grown: Stack, w: Wiring) -> Stack:
    """Corners with the site and both edges: maps from the legs (x', d) that come in to (y', r) that go out."""
    half = join(permuted(around.edges, w.before), around.corners, ((2,), (0,)))  # x', left, y
    return turned(join(half, grown, ((2, 1), (0, 1))), (0, 1, 2, 3), 2)


def absorbed(grown: Stack, corners: Stack, a: Stack, b: Stack, w: Wiring) -> Around:
    """All corners and edges one row further out, by projectors A ``[y', r, bond]`` and B ``[bond, x', d]``.

    Norms and phases as they come.
    """
    new_corners = join(join(permuted(b, w.side), corners, AHEAD), a, ((1, 2), (0, 1)))
    new_edges = join(join(permuted(b, w.here), grown, AHEAD), a, ((2, 3), (0, 1)))
    return Around(permuted(new_corners, w.corner), permuted(new_edges, w.edge))
