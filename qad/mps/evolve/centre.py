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

from qad.core.trees import flatten, unflatten
from qad.extend import defvjp, primitive, vjp
from qad.extend.recording import directions
from qad.linalg import expm_multiply
from qad.linalg.krylov import lanczos
from qad.linalg.krylov.lanczos import Krylov
from qad.mps.evolve.cut import check_first_and_unfrozen
from qad.mps.evolve.tdvp import MOST_PRODUCTS, TIGHTEST
from qad.symmetric.generic import aligned_numbers, join, numbers, stacked, with_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeAlias

    from qad.typing import Array

    Parts: TypeAlias = list[tuple[Krylov, float, float]]

PAIRS = 1e-15  # relative singular value of M, below which a pair of centres adds nothing


def exponential(
    x: Any, factor: Array, left: Any, operators: Sequence[Any], right: Any, *, kernel: Any, first: int
) -> Any:
    """``exp(factor A) x`` for the effective operator A of an environment, the operators of sites, and an environment.

    The `kernel` is that of the plain operators (`qad.mps.kernels.operators.kernel_for`), the sites begin with
    `first`.  In forward mode it is a Taylor series, whose terms are recorded.
    """
    (values, *parts), where = flatten([x, left, *operators, right])
    if any("forward" in directions(z) for z in (values, factor, *parts)):

        def acted(y: Array) -> Array:
            return aligned_numbers(x, product([left, *operators, right], with_numbers(x, y))).reshape(y.shape)

        return with_numbers(x, expm_multiply(acted, values, factor))
    return with_numbers(x, exponentiated(values, factor, *parts, where=where, kernel=kernel, first=first))


@primitive(keeps=True)
def exponentiated(
    x: np.ndarray, factor: np.ndarray, *parts: np.ndarray, where: Any, kernel: Any, first: int
) -> tuple[np.ndarray, Parts]:
    """`exponential` of the numbers of tensors, of which `where` tells."""
    centre, *tensors = unflatten(where, (x, *parts))
    apply, start = kernel.effective(first, len(tensors) - 2, tensors[0], tensors[-1], centre)
    spaces: Parts = []
    y, gained = lanczos.exponential(apply, numbers(start), factor[()], TIGHTEST, MOST_PRODUCTS, spaces)
    return aligned_numbers(centre, with_numbers(start, np.exp(gained) * y)).reshape(x.shape), spaces


def _exponentiated_vjp(needed, g, y, x, factor, *parts, where, kernel, first, kept=None):
    check_first_and_unfrozen(g, x, factor, *parts)
    centre, *tensors = unflatten(where, (x, *parts))
    apply, start = kernel.effective(first, len(tensors) - 2, tensors[0], tensors[-1], centre)
    slope = aligned_numbers(start, with_numbers(centre, g.conj())).astype(y.dtype, copy=False)
    if not slope.any():
        return tuple(np.zeros_like((x, factor, *parts)[i]) for i in needed)
    if kept is None:
        lanczos.exponential(apply, numbers(start), factor[()], TIGHTEST, MOST_PRODUCTS, kept := [])
    after = aligned_numbers(start, with_numbers(centre, y))
    by_factor = np.asarray(np.vdot(slope, apply(after))) if 1 in needed else None
    f, bras, kets = factor[()], [], []
    for space, step, before in reversed(kept):
        spaces: Parts = []
        after, gained = lanczos.exponential(apply, slope, np.conj(f) * step, TIGHTEST, MOST_PRODUCTS, spaces)
        end = 1.0
        for back, share, more in spaces if max(needed) > 1 else ():
            weights = integral(back, space, f * step, end - share, share)
            pairs(f * step * share * np.exp(before + more) * weights, back, space, bras, kets)
            end -= share
        slope = np.exp(gained) * after
    found = {0: aligned_numbers(centre, with_numbers(start, slope)).conj().reshape(x.shape), 1: by_factor}
    if max(needed) > 1:
        both = [stacked(start, np.concatenate(vectors)) for vectors in (bras, kets)]
        found |= by_parts(both[0].conj(), both[1], tensors, [i for i in needed if i > 1])
    return tuple(found[i] for i in needed)


defvjp(exponentiated, shared=_exponentiated_vjp)


def product(parts: Sequence[Any], x: Any, lead: int = 0) -> Any:
    """What the effective operator of any parts makes of a centre, or of several, which legs in front tell apart."""
    left, *operators, right = parts
    half = join(x, right, ((x.ndim - 1,), (2,)))  # ... a s t b' w
    bond = half.ndim - 1
    for k in reversed(range(len(operators))):
        half, bond = join(half, operators[k], ((lead + 1 + k, bond), (3, 1))), half.ndim - 2  # ... a s b' u t'
    found = join(half, left, ((lead, bond), (2, 1)))  # ... b' t' s' a'
    return found.transpose(*range(lead), *reversed(range(lead, found.ndim)))


def integral(back: Krylov, space: Krylov, factor: complex, begin: float, share: float) -> np.ndarray:
    """``M_ij = int_0^1 <u_i| exp((1 - s) f* h A) g>* <v_j| exp((b + s h) f A) x> ds``, b the begin, h the share."""
    (one, p), (two, q) = (np.linalg.eigh(z.projected()) for z in (back, space))
    half = factor * share * (one[:, None] - two) / 2
    small = np.abs(half) < 1e-4
    quotient = np.where(small, 1 + half**2 / 6, np.sinh(half) / np.where(small, 1, half))
    middle = np.exp(factor * (share * (one[:, None] + two) / 2 + begin * two)) * quotient
    return back.start_norm * space.start_norm * (p * p[0]) @ middle @ (q * q[0]).T


def pairs(weights: np.ndarray, back: Krylov, space: Krylov, bras: list[np.ndarray], kets: list[np.ndarray]) -> None:
    """Add the pairs of vectors, of which the sum ``sum_ij M_ij <u_i| dA |v_j>`` is made."""
    p, sizes, q = np.linalg.svd(weights)
    kept = max(1, np.count_nonzero(sizes > PAIRS * sizes[0]))
    bras.append((p[:, :kept] * sizes[:kept]).conj().T @ back.basis[: len(p)])
    kets.append(q[:kept] @ space.basis[: len(q)])


def by_parts(bras: Any, kets: Any, parts: Sequence[Any], needed: Sequence[int]) -> dict[int, np.ndarray]:
    """Gradients of ``sum_r bra_r A ket_r`` by some of the environments and operators that A is made of, from 2 on."""
    axes = tuple(range(bras.ndim))

    def element(*some: Any) -> Array:
        table = dict(zip(needed, some, strict=True))
        changed = [table.get(i, part) for i, part in enumerate(parts, 2)]
        return numbers(join(bras, product(changed, kets, 1), (axes, axes))).sum()

    value, pull = vjp(element, *[parts[i - 2] for i in needed])
    slopes = flatten(pull(np.ones((), value.dtype)))[0]
    return {i: slope.conj() for i, slope in zip(needed, slopes, strict=True)}
