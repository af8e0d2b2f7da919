"""One step of the corner transfer matrix in all four directions at once, for any cell.

Legs run clockwise: corners ``[in, out]``, edges ``[in, site, out]``.  Corner and edges of direction k at a site p:

    Q_k = T_(k-1) C_k T_k a,        C_k' = B_(k-1)^T Q_k A_k,        T_k' = B_k^T (T_k a) A_k

with the projectors A_k, B_k on the two sides of the cut that the leg after T_k crosses, between p and its neighbour.
Reference: P. Corboz, T. M. Rice and M. Troyer, Phys. Rev. Lett. 113, 046402 (2014).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qad.peps.cells.lattice import ALONG, LEGS, Cell, back

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.typing import Array


class Around(NamedTuple):
    """Corners and edges, by direction and kind of site: number ``direction * kinds + kind``."""

    corners: tuple[Array, ...]
    edges: tuple[Array, ...]


def double_layer(site: Array) -> Array:
    """Ket times bra of a site ``[s, u, l, d, r]``, with legs (up, left, down, right) of ket and bra together."""
    legs = site.shape[1:]
    flat = site.reshape(len(site), -1)
    both = (flat.T @ flat.conj()).reshape(*legs, *legs)
    return both.transpose(0, 4, 1, 5, 2, 6, 3, 7).reshape([d * d for d in legs])


def start(layers: Sequence[Array], cell: Cell) -> Around:
    """Corners and edges of single rows, their outer legs joined ket to bra."""
    kinds = len(cell.first)

    def joined(layer, axis):
        ends = np.eye(round(layer.shape[axis] ** 0.5)).ravel()
        return np.tensordot(layer, ends, (axis, 0))

    edges, corners = [None] * (4 * kinds), [None] * (4 * kinds)
    for k in range(4):
        for p in range(kinds):
            edge = joined(layers[p].transpose(LEGS[k]), 0)  # left, down, right
            edges[k * kinds + cell.shifted(p, back(ALONG[k - 1]))] = edge
            corners[k * kinds + cell.shifted(p, ALONG[k], back(ALONG[k - 1]))] = joined(edge, 0)
    return scaled(Around(tuple(corners), tuple(edges)))


def scaled(around: Around) -> Around:
    """All of norm 1."""
    return Around(*(tuple(x / np.linalg.norm(x) for x in group) for group in around))


def rows(around: Around, layers: Sequence[Array]) -> list[Array]:
    """Edges with the site below: ``[y, l, d, y', r]`` of each direction and kind."""
    kinds, found = len(layers), []
    for i, edge in enumerate(around.edges):
        layer = layers[i % kinds].transpose(LEGS[i // kinds])
        found.append(np.tensordot(edge, layer, (1, 0)).transpose(0, 2, 3, 1, 4))
    return found


def enlarged(around: Around, grown: Sequence[Array], cell: Cell) -> list[Array]:
    """Corners with the site and both edges: matrices from the legs (x', d) that come in to (y', r) that go out."""
    kinds, found = len(cell.first), []
    for i, row in enumerate(grown):
        before = around.edges[i - kinds]  # of direction k - 1 at the same site; of k = 0: from the end of the list
        x, left = before.shape[0], before.shape[1]
        half = (before.reshape(x * left, -1) @ around.corners[i]).reshape(x, left, -1)
        half = half.transpose(0, 2, 1).reshape(x, -1)  # x', (y, l)
        y, left, d, out, r = row.shape
        found.append((half @ row.reshape(y * left, -1)).reshape(x * d, out * r))
    return found


def absorbed(
    grown: Sequence[Array],
    corners: Sequence[Array],
    projectors: Sequence[tuple[Array, Array]],
    cell: Cell,
    normal: Callable[[Array, int, int], Array],
) -> Around:
    """All corners and edges one row further out; `normal` sets norm and phase of each."""
    kinds = len(cell.first)
    new_corners, new_edges = [None] * len(corners), [None] * len(corners)
    for i, (row, corner) in enumerate(zip(grown, corners, strict=True)):
        k, p = divmod(i, kinds)
        a = projectors[i][0]
        side = projectors[((k - 1) % 4) * kinds + cell.shifted(p, back(ALONG[k - 1]))][1]
        here = projectors[k * kinds + cell.shifted(p, back(ALONG[k]))][1]
        at = k * kinds + cell.shifted(p, ALONG[k], back(ALONG[k - 1]))
        new_corners[at] = normal(side.T @ corner @ a, 0, at)
        y, left, d, out, r = row.shape
        edge = (here.T @ row.reshape(y * left, -1)).reshape(-1, out * r) @ a
        at = k * kinds + cell.shifted(p, back(ALONG[k - 1]))
        new_edges[at] = normal(edge.reshape(here.shape[1], d, a.shape[1]), 1, at)
    return Around(tuple(new_corners), tuple(new_edges))
