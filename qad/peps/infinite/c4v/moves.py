"""One step of the corner transfer matrix, where rotations and reflections leave one corner C and one edge T.

Legs run clockwise: ``C[in, out]`` and ``T[in, site, out]``, stacks of one, and both are Hermitian in their outer legs
(symmetric where the state is real).  An isometry U from the legs (outer, site) of two rows to one new leg grows the
corner to M and both by a row:

    C' = U^H M U,      T'[z, d, w] = U*[(y, l), z] G[y, l, d, w],      G = T a U

The row G is shared: ``M U = Y^H G`` with ``Y = C T``.  U spans the kept space of M itself (eigh) or of Y alone (QR),
which is cheaper by far: then ``Y = U W``, and what the new edge holds serves the corner too, ``Y^H G = W^H U^H G``.
Y. Zhang, Q. Yang and P. Corboz, arXiv:2505.00494.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.peps.infinite.iteration import Around

if TYPE_CHECKING:
    from qad.typing import Array


def column(around: Around) -> Array:
    """``C T``, the legs (outer, site) that go to the right by the leg that goes down."""
    _, chi, p, _ = around.edges.shape
    return (around.corners.reshape(chi, chi) @ around.edges.reshape(chi, -1)).reshape(chi * p, chi)


def row(around: Around, layer: Array, u: Array) -> Array:
    """``G[(y, l), (d, w)]``: the edge with a site below, its right end projected by U."""
    _, chi, p, _ = around.edges.shape
    projected = around.edges.reshape(chi * p, chi) @ u.reshape(chi, -1)  # (y, u), (r, w)
    return (layer @ projected.reshape(chi, p * p, -1)).reshape(chi * p, -1)


def grown(around: Around, layer: Array, u: Array, y: Array, spans: bool) -> Around:
    """Corner and edge one row further out, kept by U, of any norm; Hermitian, but for rounding.

    `y` is the `column`, and `spans` says whether U spans it.
    """
    _, chi, p, _ = around.edges.shape
    kept = u.shape[1]
    below, back = row(around, layer, u), u.conj().T
    edge = back @ below
    half = (back @ y).conj().T @ edge if spans else y.conj().T @ below
    corner, edge = back @ half.reshape(chi * p, kept), edge.reshape(1, kept, p, kept)
    return Around((corner + corner.conj().T).reshape(1, kept, kept), edge + edge.conj().transpose(0, 3, 2, 1))


def enlarged(around: Around, layer: Array) -> np.ndarray:
    """The corner M of a row more, not truncated."""
    _, chi, p, _ = around.edges.shape
    whole = row(around, layer, np.eye(chi * p))
    return (column(around).conj().T @ whole).reshape(chi * p, chi * p)
