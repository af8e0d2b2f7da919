"""Corner transfer matrices of one tensor without symmetries: four corners, four edges, oblique projectors.

Sides are numbered clockwise, 0 the upper one; ``edges[s][i, p, j]`` is joined to its neighbours on that side by i
(before) and j (behind) and faces the lattice with p; ``corners[s]`` stands between the sides s - 1 and s.  A bond
(i, p) of side s is cut to the states that its two quarters reach,

    L = T[s-1] C[s],   R = C[s+1] T[s+1],   1 ~ A B^T,   B = L (B0^H L)^-1,   A = R (B^T R)^-1,

so that ``B^T A = 1``.  The cut depends on the ranges of L and R alone, and is carried along by every change of basis of
the bonds; so the constant reference B0 may fix that basis, and derivatives of all orders are those of an isolated fixed
point.  This is the method of QR moves (Y. Zhang, Q. Yang and P. Corboz, arXiv:2505.00494) for two spaces that differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.contract import einsum
from qad.peps.classical.ranks import boundary, favoured, rank_at_gap, turn, unitary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Array

    Environment = tuple[list[Array], list[Array]]
    Frame = tuple[list[np.ndarray], Environment]

SIDES = range(4)

__all__ = [
    "absorbed", "distance", "edge", "favoured", "first", "frame", "grown", "loss", "per_site", "rank", "start", "step",
    "unfolded",
]  # fmt: skip


def start(tensor: np.ndarray, closing: np.ndarray | None = None) -> Environment:
    """Corners and edges of one tensor, closed by a vector, or by what a row of single sites makes of ones."""
    corners, edges = [], []
    for t in turned(tensor):
        v = boundary(t) if closing is None else closing
        edges.append(unit(einsum("ulvr,u->lvr", t, v)))
        corners.append(unit(einsum("ulvr,u,l->vr", t, v, v)))
    return corners, edges


def grown(environment: Environment, tensor: np.ndarray, chi: int, window: float = 0.0) -> Environment:
    """The lattice with one more site on each side, bonds cut by the singular values of two quarters.

    Up to `chi` are kept; with a `window`, where neighbouring values differ most, within this fraction around `chi`.
    """
    sites = turned(tensor)
    quarters = [matrix(q) for q in enlarged(environment, sites)]
    cuts = [np.linalg.svd(quarters[s] @ quarters[(s + 1) % 4]) for s in SIDES]
    shortest = min(len(values) for _, values, _ in cuts)
    k = rank_at_gap(np.prod([values[:shortest] / values[0] for _, values, _ in cuts], axis=0) ** 0.25, chi, window)
    before, behind = [], []
    for s, (u, values, vh) in enumerate(cuts):
        shape, weight = (environment[1][s].shape[0], sites[s].shape[1], k), values[:k] ** -0.5
        before.append((quarters[(s + 1) % 4] @ vh[:k].conj().T * weight).reshape(shape))
        behind.append((quarters[s].T @ u[:, :k].conj() * weight).reshape(shape))
    corners, edges = absorbed(environment, sites, before, behind)
    return [unit(c) for c in corners], [unit(t) for t in edges]


def turned(tensor: Array) -> list[Array]:
    """The site as each side sees it: legs (facing it, before, opposite, behind)."""
    return [tensor.transpose([(n - s) % 4 for n in SIDES]) for s in SIDES]


def enlarged(environment: Environment, sites: Sequence[Array]) -> list[Array]:
    """The quarters of one more row and column, legs (bond, leg of the site) of the side before and of that behind."""
    corners, edges = environment
    return [einsum("ji,xpj,ify,fpqr->xqyr", corners[s], edges[s - 1], edges[s], sites[s]) for s in SIDES]


def absorbed(
    environment: Environment, sites: Sequence[Array], before: Sequence[Array], behind: Sequence[Array]
) -> Environment:
    """Corners and edges of one more row and column, by projectors ``A`` (what stands before a cut) and ``B``."""
    corners, edges = environment
    new_edges, new_corners = [], []
    for s in SIDES:
        row = einsum("jrm,ifj,fqgr->qigm", before[s], edges[s], sites[s])
        new_edges.append(einsum("iqk,qigm->kgm", behind[s], row))
        column = einsum("ji,xpj,xqk->pqik", corners[s], edges[s - 1], behind[s - 1])
        row = einsum("ify,fpqr,yrm->ipqm", edges[s], sites[s], before[s])
        new_corners.append(einsum("pqik,ipqm->km", column, row))
    return new_corners, new_edges


def states(environment: Environment, s: int) -> tuple[Array, Array]:
    """What the quarters before and behind a cut of side s reach, as matrices ((bond, leg), state)."""
    corners, edges = environment
    left = einsum("zpj,ji->ipz", edges[s - 1], corners[s])
    right = einsum("ji,ipz->jpz", corners[(s + 1) % 4], edges[(s + 1) % 4])
    return left.reshape(-1, left.shape[2]), right.reshape(-1, right.shape[2])


def first(environment: Environment, tensor: np.ndarray) -> Frame:
    """Bases of the left states in which the next step is like the `environment`: an edge, then corner by corner."""
    bases = [np.linalg.qr(states(environment, s)[0])[0] for s in SIDES]
    corners, edges = step(environment, tensor, (bases, environment))
    turns = [turn(edges[0], environment[1][0])]
    for new, old in zip(corners[1:], environment[0][1:], strict=True):
        turns.append(unitary(new.T @ turns[-1] @ old.conj()))
    return [b @ r for b, r in zip(bases, turns, strict=True)], environment


def frame(environment: Environment, previous: Frame) -> Frame:
    """Orthonormal bases of the left states, turned to those of the `previous` frame; and the environment itself."""
    bases = []
    for s in SIDES:
        q = np.linalg.qr(states(environment, s)[0])[0]
        bases.append(q @ unitary(q.conj().T @ previous[0][s]))
    return bases, environment


def distance(old: Environment, new: Environment) -> float:
    """The largest change of a corner, or of an edge between corners, relative."""
    changes = [np.linalg.norm(y - x) for x, y in zip(old[0], new[0], strict=True)]
    for s in SIDES:
        before, behind = (new[0][s], new[0][(s + 1) % 4])
        weighed = [einsum("ij,jpk,kl->ipl", before, t[s], behind) for t in (new[1], old[1])]
        changes.append(np.linalg.norm(weighed[0] - weighed[1]) / np.linalg.norm(weighed[0]))
    return max(changes)


def step(environment: Environment, tensor: Array, reference: Frame) -> Environment:
    """One more row and column on every side, in the bases and the scale of `reference`, which is constant."""
    sites = turned(tensor)
    before, behind = [], []
    for s in SIDES:
        left, right = states(environment, s)
        b = np.linalg.solve((reference[0][s].conj().T @ left).mT, left.mT).mT
        a = np.linalg.solve((b.mT @ right).mT, right.mT).mT
        shape = (environment[1][s].shape[0], sites[s].shape[1], -1)
        before.append(a.reshape(shape))
        behind.append(b.reshape(shape))
    corners, edges = absorbed(environment, sites, before, behind)
    old_corners, old_edges = reference[1]
    return (
        [c / np.sum(o.conj() * c) for c, o in zip(corners, old_corners, strict=True)],
        [t / np.sum(o.conj() * t) for t, o in zip(edges, old_edges, strict=True)],
    )


def per_site(environment: Environment, tensor: Array) -> Array:
    """Z per site: a site between four edges and four corners, beside the same without its row, column, or both."""
    c = environment[0]
    quarter = enlarged(environment, turned(tensor))[0]
    (above, beyond), (below, last) = states(environment, 0), states(environment, 1)
    full = (states(environment, 3)[0].mT @ matrix(quarter)) @ (beyond @ c[2])
    row, column = (above.mT @ beyond) @ (c[2] @ c[3]), (below.mT @ last) @ (c[3] @ c[0])
    return np.trace(full) * np.trace(c[0] @ c[1] @ c[2] @ c[3]) / (np.trace(row) * np.trace(column))


def matrix(quarter: Array) -> Array:
    """An enlarged corner as a matrix from the cut of the side before to that of the side behind."""
    x, q, y, r = quarter.shape
    return quarter.reshape(x * q, y * r)


def unit(array: np.ndarray) -> np.ndarray:
    """The array with norm one."""
    return array / np.linalg.norm(array)


def unfolded(symmetric: tuple[np.ndarray, np.ndarray]) -> Environment:
    """The environment that has one corner and one edge on all sides."""
    corner, edge = symmetric
    return [corner] * 4, [edge] * 4


def edge(environment: Environment) -> np.ndarray:
    """One of the edges."""
    return environment[1][0]


def rank(environment: Environment) -> int:
    """The number of states of a bond."""
    return len(environment[0][0])


def loss(environment: Environment, tensor: np.ndarray, reference: Frame) -> tuple[float, float]:
    """What the cuts of a step leave out of two quarters, and the least that this number of states could, relative."""
    sites = turned(tensor)
    quarters = [matrix(q) for q in enlarged(environment, sites)]
    found, least = 0.0, 0.0
    for s in SIDES:
        right, b = states(environment, s)[1], reference[0][s]
        a = np.linalg.solve((b.T @ right).T, right.T).T
        m, k = quarters[s] @ quarters[(s + 1) % 4], b.shape[1]
        values = np.linalg.svd(m)[1]
        found = max(found, np.linalg.norm(m - (quarters[s] @ a) @ (b.T @ quarters[(s + 1) % 4])) / values[0])
        least = max(least, np.linalg.norm(values[k:]) / values[0])
    return found, least
