"""Sums and inner products of states of definite charge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import any_traced, stack_of
from qad.mps.sandwich import scaled
from qad.mps.scales import evened
from qad.symmetric.contraction import tensordot
from qad.symmetric.summing import direct_sum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.symmetric.tensor import SymTensor
    from qad.typing import Scalar


def total_of(tensors: Sequence[SymTensor]) -> tuple[int, ...]:
    """The total charge of a chain."""
    return tensors[-1].legs[2].charges[0]


def inner(bra: Sequence[SymTensor], ket: Sequence[SymTensor]) -> tuple[Scalar, float]:
    """``<bra|ket>`` of one total charge as a number and the logarithm of a factor, which was taken out on the way."""
    value, log_scale = swept(bra, ket)
    if any_traced(value) or (np.isfinite(plain := stack_of(value)) & (plain != 0)).all():
        return value, log_scale
    (bra, one), (ket, two) = evened(bra), evened(ket)  # zero, or beyond the range of floats
    value, log_scale = swept(bra, ket)
    return value, log_scale + (one + two) * np.log(2.0)


def swept(bra: Sequence[SymTensor], ket: Sequence[SymTensor]) -> tuple[Scalar, float]:
    """`inner` from the left, of tensors whose entries are not far from 1."""
    carried, log_scale = None, 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        for lower, upper in zip(ket, bra, strict=True):
            half = lower if carried is None else tensordot(carried, lower, 1)
            carried = tensordot(upper.conj(), half, ([0, 1], [0, 1]))
            carried, log_scale = scaled(carried, log_scale, carried.data)
    return carried.data.sum(), log_scale


def normalised(tensors: Sequence[SymTensor]) -> list[SymTensor]:
    """The tensors of the state with norm 1, an equal part of its norm taken from every site."""
    square, log_scale = inner(tensors, tensors)
    if not (stack_of(square).real > 0).all():
        raise ArgumentError("the state has norm zero, or none that is finite: it cannot be normalised")
    factor = np.exp(-(np.log(square.real) + log_scale) / (2 * len(tensors)))
    return [tensor * factor.astype(tensor.data.real.dtype) for tensor in tensors]


def sum_of(one: Any, two: Any) -> list[SymTensor]:
    """The tensors of the sum of two states of one sector: the dimensions of bonds add up, sector by sector."""
    require_alike(one, two, "a sum")
    if total_of(one) != total_of(two):
        raise ArgumentError(
            f"the sum of states of {', '.join(one.conserved.names)} = {one.sector} and {two.sector} has no definite "
            "charge: give .without_symmetry() of both"
        )
    last, tensors = len(one) - 1, []
    for site, (a, b) in enumerate(zip(one, two, strict=True)):
        axes = [axis for axis, at_the_end in ((0, site == 0), (2, site == last)) if not at_the_end]
        tensors.append(direct_sum(a, b, axes) if axes else a + b)
    return tensors


def overlap(bra: Any, ket: Any) -> tuple[Scalar, float]:
    """``<bra|ket>`` as a number and the logarithm of a factor; states of different charges are orthogonal."""
    require_alike(bra, ket, "an overlap")
    if total_of(bra) != total_of(ket):
        return np.result_type(bra.dtype, ket.dtype).type(0), 0.0
    return inner(bra.tensors, ket.tensors)


def require_alike(one: Any, two: Any, what: str) -> None:
    """Raise unless both conserve the same on the same sites."""
    if getattr(one, "conserved", None) is None or one.conserved != getattr(two, "conserved", None):
        raise ArgumentError(
            f"{what} takes two states that conserve the same on the same sites: give .without_symmetry() of both"
        )
