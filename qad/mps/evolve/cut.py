"""Cuts of pairs of sites that the tape differentiates, the coupling to what is discarded included.

A pair is a matrix A = U S V^H, of which the first k singular values are kept as ``A ~ Q C``, Q = U_k an isometry and
C = Q^H A.  The basis of the new bond is arbitrary, so that the derivative is taken along the lift that does not turn it
(`qad.mps.gauge`).  With U_d, V_d and t the discarded vectors and values, s the kept ones, and E = dA::

    dQ = U_d X + (1 - U U^H) E V_k / s,     X = (U_d^H E V_k s + t V_d^H E^H U_k) / (s^2 - t^2)
    dC = Q^H E + X^H t V_d^H

Kept values may coincide; only a kept and a discarded one may not.  Where the discarded weight is nothing (1e-14), t is
left out of X: the derivative is then that of the pair itself, not that of a choice between faint vectors, which jumps
wherever two of their values cross.  A. Francuz, N. Schuch and B. Vanhecke, Phys. Rev. Research 7, 013237 (2025).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import Tensor, defvjp, primitive, value_of
from qad.linalg.equations.triangular import solve_upper
from qad.linalg.support import tolerances
from qad.linalg.truncation.rule import nonzero
from qad.mps.evolve.leading import leading, leading_first, loose, worthwhile
from qad.mps.evolve.tebd import MOST_CUTOFF
from qad.mps.gauge import carry, mirrored
from qad.mps.reached import check_reached

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from qad.mps.evolve.tebd import Truncation
    from qad.typing import Array

    Triple: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]

FAINT = 1e-7  # Schmidt values, relative to the largest, by which nothing is divided: see `faint`
ROUNDED = 5e3  # times rounding: the same where that is more
CLEAR = 1e-4  # least diagonal entry of a triangle, relative to its largest, that surely has no faint values
FIRST = (
    "the derivative of an evolution through cuts is of first order: differentiate it once, or take 'tebd' or 'tebd4' "
    "without a cutoff, with a bond that holds every state (64 for 12 spins), where derivatives are of any order"
)


@primitive(keeps=True)
def cut(a: np.ndarray, *, rank_of: Callable[[np.ndarray], int]) -> tuple[tuple[np.ndarray, np.ndarray], Triple]:
    """``Q, C`` of a matrix, Q its leading left singular vectors, ``Q C`` its best approximation times a number.

    How many there are is told by a function of the singular values; the number restores the norm of the matrix.
    """
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    rank = rank_of(s)
    return (u[:, :rank], (restored(s, rank) * s[:rank, None]) * vh[:rank]), (u, s, vh)


def restored(s: np.ndarray, rank: int) -> float:
    """What the first singular values are multiplied by so that they have the norm of all."""
    return np.linalg.norm(s) / np.linalg.norm(s[:rank]) if rank < len(s) and s[0] else s.dtype.type(1)


def _cut_vjp(needed, g, ans, a, *, rank_of, kept=None):
    if type(a) is Tensor:
        raise ArgumentError(FIRST)
    rank = ans[0].shape[1]
    u, s, vh = np.linalg.svd(a, full_matrices=False) if kept is None else kept
    gq, gc = [np.zeros_like(x) if c is None else c.conj() for c, x in zip(g, ans, strict=True)]
    slope, scale = np.vdot(gc, ans[1]).real if rank < len(s) and s[0] else 0.0, restored(s, rank)
    by_scale = slope / (s @ s or 1.0) * a
    gc = scale * gc - slope / (s[:rank] @ s[:rank] or 1.0) / scale * ans[1]
    (q, lost), (s, t) = (u[:, :rank], u[:, rank:]), (s[:rank], s[rank:, None])
    vk, vd = vh[:rank], vh[rank:]
    t = np.where(t**2 > MOST_CUTOFF * (s @ s), t, 0)  # with what weighs nothing the kept ones do not mix
    check_gap(s, t)
    out, least = q @ gc, faint(s) ** 2
    if t.size:
        x = (lost.conj().T @ gq + t * (vd @ gc.conj().T)) / (s**2 - t**2 + least)
        out = out + lost @ (s * x) @ vk + (q @ (t * x).conj().T) @ vd
    if len(u) > rank + len(t):
        out = out + (gq - u @ (u.conj().T @ gq)) * (s / (s**2 + least)) @ vk
    return ((out + by_scale).conj(),)


defvjp(cut, shared=_cut_vjp)


def check_gap(s: np.ndarray, t: np.ndarray) -> None:
    """Raise where a kept and a discarded singular value coincide."""
    if t.size and t[0, 0] >= (1 - tolerances.multiplet(s.dtype)) * s[-1]:
        raise ArgumentError(
            f"a cut of the evolution keeps one of several equal Schmidt values ({s[-1]:.3g}), of which the choice is "
            f"arbitrary and has no derivative: give a bond other than {len(s)}"
        )


@primitive(keeps=True)
def guessed(a: np.ndarray, known: np.ndarray) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """``Q, C`` of a matrix by orthonormal rows that held it before, as `qad.mps.evolve.leading`."""
    *found, columns = leading(a, known)
    return tuple(found), columns


def _guessed_vjp(needed, g, ans, a, known, kept=None):
    if any(type(x) is Tensor for x in (a, known)):
        raise ArgumentError(FIRST)
    q, columns = ans[0], a @ known.conj().T if kept is None else kept
    gq, gc = [np.zeros_like(x) if c is None else c.conj() for c, x in zip(g, ans, strict=True)]
    gq = gq + a @ gc.conj().T
    order, across = leading_first(columns), gq - q @ (q.conj().T @ gq)
    by_columns = over_triangle(across, q.conj().T @ columns[:, order])[:, np.argsort(order)]
    found = q @ gc + by_columns @ known, by_columns.conj().T @ a
    return tuple(found[i].conj() for i in needed)


defvjp(guessed, shared=_guessed_vjp)


@primitive
def orthonormal(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``Q, C`` of a matrix by QR: all of its columns, also where they are dependent up to rounding."""
    return tuple(np.linalg.qr(a))


def _orthonormal_vjp(needed, g, ans, a):
    if type(a) is Tensor:
        raise ArgumentError(FIRST)
    q, c = ans
    gq, gc = [np.zeros_like(x) if y is None else y.conj() for y, x in zip(g, ans, strict=True)]
    out = q @ gc
    if len(a) > q.shape[1]:
        out = out + over_triangle(gq - q @ (q.conj().T @ gq), c)
    return (out.conj(),)


def over_triangle(x: np.ndarray, c: np.ndarray) -> np.ndarray:
    """``x C^-H`` by an upper triangle, below which stands nothing but rounding; without its `faint` values."""
    sizes = np.abs(c.diagonal())
    if sizes.min() > CLEAR * sizes.max():
        return solve_upper(c.conj(), x.T).T
    u, s, vh = np.linalg.svd(c)
    return (x @ u * (s / (s**2 + faint(s) ** 2))) @ vh


def faint(s: np.ndarray) -> float:
    """The size of the Schmidt values, largest first, by which nothing is divided."""
    return s[0] * max(FAINT, ROUNDED * np.finfo(s.dtype).eps)


defvjp(orthonormal, shared=_orthonormal_vjp)


def split(pair: Array, truncation: Truncation, to_right: bool, before: Array | None = None) -> tuple[Array, Array]:
    """`Truncation.split` in operations that the tape differentiates."""
    left, s, t, right = pair.shape
    matrix = pair.reshape(left * s, t * right)
    across = matrix if to_right else matrix.mT
    if before is not None:
        before = before.reshape(before.shape[0], -1) if to_right else before.reshape(-1, before.shape[2]).mT
    if before is None or (halves := by_guess(across, before, truncation)) is None:
        halves = by_values(pair, across, truncation)
    q, c = halves if to_right else (halves[1].mT, halves[0].mT)
    return q.reshape(left, s, -1), c.reshape(-1, t, right)


def by_guess(matrix: Array, known: Array, truncation: Truncation) -> tuple[Array, Array] | None:
    """The halves of a matrix, by rows that held it before; None where that is not good."""
    if not worthwhile(matrix, known, truncation.bond):
        return None
    q, c = guessed(matrix, known)
    if loose(value_of(matrix), value_of(c)):
        q, c = guessed(matrix, orthonormal(c.mT)[0].mT)
    if not truncation.accepts(*map(value_of, (matrix, q, c))):
        return None
    return q, c * (size_of(matrix) / size_of(c))


def size_of(x: Array) -> Array:
    """The norm of an array, by the same operations whether it is recorded or not."""
    return np.sqrt(np.sum(x.real**2) + np.sum(x.imag**2))


def by_values(pair: Array, matrix: Array, truncation: Truncation) -> tuple[Array, Array]:
    """The halves of a matrix by its singular values."""
    q, c = cut(matrix, rank_of=truncation.rank)
    rank = value_of(q).shape[1]
    if truncation.checked and rank < truncation.bond:
        check_reach(value_of(pair), rank, truncation)
    return q, c


def move(tensors: list[Array], site: int, to_right: bool) -> None:
    """`Truncation.move` in operations that the tape differentiates."""
    here, there = tensors[site : site + 2]
    if to_right:
        q, c = orthonormal(here.reshape(-1, here.shape[2]))
        tensors[site], tensors[site + 1] = q.reshape(*here.shape[:2], -1), carry(c, there)
    else:
        q, c = orthonormal(there.reshape(len(there), -1).mT)
        tensors[site + 1] = q.mT.reshape(-1, *there.shape[1:])
        tensors[site] = (here.reshape(-1, here.shape[2]) @ c.mT).reshape(*here.shape[:2], -1)


def check_reach(pair: np.ndarray, rank: int, truncation: Truncation, known: np.ndarray | None = None) -> None:
    """Raise where a small change of the pair by an operator on both sites would need directions that are discarded.

    They have no weight, so that their cotangent is unknown.  Directions whose weight is merely small are reached by as
    little: they continue a spectrum that decays.  Of directions on the right those are
    at hand that are `known` rows of a bond, by default those with weight.
    """
    left, s, t, right = pair.shape
    rows, columns = left * s, t * right
    if rank >= min(rows, columns):
        return
    u, _, vh = np.linalg.svd(pair.reshape(rows, columns))
    outside = vh[rank:] if known is None else np.linalg.svd(known)[2][len(known) :]
    lost, beyond = u[:, rank:].conj().reshape(left, s, -1), outside.conj().reshape(-1, t, right)
    half = np.tensordot(lost, pair, (0, 0))  # s' j s t b
    reach = np.tensordot(half, beyond, (4, 2)).transpose(0, 2, 5, 3, 1, 4)  # s' s t' t j k
    size = np.linalg.norm(reach.reshape(int(np.prod(reach.shape[:4])), -1), axis=1).max() / np.linalg.norm(pair)
    if size > truncation.reach * (1 + ROUNDED * np.finfo(size.dtype).eps):
        raise ArgumentError(
            "a bond has directions that carry no weight, but that a change of the Hamiltonian, the time or the state "
            f"may fill (to {size:.2g} of the norm): the derivative would miss them. Take it where they are filled (at "
            "another time, with couplings that are not zero), tilt the state a little, give a smaller cutoff, or, if "
            "nothing that you differentiate by makes that change (it breaks a symmetry, say), evolve(..., reach=1.0)"
        )


def centred_by_cuts(tensors: Sequence[Array]) -> list[Array]:
    """The tensors of a recorded open chain in canonical form, its centre at site 0.

    `qad.mps.canonical.canonical` divides by faint Schmidt values; here their rounding is held down.
    """
    return mirrored(swept_by_cuts(mirrored(swept_by_cuts(tensors)), turned=True))


def swept_by_cuts(tensors: Sequence[Array], turned: bool = False) -> list[Array]:
    """The tensors made isometries from the left, but for the last one; see `qad.mps.canonical.swept_right`."""
    out, dropped = list(tensors), []
    for site in range(len(out) - 1):
        left, s, right = out[site].shape
        q, c = whole(out[site].reshape(left * s, right))
        if q.shape[1] < min(left * s, right):
            dropped.append((site + 1, (), q.shape[1]))
        out[site], out[site + 1] = q.reshape(left, s, -1), carry(c, out[site + 1])
    check_reached(tensors, dropped, turned)
    return out


def whole(a: Array) -> tuple[Array, Array]:
    """`cut` of a matrix where its singular values are zero to rounding."""
    return cut(a, rank_of=lambda values: max(1, int(nonzero(values, max(a.shape)))))
