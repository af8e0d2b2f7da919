"""Exponentials of effective operators, with their derivative by everything that they are made of.

A centre x between a left and a right environment, with operators on its sites, evolves as ``y = exp(f A) x``.  A is
Hermitian, so that with the gradient g of the loss by y::

    by x:  exp(f* A) g          by f:  <g| A y>
    by A:  dL = Re f int_0^1 <exp((1 - s) f* A) g| dA |exp(s f A) x> ds = Re sum_ij M_ij <u_i| dA |v_j>

u and v span the Krylov spaces of g and x, in which A is tridiagonal: M follows from the eigenvalues of two small
matrices.  Its singular vectors are few pairs of centres, each of which adds ``<u| dA |v>``: gradients by environments
and operators are contractions of all pairs at once.  I. Najfeld and T. F. Havel, Adv. Appl. Math. 16, 321 (1995).

Legs: environments (bra, operator, ket), operators (left, right, out, in), centres (a, s, ..., b).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import Tensor, defvjp, primitive
from qad.linalg.functions.expm_multiply import MARGIN, schedule, taylor
from qad.mps.environments import operator_matrix
from qad.mps.evolve.cut import FIRST
from qad.mps.evolve.tdvp import MOST_PRODUCTS, TIGHTEST
from qad.mps.search import lanczos
from qad.mps.search.lanczos import Krylov

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from qad.mps.effective import Apply, Row
    from qad.typing import Array

    Parts: TypeAlias = list[tuple[Krylov, float, float]]

PAIRS = 1e-15  # relative singular value of M, below which a pair of centres adds nothing
PRODUCTS = 8  # for the norm of an effective operator


@primitive(keeps=True)
def exponential(x: np.ndarray, factor: np.ndarray, *parts: np.ndarray, row: Row) -> tuple[np.ndarray, Parts]:
    """``exp(factor A) x`` for the effective operator A of an environment, the operators of sites, and an environment.

    The `row` is of these operators.
    """
    spaces: Parts = []
    y, gained = evolved(effective(parts, row, x.shape), x.reshape(-1), factor, spaces)
    return (np.exp(gained) * y).reshape(x.shape), spaces


def evolved(apply: Apply, x: np.ndarray, factor: np.ndarray, spaces: Parts | None) -> tuple[np.ndarray, float]:
    """``exp(factor A) x``, of the norm of x, and the logarithm of what it gained."""
    return lanczos.exponential(apply, x, factor[()], TIGHTEST, MOST_PRODUCTS, spaces)


def effective(parts: Sequence[np.ndarray], row: Row, shape: tuple[int, ...]) -> Apply:
    """The effective operator on a centre as a vector."""
    a, *legs, b = shape
    return row.operator(parts[0], parts[-1], (a, *legs, *[1] * (2 - len(legs)), b))


def _exponential_vjp(needed, g, ans, x, factor, *parts, row, kept=None):
    if any(type(z) is Tensor for z in (x, factor, *parts)):
        raise ArgumentError(FIRST)
    return pulled(g, ans, x, factor, *parts, row=row, needed=tuple(needed), kept=kept)


defvjp(exponential, shared=_exponential_vjp)


@primitive
def pulled(
    g: np.ndarray, y: np.ndarray, x: np.ndarray, factor: np.ndarray, *parts: np.ndarray, row: Row,
    needed: tuple[int, ...], kept: Parts | None,
) -> tuple[np.ndarray, ...]:  # fmt: skip
    """Cotangents of the operands of `exponential` that are needed; linear in that of its answer y, g."""
    apply, slope = effective(parts, row, x.shape), g.conj().reshape(-1).astype(y.dtype, copy=False)
    if not slope.any():
        return tuple(np.zeros_like((x, factor, *parts)[i]) for i in needed)
    if kept is None:
        evolved(apply, x.reshape(-1), factor, kept := [])
    by_factor = np.asarray(np.vdot(slope, apply(y.reshape(-1)))) if 1 in needed else None
    f, bras, kets = factor[()], [], []
    for space, step, before in reversed(kept):
        spaces: Parts = []
        after, gained = evolved(apply, slope, np.conj(factor) * step, spaces)
        end = 1.0
        for back, share, more in spaces if max(needed) > 1 else ():
            weights = integral(back, space, f * step, end - share, share)
            pairs(f * step * share * np.exp(before + more) * weights, back, space, bras, kets)
            end -= share
        slope = np.exp(gained) * after
    found = [slope.conj().reshape(x.shape), by_factor]
    if max(needed) > 1:
        found += by_parts(np.concatenate(bras), np.concatenate(kets), parts, x.shape, needed)
    return tuple(found[i] for i in needed)


def _pulled_vjp(wanted, h, ans, g, y, x, factor, *parts, row, needed, kept):
    if [*wanted] != [0]:
        raise ArgumentError(FIRST)
    changes = {i: z for i, z in zip(needed, h, strict=True) if z is not None}
    return (changed(y, x, factor, parts, row, changes),)


defvjp(pulled, shared=_pulled_vjp)


def changed(
    y: np.ndarray, x: np.ndarray, factor: np.ndarray, parts: Sequence[np.ndarray], row: Row, changes: dict[int, Array]
) -> Array:
    """By how much `exponential` changes with its operands, a Taylor series of both together."""
    space = Krylov(np.random.default_rng(0).standard_normal(x.size).astype(x.dtype), PRODUCTS)
    apply = effective(parts, row, x.shape)
    while not len(space.diagonal) or not space.full:
        space.extend(apply)
    size = np.abs(np.linalg.eigvalsh(space.projected())).max()
    steps, degree = schedule(abs(complex(factor)) * MARGIN * size)
    others = [[*parts[: i - 2], z, *parts[i - 1 :]] for i, z in changes.items() if i > 1]

    def both(pair):
        return product(parts, pair[0]), sum((product(other, pair[0]) for other in others), product(parts, pair[1]))

    pair = x, changes.get(0, np.zeros_like(x))
    for _ in range(steps):
        pair = taylor(both, pair, factor * (1 / steps), degree)
    return pair[1] + changes[1] * product(parts, y) if 1 in changes else pair[1]


def product(parts: Sequence[Array], x: Array) -> Array:
    """What the effective operator of any parts makes of a centre."""
    left, *operators, right = parts
    bra, _, ket = left.shape
    out, legs = left.reshape(-1, ket) @ x.reshape(ket, -1), []
    for w in operators:
        out = operator_matrix(w) @ out.reshape(bra * int(np.prod(legs)), w.shape[0] * w.shape[3], -1)
        legs.append(w.shape[2])
    rows = bra * int(np.prod(legs))
    return (out.reshape(rows, -1) @ right.reshape(len(right), -1).T).reshape(bra, *legs, -1)


def integral(back: Krylov, space: Krylov, factor: complex, begin: float, share: float) -> np.ndarray:
    """``M_ij = int_0^1 <u_i| exp((1 - s) f* h A) g>* <v_j| exp((b + s h) f A) x> ds``, b the begin, h the share."""
    (one, p), (two, q) = (np.linalg.eigh(z.projected()) for z in (back, space))
    half = factor * share * (one[:, None] - two) / 2
    small = np.abs(half) < 1e-4
    quotient = np.where(small, 1 + half**2 / 6, np.sinh(half) / np.where(small, 1, half))
    middle = np.exp(factor * (share * (one[:, None] + two) / 2 + begin * two)) * quotient
    return back.start_norm * space.start_norm * (p * p[0]) @ middle @ (q * q[0]).T


def pairs(weights: np.ndarray, back: Krylov, space: Krylov, bras: list[np.ndarray], kets: list[np.ndarray]) -> None:
    """Add the pairs of vectors, of which the sum ``sum_ij M_ij <u_i| dA |v_j>`` is made; bras are conjugated."""
    p, sizes, q = np.linalg.svd(weights)
    kept = max(1, np.count_nonzero(sizes > PAIRS * sizes[0]))
    bras.append((p[:, :kept] * sizes[:kept]).T @ back.basis[: len(p)].conj())
    kets.append(q[:kept] @ space.basis[: len(q)])


def by_parts(
    bras: np.ndarray, kets: np.ndarray, parts: Sequence[np.ndarray], shape: tuple[int, ...], needed: Sequence[int]
) -> list[np.ndarray | None]:
    """Gradients of ``sum_r bra_r A ket_r`` by the environments and the operators that A is made of.

    From the right the kets meet one part after the other, from the left the bras; between them stands a gradient.
    """
    (left, *operators, right), a, b, count = parts, shape[0], shape[-1], len(bras)
    half = kets.reshape(-1, b) @ right.reshape(-1, b).T  # (r a s ..., b' y)
    halves = [half.reshape(-1, len(right), right.shape[1]).swapaxes(1, 2)]
    for w in reversed(operators):
        bond, past, out, leg = w.shape
        half = halves[-1].reshape(-1, leg * past, halves[-1].shape[-1])
        half = w.transpose(0, 2, 3, 1).reshape(bond * out, leg * past) @ half
        halves.append(half.reshape(len(half), bond, -1))
    bras = bras.reshape(count, len(left), -1)
    found: list[np.ndarray | None] = [None] * len(parts)
    last = halves.pop().reshape(count, -1, bras.shape[2])
    found[0] = np.tensordot(bras, last, ((0, 2), (0, 2))).reshape(len(left), a, -1).swapaxes(1, 2)
    half = left.transpose(2, 1, 0).reshape(-1, len(left)) @ bras  # r, (a w), s' ...
    half = half.reshape(count * a, left.shape[1], -1)
    for k, w in enumerate(operators):
        bond, past, out, leg = w.shape
        half, other = half.reshape(len(half), bond * out, -1), halves.pop()
        other = other.reshape(len(half), leg * past, -1)
        if 3 + k in needed:
            by = np.tensordot(half, other, ((0, 2), (0, 2))).reshape(bond, out, leg, past)
            found[1 + k] = by.transpose(0, 3, 1, 2)
        half = w.transpose(3, 1, 0, 2).reshape(leg * past, bond * out) @ half
        half = half.reshape(len(half) * leg, past, -1)
    by = np.tensordot(half.reshape(-1, right.shape[1] * len(right)), kets.reshape(-1, b), (0, 0))
    found[-1] = by.reshape(right.shape[1], len(right), b).swapaxes(0, 1)
    return found
