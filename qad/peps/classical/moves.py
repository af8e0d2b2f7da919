"""Corner transfer matrices of one tensor: the moves of `qad.peps.infinite.cells` with the projectors of QR moves.

A cut is made to the states that its two quarters reach,

    L = T[s-1] C[s],   R = C[s+1] T[s+1],   1 ~ A B^T,   B = L (B0^H L)^-1,   A = R (B^T R)^-1,

so that ``B^T A = 1``.  The cut depends on the ranges of L and R alone, and is carried along by every change of basis of
the bonds; so the constant reference B0 may fix that basis, and derivatives of all orders are those of an isolated fixed
point.  This is the method of QR moves (Y. Zhang, Q. Yang and P. Corboz, arXiv:2505.00494) for two spaces that differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy  # loads scipy.sparse.linalg when it is first used

from qad.contract import einsum
from qad.peps.infinite.cells import moves
from qad.peps.infinite.cells.lattice import ONE_SIDE, Wiring, cell_of, wiring
from qad.peps.infinite.cells.moves import enlarged, rows, start
from qad.peps.infinite.cells.projectors import sides, truncated
from qad.peps.infinite.cut import kept
from qad.peps.infinite.iteration import Around, scaled, unit
from qad.peps.infinite.polar import polar
from qad.peps.infinite.transfer import largest, transfer

if TYPE_CHECKING:
    from qad.typing import Array

ONE = cell_of(("A",))
GENERAL = wiring(ONE)
TURNED = ONE_SIDE
TINY = 1e-8  # singular values of two quarters, relative: what is left out has a weight of its square


class Frame(NamedTuple):
    """Bases of the states on the left of all cuts, and the environment there: constants of derivatives."""

    bases: np.ndarray
    around: Around


def seen(tensor: Array, w: Wiring) -> Array:
    """The site as each side sees it."""
    return moves.seen([tensor])[: len(w.before)]


def begun(tensor: np.ndarray, w: Wiring, closing: np.ndarray | None = None) -> Around:
    """Corners and edges of one tensor, closed by a vector, or by what a row of single sites makes of ones."""
    around = start([tensor], ONE, boundary if closing is None else lambda site: closing)
    return Around(*(x[: len(w.before)] for x in around))


def boundary(site: np.ndarray) -> np.ndarray:
    """The vector that closes the first leg of a site, from ones: no symmetry is broken, no sector is left out."""
    row = einsum("ulvl->vu", site)
    v = np.ones(len(row), row.dtype) / np.sqrt(len(row))
    row = row @ row + np.linalg.norm(row) ** 2 * np.eye(len(row))
    for _ in range(50 if row.any() else 0):
        v = row @ v
        v = v / np.linalg.norm(v)
    return v


def grown(around: Around, layers: np.ndarray, w: Wiring, chi: int, at_gap: bool = False) -> Around:
    """The lattice with one more site on each side, bonds cut by the singular values of two quarters.

    Up to `chi` are kept; or about `chi`, where neighbouring values differ most.
    """

    def cut(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
        mean = np.prod(values / values[:, :1], axis=0) ** (1 / len(values))
        return np.full(len(values), kept(mean, chi, TINY) if at_gap else min(int(np.sum(mean > TINY)), chi))

    row = rows(around, layers)
    quarters = enlarged(around, row, w)
    if w is TURNED:  # the quarter is its own mirror image: of two, singular values are the squares of its eigenvalues
        values, vectors = np.linalg.eigh(quarters.reshape(row[0, :, :, 0, 0, 0].size, -1))
        order = np.argsort(-np.abs(values), kind="stable")
        a = b = vectors[None, :, order[: cut(values[None, order] ** 2, np.zeros(1, int))[0]]]
        return unit(absorbed(row, quarters, a, b, w), None)
    a, b, *_ = truncated(sides(quarters, w, "half"), cut, None)
    return unit(moves.absorbed(row, quarters, a, b, w), None)


def absorbed(row: Array, quarters: Array, a: Array, b: Array, w: Wiring) -> Around:
    """All sides one row further out, by A and B as matrices ``((bond, leg), state)``."""
    n, chi, p = row.shape[:3]
    a, b = a.reshape(n, chi, p, -1), b.mT.reshape(n, -1, chi, p)
    return moves.absorbed(row, quarters, a, b, w)


def states(around: Around, w: Wiring) -> tuple[Array, Array]:
    """What the quarters before and behind each cut reach, as matrices ((bond, leg), state)."""
    corners, edges = around
    n, chi, p, _ = edges.shape
    before, after = list(w.before), list(w.after)
    left = edges[before].reshape(n, chi * p, chi) @ corners
    right = corners[after] @ edges[after].reshape(n, chi, p * chi)
    return left.reshape(n, chi, p, chi).transpose(0, 3, 2, 1).reshape(n, chi * p, chi), right.reshape(n, chi * p, chi)


def first(around: Around, layers: np.ndarray, w: Wiring) -> Frame:
    """Bases of the left states in which the next step is like the environment: an edge, then corner by corner."""
    bases = np.linalg.qr(states(around, w)[0])[0]
    new = step(around, layers, w, Frame(bases, around))
    turns = [turn(new.edges[0], around.edges[0])]
    for x, y in zip(new.corners[1:], around.corners[1:], strict=True):
        turns.append(polar(x.T @ turns[-1] @ y.conj()))
    return Frame(bases @ np.stack(turns), around)


def turn(new: np.ndarray, old: np.ndarray) -> np.ndarray:
    """The unitary r for which ``r^T new conj(r)`` is most like the edge `old`, from their common transfer operator."""
    k = len(old)
    try:
        x = largest(transfer([new.conj().transpose(2, 1, 0)], [old.transpose(2, 1, 0)]), k * k, new.dtype)[1]
    except scipy.sparse.linalg.ArpackError:  # levels crowd: any guess serves, as the basis follows the steps
        x = np.eye(k).ravel()
    x = x if np.iscomplexobj(new) else (x * x[np.argmax(np.abs(x))].conj()).real
    return polar(x.reshape(k, k)).conj()


def frame(around: Around, w: Wiring, previous: Frame) -> Frame:
    """Orthonormal bases of the left states, turned to those of the `previous` frame; and the environment itself."""
    bases = np.linalg.qr(states(around, w)[0])[0]
    return Frame(bases @ polar(bases.conj().mT @ previous.bases), around)


def projectors(around: Around, w: Wiring, reference: Frame) -> tuple[Array, Array]:
    """A and B of all cuts, in the bases of `reference`."""
    left, right = states(around, w)
    b = np.linalg.solve((reference.bases.conj().mT @ left).mT, left.mT).mT
    return np.linalg.solve((b.mT @ right).mT, right.mT).mT, b


def step(around: Around, layers: Array, w: Wiring, reference: Frame) -> Around:
    """One more row and column on every side, in the bases and the scale of `reference`, which is constant."""
    row = rows(around, layers)
    quarters = enlarged(around, row, w)
    return scaled(absorbed(row, quarters, *projectors(around, w, reference), w), reference.around)


def per_site(around: Around, layers: Array, w: Wiring) -> Array:
    """Z per site: a site between four edges and four corners, beside the same without its row, column, or both."""
    n, chi, p = around.edges.shape[:3]
    c, (left, right) = [around.corners[s % n] for s in range(4)], states(around, w)
    quarter = enlarged(around, rows(around, layers), w)[0].reshape(chi * p, chi * p)
    full = (left[3 % n].mT @ quarter) @ (right[0] @ c[2])
    row, column = (left[0].mT @ right[0]) @ (c[2] @ c[3]), (left[1 % n].mT @ right[1 % n]) @ (c[3] @ c[0])
    return np.trace(full) * np.trace(c[0] @ c[1] @ c[2] @ c[3]) / (np.trace(row) * np.trace(column))


def loss(around: Around, layers: np.ndarray, w: Wiring, reference: Frame) -> tuple[float, float]:
    """What the cuts of a step leave out of two quarters, and the least that this number of states could, relative."""
    first, second, *_ = sides(enlarged(around, rows(around, layers), w), w, "half")
    a, b = projectors(around, w, reference)
    m = first @ second
    values = np.linalg.svd(m)[1]
    left_out = np.linalg.norm(m - (first @ a) @ (b.mT @ second), axis=(1, 2))
    least = np.linalg.norm(values[:, b.shape[2] :], axis=1)
    return (left_out / values[:, 0]).max(), (least / values[:, 0]).max()
