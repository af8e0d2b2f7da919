"""The derivative of a step at its fixed point, transposed and written out; see `qad.peps.infinite.implicit`.

A name with a `g` behind it is the cotangent of what the name stands for; the rule of a product Z = X Y is
``Xg = Zg Y^H``, ``Yg = X^H Zg``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.peps.infinite.cells.moves import absorbed, enlarged, rows
from qad.peps.infinite.cells.projectors import Spaces, sides
from qad.peps.infinite.iteration import Around, weighted

if TYPE_CHECKING:
    from qad.peps.infinite.cells.lattice import Wiring


class LinearizedStep:
    """The step around its fixed point: what its derivative is made of.

    Parameters
    ----------
    around : Around
        The fixed point.
    layers : array
        As `stacked` makes them.
    at : Spaces
        The decompositions of the cuts there.
    """

    around: Around
    at: Spaces
    w: Wiring
    method: str
    layers_back: np.ndarray
    grown: np.ndarray  # edges with the site below
    corners: np.ndarray  # enlarged
    pair: tuple[np.ndarray, np.ndarray]  # both sides of the cuts
    root: np.ndarray  # S^(1/2)
    first: np.ndarray  # S^(-1/2) T
    a: np.ndarray  # A and B
    b: np.ndarray
    half: np.ndarray  # edge and corner, which an enlarged corner has before its row
    new: Around  # before they are scaled
    sizes: list[np.ndarray]

    def __init__(self, around: Around, layers: np.ndarray, at: Spaces, w: Wiring, method: str):
        self.around, self.at, self.w, self.method = around, at, w, method
        self.layers_back = adjoint(layers)
        self.grown = rows(around, layers)
        self.corners = enlarged(around, self.grown, w)
        self.pair = sides(self.corners, w, method)
        self.root = np.sqrt(at.s)
        self.first = at.turn / self.root[:, :, None]  # A = b V S^(-1/2) T, and B = a^T conj(U S^(-1/2) T)
        self.a, self.b = self.pair[1] @ (at.v @ self.first), self.pair[0].mT @ (at.u @ self.first).conj()
        n, chi, p, _ = around.edges.shape
        half = around.edges[list(w.before)].reshape(n, chi * p, chi) @ around.corners
        self.half = half.reshape(n, chi, p, chi).transpose(0, 1, 3, 2).reshape(n, chi, -1)
        self.new = absorbed(self.grown, self.corners, self.a, self.b, w)
        self.sizes = [overlaps(x, y) for x, y in zip(around, self.new, strict=True)]

    def residual(self) -> float:
        """How far the step goes from the fixed point."""
        change = (x / size - y for x, size, y in zip(self.new, self.sizes, self.around, strict=True))
        return weighted(Around(*change), self.around, self.w.after)

    def pullback(self, cotangent: tuple[np.ndarray, np.ndarray]) -> Around:
        """The adjoint of the derivative by corners and edges."""
        corners, grown = self.of_step(cotangent)
        return self.of_enlarged(corners, grown)

    def of_layer(self, cotangent: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """The adjoint of the derivative by the double layers."""
        n, p = len(self.around.edges), self.around.edges.shape[2]
        corners, grown = self.of_step(cotangent)
        edges = self.around.edges.transpose(0, 1, 3, 2).reshape(n, -1, p)
        return adjoint(edges) @ self.of_rows(corners, grown)

    def of_step(self, cotangent: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Cotangents of enlarged corners, and of rows in what is not an enlarged corner."""
        w = self.w
        new = [
            (g - x * overlaps(x, g)) / size.conj()
            for g, x, size in zip(cotangent, self.around, self.sizes, strict=True)
        ]
        corners_g, grown_g, first_g, second_g = self.of_absorbed(back(new[0], w.corner), back(new[1], w.edge))
        ag, bg = self.of_projectors(first_g, second_g.conj())
        if self.method == "full":
            under, over = list(w.under), list(w.over)
            across = self.corners[list(w.across)]
            corners_g = corners_g + adjoint(self.corners[under]) @ ag + back(ag @ adjoint(self.corners), w.under)
            corners_g = corners_g + back(adjoint(across) @ bg, w.over)
            corners_g = corners_g + back(bg @ adjoint(self.corners[over]), w.across)
        else:
            corners_g = corners_g + ag + back(bg, w.across)
        return corners_g, grown_g

    def of_absorbed(self, corners: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, ...]:
        """Cotangents of enlarged corners, rows, A and B from those of new corners and edges."""
        w, a, b, grown = self.w, self.a, self.b, self.grown
        n, chi, p, _ = edges.shape
        side, here = b[list(w.side)], b[list(w.here)]
        after = self.corners @ a
        after_g = side.conj() @ corners
        row = (here.mT @ grown).reshape(n, chi * p, chi * p)
        edges = edges.reshape(n, chi * p, chi)
        row_g = (edges @ adjoint(a)).reshape(n, chi, -1)
        first = adjoint(self.corners) @ after_g + adjoint(row) @ edges
        second = back(after.conj() @ corners.mT, w.side) + back(grown.conj() @ row_g.mT, w.here)
        return after_g @ adjoint(a), here.conj() @ row_g, first, second

    def of_projectors(self, first_g: np.ndarray, second_g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Cotangents of both sides of the cuts, from that of A and the conjugate of that of B."""
        (a, b), at, k = self.pair, self.at, self.first
        s, others = at.s[:, None], at.others[:, :, None]
        v_k, u_k = adjoint(b) @ first_g, a @ second_g
        vg, ug = v_k @ adjoint(k), u_k @ adjoint(k)
        turn = adjoint(at.turn)
        values_g, root_g = self.of_bases(adjoint(at.v) @ v_k @ turn, adjoint(at.u) @ u_k @ turn)
        values_g = values_g + root_g * s
        gap = s**2 - others**2
        xg, yg = adjoint(at.rest_u) @ ug, adjoint(at.rest_v) @ vg
        eg, fg = (xg * s + others * yg) / gap, (others * xg + yg * s) / gap
        mg = (at.u @ values_g + at.rest_u @ eg) @ adjoint(at.v) + at.u @ adjoint(at.rest_v @ fg)
        mg = mg * at.scale
        ag = at.u @ k @ adjoint(second_g) + mg @ adjoint(b)
        return ag, first_g @ adjoint(at.v @ k) + adjoint(a) @ mg

    def of_bases(self, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Cotangents of ``S = U^H M V``, and of ``S S^H`` by its fourth root R, from those of ``S^-1 R`` and R^-1."""
        x, y = self.root[:, :, None], self.root[:, None, :]
        first = first / x**2
        root = (first - second / (x * y)) / ((x + y) * (x * x + y * y))
        return -first / y, root + adjoint(root)

    def of_enlarged(self, corners: np.ndarray, grown: np.ndarray) -> Around:
        """Cotangents of corners and edges from those of `of_step`."""
        n, chi, p, _ = self.around.edges.shape
        half = (
            (corners.reshape(n, chi, -1) @ adjoint(self.grown))
            .reshape(n, chi, chi, p)
            .transpose(0, 1, 3, 2)
            .reshape(n, chi * p, chi)
        )
        before = self.around.edges[list(self.w.before)].reshape(n, chi * p, chi)
        edges = (self.of_rows(corners, grown) @ self.layers_back).reshape(n, chi, chi, p).transpose(0, 1, 3, 2)
        edges = edges + back((half @ adjoint(self.around.corners)).reshape(n, chi, p, chi), self.w.before)
        return Around(adjoint(before) @ half, edges)

    def of_rows(self, corners: np.ndarray, grown: np.ndarray) -> np.ndarray:
        """The cotangent of all rows, matrices from both ends of the edge to the legs of the layer."""
        n, chi, p, _ = self.around.edges.shape
        grown = grown + adjoint(self.half) @ corners.reshape(n, chi, -1)
        return grown.reshape(n, chi, p, p, chi, p).transpose(0, 1, 4, 2, 3, 5).reshape(n, chi * chi, -1)


def adjoint(x: np.ndarray) -> np.ndarray:
    """Conjugate transposes of a stack."""
    return x.conj().mT


def back(x: np.ndarray, order: tuple[int, ...]) -> np.ndarray:
    """A stack whose members come from `order`, back where they were."""
    found = np.empty_like(x)
    found[list(order)] = x
    return found


def overlaps(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The inner products of the members of two stacks."""
    axes = tuple(range(1, x.ndim))
    return (x.conj() * y).sum(axes, keepdims=True)
