"""Cuts of pairs of sites that the tape differentiates, the coupling to what is discarded included.

A pair is a matrix A = U S V^H, of which the first k singular values are kept as ``A ~ Q C``, Q = U_k an isometry and
C = Q^H A.  The basis of the new bond is arbitrary, so that the derivative is taken along the lift that does not turn it
(`qad.mps.chain.gauge`).  With U_d, V_d and t the discarded vectors and values, s the kept ones, and E = dA::

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
from qad.extend import Tensor, any_traced, defvjp, primitive
from qad.linalg.equations.triangular import solve_upper
from qad.linalg.support import tolerances
from qad.linalg.support.drivers import singular_triples
from qad.linalg.truncation.rule import nonzero, restored
from qad.mps.chain.canonical import swept
from qad.mps.evolve.leading import leading, leading_first
from qad.symmetric.generic import as_map, bond_and_columns, dense, join, laid_out, norm, rows_and_bond

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeAlias

    from qad.typing import Array

    Triple: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]

LEAST_CUTOFF, MOST_CUTOFF = 1e-30, 1e-14  # weights that a cut may discard by default
FAINT = 1e-7  # Schmidt values, relative to the largest, by which nothing is divided: see `faint`
ROUNDED = 5e3  # times rounding: the same where that is more
CLEAR = 1e-4  # least diagonal entry of a triangle, relative to its largest, that surely has no faint values
FIRST = (
    "the derivative of an evolution through cuts is of first order: differentiate it once, or take 'tebd' or 'tebd4' "
    "without a cutoff, with a bond that holds every state (64 for 12 spins), where derivatives are of any order"
)

FROZEN = (
    "the derivative of an evolution cannot be frozen, for the dimensions of its bonds follow from values: leave "
    "qad.freeze out, qad.grad(loss) alone is as quick: its time goes into products of matrices"
)


def check_first(*arrays: Any) -> None:
    """Raise where a derivative of a derivative is asked for."""
    if any(type(x) is Tensor for x in arrays):
        raise ArgumentError(FIRST)


def check_first_and_unfrozen(*arrays: Any) -> None:
    """Raise where a derivative of a derivative is asked for, or a frozen one."""
    if any_traced(*[x for x in arrays if x is not None]):
        raise ArgumentError(FROZEN)
    check_first(*arrays)


@primitive(keeps=True)
def cut(
    *matrices: np.ndarray, ranks_of: Callable[[list[np.ndarray]], Sequence[int]]
) -> tuple[tuple[np.ndarray, ...], list[Triple]]:
    """``Q, C`` of every matrix, Q leading left singular vectors, ``Q C`` the best approximation times a number.

    How many there are is told by a function of the singular values of all; the number, one for all, restores their
    norm.
    """
    triples = [singular_triples(matrix) for matrix in matrices]
    values = [s for _, s, _ in triples]
    ranks = ranks_of(values)
    factor, found = restored(values, ranks), []
    for (u, s, vh), rank in zip(triples, ranks, strict=True):
        found += [u[:, :rank], (factor * s[:rank, None]) * vh[:rank]]
    return tuple(found), triples


def _cut_vjp(needed, g, ans, *matrices, ranks_of, kept=None):
    check_first(*matrices)
    triples = [singular_triples(a) for a in matrices] if kept is None else kept
    values, ranks = [s for _, s, _ in triples], [q.shape[1] for q in ans[::2]]
    slopes = [np.zeros_like(x) if c is None else c.conj() for c, x in zip(g, ans, strict=True)]
    scale, whole = restored(values, ranks), sum(s @ s for s in values) or 1.0
    slope = 0.0 if scale == 1.0 else sum(np.vdot(by, c).real for by, c in zip(slopes[1::2], ans[1::2], strict=True))
    floor = faint(max(values, key=lambda s: s[0])) ** 2
    found = []
    for i in needed:
        by_c = scale * slopes[2 * i + 1] - (scale * slope / whole) * ans[2 * i + 1]
        by_one = slope_of_cut(triples[i], slopes[2 * i], by_c, MOST_CUTOFF * whole, floor)
        found.append((by_one + (slope / whole) * matrices[i]).conj())
    return tuple(found)


defvjp(cut, shared=_cut_vjp)


def slope_of_cut(triple: Triple, gq: np.ndarray, gc: np.ndarray, nothing: float, least: float) -> np.ndarray:
    """The gradient by a matrix from those by Q and C; weights below `nothing` are none, `least` is added to squares."""
    rank, (u, s, vh) = len(gc), triple
    (q, lost), (s, t) = (u[:, :rank], u[:, rank:]), (s[:rank], s[rank:, None])
    vk, vd = vh[:rank], vh[rank:]
    t = np.where(t**2 > nothing, t, 0)  # with what weighs nothing the kept ones do not mix
    check_gap(s, t)
    out = q @ gc
    if t.size:
        x = (lost.conj().T @ gq + t * (vd @ gc.conj().T)) / (s**2 - t**2 + least)
        out = out + lost @ (s * x) @ vk + (q @ (t * x).conj().T) @ vd
    if len(u) > rank + len(t):
        out = out + (gq - u @ (u.conj().T @ gq)) * (s / (s**2 + least)) @ vk
    return out


def check_gap(s: np.ndarray, t: np.ndarray) -> None:
    """Raise where a kept and a discarded singular value coincide."""
    if t.size and s.size and t[0, 0] >= (1 - tolerances.multiplet(s.dtype)) * s[-1]:
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
    check_first(a, known)
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
    check_first(a)
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


def size_of(x: Array) -> Array:
    """The norm of an array, by the same operations whether it is recorded or not."""
    return np.sqrt(np.sum(x.real**2) + np.sum(x.imag**2))


def centred_by_cuts(tensors: Sequence[Any]) -> list[Any]:
    """The tensors of a recorded open chain in canonical form, its centre at site 0.

    `qad.mps.chain.canonical.canonical` divides by faint Schmidt values; here their rounding is held down.
    """
    return [laid_out(tensor, 2) for tensor in swept(swept(tensors, len(tensors) - 1, True, whole), 0, False, whole)]


def whole(a: Array) -> tuple[Array, Array]:
    """`cut` of a matrix where its singular values are zero to rounding."""
    return cut(a, ranks_of=lambda values: [max(1, int(nonzero(values[0], max(a.shape))))])


def amplitude_beyond(pair: Any, ranks: Sequence[int], known: Sequence[np.ndarray] = ()) -> float:
    """What a change of the pair by an operator on both sites may put into directions that are discarded, at most.

    It is relative to the norm, of an operator of norm 1.  They have no weight, so that their cotangent is unknown.
    Directions whose weight is merely small are reached by as little: they continue a spectrum that decays.  Of
    directions on the right those are at hand that are `known` rows of a bond, by default those with weight.
    """
    where, matrices = as_map(pair, 2)
    sizes = [0.0]
    for place, (matrix, rank) in enumerate(zip(matrices, ranks, strict=True)):
        if rank < min(matrix.shape):
            u, _, vh = np.linalg.svd(matrix)
            outside = np.linalg.svd(known[place])[2][len(known[place]) :] if known else vh[rank:]
            lost = rows_and_bond(where, [u[:, rank:] if k == place else m[:, :0] for k, m in enumerate(matrices)])
            beyond = bond_and_columns(where, [outside if k == place else m[:0] for k, m in enumerate(matrices)])
            half = join(lost.conj(), pair, ((0,), (0,)))  # s' j s t b
            found = dense(join(half, beyond.conj(), ((4,), (2,)))).transpose(0, 2, 5, 3, 1, 4)  # s' s t' t j k
            sizes.append(np.linalg.norm(found.reshape(int(np.prod(found.shape[:4])), -1), axis=1).max())
    return max(sizes) / (norm(pair) * (1 + ROUNDED * np.finfo(pair.dtype).eps))
