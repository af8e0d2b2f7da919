"""Gauge of an open chain: isometric forms of its matrices, differentiable where singular values coincide or vanish.

A matrix product ``A = Q C`` across a bond is arbitrary up to a unitary of the bond, ``(Q W)(W^H C)``.  Losses of
physics do not see it, so the derivative may be taken along any lift; the one with no motion along the gauge is

    dQ = (1 - Q Q^H) dA C^+,    dC = Q^H dA,

which needs no gaps between singular values, only that C has full row rank; directions of the bond that carry nothing
are dropped.  A loss that does see the basis of a bond is noticed in the backward pass.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import Tensor, each_alone, like, primitive, rule, stack_of, value_of
from qad.linalg import split
from qad.linalg.support import tolerances
from qad.linalg.support.degeneracy import rounding
from qad.linalg.truncation.rule import nonzero
from qad.mps.chain.dropped import refuse_weightless
from qad.symmetric.generic import join, numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Array, Real


@primitive
def isometric(a: Array) -> tuple[Array, Array]:
    """``a = Q C`` with orthonormal columns in Q and independent rows in C."""
    q, c = np.linalg.qr(a)
    diagonal = np.abs(c.diagonal())
    if diagonal.min(initial=np.inf) > 1e-4 * diagonal.max(initial=0.0) or not c.any():
        return q, c
    u, s, v = np.linalg.svd(c, full_matrices=False)
    rank = nonzero(s, max(a.shape))
    return q @ u[:, :rank], s[:rank, None] * v[:rank]  # rows of one size each: less is lost where C is divided by


def _isometric_vjp(needed, g, ans, a, *, end=None):
    gq, gc = g
    q, c = ans
    inner = q.mT @ gq if gq is not None else None
    check_gauge(q, gq, gc, c, rounding(like(c).ones(1, c.real.dtype), end))
    if gq is None:
        return (q.conj() @ gc,)
    if c.shape[0] == a.shape[0]:
        out = 0.0 * a  # Q is square: nothing is orthogonal to it
    else:
        sizes = np.linalg.norm(value_of(c), axis=1)  # pivots among rows of other sizes would hide small ones
        scale = 1 / np.where(sizes > 0.0, sizes, 1.0)
        c, across = c * scale[:, None], (gq - q.conj() @ inner) * scale
        out = np.linalg.solve(c, across.mT).mT if c.shape[0] == c.shape[1] else across @ np.linalg.pinv(c).mT
    return (out if gc is None else out + q.conj() @ gc,)


def check_gauge(q: Array, gq: Array | None, gc: Array | None, c: Array, floor: float) -> None:
    """Raise unless the loss is the same for ``Q W, W^H C``: ``G_Q^T Q - C G_C^T`` is Hermitian."""
    q, gq, gc, c = map(value_of, (q, gq, gc, c))
    first = 0.0 if gq is None else gq.T @ q
    second = 0.0 if gc is None else c @ gc.T
    size = max(largest(gq) * largest(q), largest(gc) * largest(c))
    slope = first - second
    turn = np.abs(slope - slope.conj().T).max(initial=0.0)
    if turn > floor + 100 * np.sqrt(np.finfo(c.dtype).eps) * size:
        raise ArgumentError(
            f"the loss depends on the basis of a bond (its slope along a rotation of it is {turn:.3g}), which is "
            "arbitrary in a canonical form: let it depend only on the state, not on single entries of its tensors"
        )


def largest(x: np.ndarray | None) -> float:
    """The largest modulus in an array; 0 for None."""
    return 0.0 if x is None else np.abs(x).max(initial=0.0)


rule(isometric, shared=each_alone(_isometric_vjp), scaled=True)  # ranks differ between examples


def carried_of(matrix: Array, place: str, second: bool) -> Array:
    """A smaller matrix of the same ``A^H A``; raises where a `second` derivative would miss what it drops."""
    carried = isometric(matrix)[1]
    if second and carried.shape[0] < min(matrix.shape):
        refuse_weightless(place, carried.shape[0], min(matrix.shape), second)
    return carried


def zero_weight(tensor: Any) -> Real:
    """The norm of what is lost of a tensor below which it carries nothing but rounding."""
    values, most = value_of(numbers(tensor)), max(prod(tensor.shape[:-1]), tensor.shape[-1])
    return tolerances.empty(values.dtype, most) * np.linalg.norm(stack_of(values).reshape(-1))


def factorised(amplitudes: Array, max_rank: int | None, cutoff: float) -> list[Array]:
    """Site tensors of a dense state, canonical around the last site.

    Of a recorded state bonds keep the directions that carry no weight yet, where those are all that would be dropped:
    a change of the state may fill them.  Such a bond holds all of the smaller side.
    """
    phys, carried, tensors = amplitudes.shape, amplitudes.reshape(1, -1), []
    for size in phys[:-1]:
        matrix = carried.reshape(carried.shape[0] * size, -1)
        low, high = split(matrix, max_rank, cutoff, multiplets="cut")
        q, carried = isometric(low)
        carried = carried @ high
        if type(matrix) is Tensor and q.shape[1] < min(*matrix.shape, max_rank or np.inf):
            plain = value_of(matrix)
            if np.linalg.norm(plain - value_of(q) @ value_of(carried)) <= zero_weight(matrix):
                check_fits(matrix, max_rank, len(tensors) + 1)
                unit = like(matrix).eye(min(matrix.shape), dtype=matrix.dtype)
                q, carried = (unit, matrix) if len(matrix) == len(unit) else (matrix, unit)
        tensors.append(q.reshape(-1, size, q.shape[1]))
    return [*tensors, carried.reshape(-1, phys[-1], 1)]


def check_fits(matrix: Array, max_rank: int | None, bond: int) -> None:
    """Raise where directions without weight do not fit into a bond: which would be kept depends on the change."""
    if min(matrix.shape) > (max_rank or np.inf):
        raise ArgumentError(
            f"bond {bond} has directions that carry no weight yet but could, more than bond={max_rank} holds: "
            "a derivative through the tensors would miss them. Leave bond out, or give the rank"
        )


def opened(tensors: Sequence[Array]) -> list[Array]:
    """A ring as an open chain: its outer bond runs along."""
    outer = tensors[0].shape[0]
    unit = like(tensors[0]).eye(outer, dtype=tensors[0].dtype)
    inner = [np.kron(unit[:, None, :], tensor) for tensor in tensors]
    ends = unit.reshape(1, -1), unit.reshape(-1, 1)
    if len(inner) == 1:
        return [join(ends[0], inner[0]) @ ends[1]]
    return [join(ends[0], inner[0]), *inner[1:-1], inner[-1] @ ends[1]]


def check_open(tensors: Sequence[Array]) -> None:
    """Raise for a ring."""
    if (bond := tensors[0].shape[0]) > 1:
        raise ShapeError(
            f"the chain is periodic, with an outer bond of {bond}: canonical forms and truncation are for open chains; "
            "psi.opened() writes it as one"
        )
