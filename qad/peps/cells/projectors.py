"""Projectors on the cuts between enlarged corners.

With F_a and F_b what stands on both sides of a cut, and ``F_a^T F_b = U S V^H`` truncated,

    A = F_b V S^(-1/2) g,        B = F_a conj(U S^(-1/2) g),        A B^T ~ 1.

g is unitary, so that the metric of the truncation stays as it is: the one that is nearest to a reference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qad.linalg import funm_herm, polar
from qad.peps.cells.lattice import ALONG, Cell, back
from qad.peps.cut import kept

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Array

LEAST = {"half": 1e-7, "full": 1e-10}  # relative, of S: about the square and the fourth power of a corner's values


class Spaces(NamedTuple):
    """The singular value decomposition of a cut at a fixed point, and the basis g: constants of derivatives."""

    u: np.ndarray
    s: np.ndarray
    v: np.ndarray
    rest_u: np.ndarray
    others: np.ndarray  # the discarded values, a diagonal matrix
    rest_v: np.ndarray
    turn: np.ndarray
    scale: float  # that M is multiplied by


def sides(corners: Sequence[Array], cell: Cell, method: str) -> list[tuple[Array, Array]]:
    """F_a and F_b of each cut, with the legs of the cut first."""
    kinds, found = len(cell.first), []

    def corner(k, p):
        return corners[(k % 4) * kinds + p]

    for k in range(4):
        for p in range(kinds):
            beside = cell.shifted(p, ALONG[k])
            a, b = corner(k, p), corner(k + 1, beside)
            if method == "full":
                a = corner(k - 1, cell.shifted(p, back(ALONG[k - 1]))) @ a
                b = b @ corner(k + 2, cell.shifted(beside, ALONG[(k + 1) % 4]))
            found.append((a.T, b))
    return found


def truncated(
    pair: tuple[np.ndarray, np.ndarray], size: int | None, chi: int, method: str, reference: np.ndarray | None
) -> tuple[tuple[np.ndarray, np.ndarray], Spaces]:
    """A and B of a cut, of `size` states or about `chi`, near the reference A."""
    fa, fb = pair
    m = fa.T @ fb
    scale = 1 / np.linalg.norm(m)
    u, s, vh = np.linalg.svd(m * scale)
    v = vh.conj().T
    k = kept(s, chi, LEAST[method]) if size is None else size
    root = np.sqrt(s[:k])
    a, b = fb @ (v[:, :k] / root), fa @ (u[:, :k] / root).conj()
    turn = np.eye(k, dtype=a.dtype)
    if reference is not None and reference.shape == a.shape:
        left, _, right = np.linalg.svd(b.T @ reference)
        turn = left @ right
    others = np.zeros((len(u) - k, len(v) - k))
    np.fill_diagonal(others, s[k:])
    return (a @ turn, b @ turn.conj()), Spaces(u[:, :k], s[:k], v[:, :k], u[:, k:], others, v[:, k:], turn, scale)


def smooth(pair: tuple[Array, Array], at: Spaces, order: int) -> tuple[Array, Array]:
    """A and B of a cut as smooth functions, right to some order around the decomposition `at`.

    The values are those of the polar factor of ``U^H M V``: nothing is divided by differences of kept values.
    """
    fa, fb = pair
    m = (fa.T @ fb) * at.scale
    u, v = spaces_of(m, at, order)
    values = u.conj().T @ m @ v
    _, h = polar(values, side="left")
    root = funm_herm(np.sqrt, (h + h.conj().T) / 2)
    return fb @ v @ np.linalg.solve(values, root @ at.turn), fa @ (u @ np.linalg.solve(root, at.turn)).conj()


def spaces_of(m: Array, at: Spaces, order: int) -> tuple[Array, Array]:
    """Bases of the kept spaces of M, ``U + U_rest X`` and ``V + V_rest Y``, orthonormal to third order.

    Newton's method with the derivative at the decomposition: each step is right to one order more.

        X S - S_rest Y = U_rest^H M V - X U^H M V,      Y S - S_rest^H X = V_rest^H M^H U - Y V^H M^H U
    """
    x = y = None
    u, v = at.u, at.v
    back = m.conj().T
    for _ in range(order):
        mv, mu = m @ v, back @ u
        e, f = at.rest_u.conj().T @ mv, at.rest_v.conj().T @ mu
        if x is not None:
            e, f = e - x @ (at.u.conj().T @ mv), f - y @ (at.v.conj().T @ mu)
        dx = (e * at.s + at.others @ f) / (at.s**2 - (at.others**2).sum(1)[:, None])
        dy = (f * at.s + at.others.T @ e) / (at.s**2 - (at.others**2).sum(0)[:, None])
        x, y = (dx, dy) if x is None else (x + dx, y + dy)
        u, v = at.u + at.rest_u @ x, at.v + at.rest_v @ y
    if order > 1:
        one = 3 * np.eye(len(at.s))
        u, v = (z @ (one - z.conj().T @ z) / 2 for z in (u, v))
    return u, v
