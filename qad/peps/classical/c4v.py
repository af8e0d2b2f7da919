"""Corner transfer matrices of a real tensor that every rotation and reflection leaves as it is: one corner, one edge.

The bond is cut to the states that a quarter of the lattice reaches, ``Y = C T``, in an orthonormal basis U:

    Z = Y (U0^T Y)^-1,   U = Z (3 - Z^T Z) / 2

for a constant reference U0.  Around the fixed point, where ``U = U0``, this is orthonormal through third order, and
needs no derivative of a decomposition (QR moves: Y. Zhang, Q. Yang and P. Corboz, arXiv:2505.00494).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.contract import einsum
from qad.peps.classical import ranks
from qad.peps.classical.ranks import boundary, rank_at_gap, turn, unitary

if TYPE_CHECKING:
    from qad.typing import Array

    Environment = tuple[Array, Array]
    Frame = tuple[np.ndarray, Environment]


def start(tensor: np.ndarray, closing: np.ndarray | None = None) -> Environment:
    """Corner and edge of one tensor, closed by a vector, or by what a row of single sites makes of ones."""
    v = boundary(tensor) if closing is None else closing
    corner, edge = einsum("ulvr,u,l->vr", tensor, v, v), einsum("ulvr,u->lvr", tensor, v)
    return corner / np.linalg.norm(corner), edge / np.linalg.norm(edge)


def grown(environment: Environment, tensor: np.ndarray, chi: int, window: float = 0.0) -> Environment:
    """The lattice with one more site on each side, bonds cut by the eigenvalues of a quarter."""
    m = quarter(environment, tensor)
    chi_old, p = m.shape[:2]
    values, vectors = np.linalg.eigh(symmetric(m.reshape(chi_old * p, -1)))
    order = np.argsort(-np.abs(values), kind="stable")
    k = rank_at_gap(values[order] ** 2, chi, window)
    corner, edge = absorbed(environment, tensor, vectors[:, order[:k]].reshape(chi_old, p, k))
    return corner / np.linalg.norm(corner), edge / np.linalg.norm(edge)


def quarter(environment: Environment, tensor: Array) -> Array:
    """The corner of one more row and column, legs (bond, leg of the site) twice."""
    corner, edge = environment
    return einsum("cd,cez,dfy,feqp->ypzq", corner, edge, edge, tensor)


def absorbed(environment: Environment, tensor: Array, basis: Array) -> Environment:
    """Corner and edge of one more row and column, their bonds cut to `basis` ``(bond, leg of the site, state)``."""
    corner, edge = environment
    row = einsum("xlk,xfz,flgr->kzgr", basis, edge, tensor)
    new_edge = einsum("kzgr,zrm->kgm", row, basis)
    half = einsum("cd,dfy->cfy", corner, edge)
    new_corner = einsum("cfy,mcpf,ypk->km", half, row, basis)
    return symmetric(new_corner), (new_edge + new_edge.transpose(2, 1, 0)) / 2


def first(environment: Environment, tensor: np.ndarray) -> Frame:
    """A basis of the states of a quarter in which the edge of the next step is like that of the `environment`."""
    basis = np.linalg.qr(states(environment))[0]
    edge = step(environment, tensor, (basis, environment))[1]
    return basis @ turn(edge, environment[1]), environment


def frame(environment: Environment, previous: Frame) -> Frame:
    """An orthonormal basis of the states of a quarter, turned to that of the `previous` frame; and the environment."""
    q = np.linalg.qr(states(environment))[0]
    return q @ unitary(q.T @ previous[0]), environment


def distance(old: Environment, new: Environment) -> float:
    """The change of the corner, or of the edge between corners, relative."""
    weighed = [einsum("ij,jpk,kl->ipl", new[0], e[1], new[0]) for e in (new, old)]
    return max(np.linalg.norm(new[0] - old[0]), np.linalg.norm(weighed[0] - weighed[1]) / np.linalg.norm(weighed[0]))


def states(environment: Environment) -> Array:
    """What a quarter reaches at a cut, as a matrix ((bond, leg of the site), state)."""
    corner, edge = environment
    y = einsum("xy,xpz->ypz", corner, edge)
    return y.reshape(-1, y.shape[2])


def step(environment: Environment, tensor: Array, reference: Frame) -> Environment:
    """One more row and column on every side, in the basis and the scale of `reference`, which is constant."""
    y = states(environment)
    z = np.linalg.solve((reference[0].T @ y).mT, y.mT).mT
    basis = 1.5 * z - 0.5 * z @ (z.mT @ z)
    corner, edge = absorbed(environment, tensor, basis.reshape(len(environment[0]), -1, z.shape[1]))
    old_corner, old_edge = reference[1]
    return corner / np.sum(old_corner * corner), edge / np.sum(old_edge * edge)


def per_site(environment: Environment, tensor: Array) -> Array:
    """Z per site: a site between four edges and four corners, beside the same without its row, column, or both."""
    corner = environment[0]
    y, square = states(environment), corner @ corner
    m = quarter(environment, tensor).reshape(len(y), -1)
    full = (y.mT @ m) @ (y @ corner)
    return np.trace(full) * np.trace(square @ square) / np.trace((y.mT @ y) @ square) ** 2


def symmetric(m: Array) -> Array:
    """The symmetric part of a matrix."""
    return (m + m.mT) / 2


def favoured(tensor: np.ndarray) -> np.ndarray:
    """The tensor in a field that has all symmetries of the lattice, and no other."""
    field = ranks.favoured(tensor)
    turns = [np.roll((0, 1, 2, 3), n) for n in range(4)]
    return sum(field.transpose(p) for n in turns for p in (n, n[::-1])) / 8


def unfolded(symmetric: Environment) -> Environment:
    """The environment itself."""
    return symmetric


def edge(environment: Environment) -> np.ndarray:
    """The edge."""
    return environment[1]


def rank(environment: Environment) -> int:
    """The number of states of a bond."""
    return len(environment[0])


def loss(environment: Environment, tensor: np.ndarray, reference: Frame) -> tuple[float, float]:
    """What the cuts of a step leave out of two quarters, and the least that this number of states could, relative."""
    m, u = quarter(environment, tensor), reference[0]
    m = m.reshape(len(u), -1)
    values = np.sort(np.linalg.eigvalsh(symmetric(m)) ** 2)[::-1]
    return np.linalg.norm(m @ m - (m @ u) @ (u.T @ m)) / values[0], np.linalg.norm(values[u.shape[1] :]) / values[0]
