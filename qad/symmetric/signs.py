"""Signs of fermions: what an exchange of legs, a closed line and a conjugate cost where charges count odd parities.

A block of odd legs ``i1, i2, ...`` stands for the product ``|i1)|i2)...`` of a graded vector space: kets for legs of
flow +1, bras ``(i|`` for legs of flow -1.  Odd factors that change places give a minus sign.  A bra in front of its ket
is a number, ``(i|j) = 1`` for i = j; a ket in front of its bra has to be exchanged with it first, -1 where it is odd.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.symmetric.blocks.layout import Layout
    from qad.symmetric.legs import Leg

__all__ = ["dual_signs", "kets_among", "reordered"]


def parities(where: Layout) -> np.ndarray:
    """For each block of a layout and each of its legs whether it is odd: an array of 0 and 1 (blocks, legs)."""
    odd = where.symmetry.is_odd
    found = np.zeros_like(where.pairing.numbers)
    for axis, leg in enumerate(where.legs):
        found[:, axis] = np.array([odd(charge) for charge in leg.charges])[where.pairing.numbers[:, axis]]
    return found


def reordered(where: Layout, order: Sequence[int], closed: Sequence[int] = ()) -> np.ndarray | None:
    """Whether each block changes its sign where its legs are put into another order; None where none does.

    Parameters
    ----------
    where : Layout
        Of the legs as they stand.
    order : sequence of int
        The legs in the order in which they are to stand.
    closed : sequence of int
        Legs that cost a sign of their own where they are odd.
    """
    if not where.symmetry.fermionic:
        return None
    odd = parities(where)
    exchanged = odd[:, list(closed)].sum(axis=1)
    for place, axis in enumerate(order):
        passed = [other for other in order[place + 1 :] if other < axis]
        exchanged += odd[:, axis] * odd[:, passed].sum(axis=1)
    negative = exchanged % 2 == 1
    return negative if negative.any() else None


def kets_among(legs: Sequence[Leg], axes: Sequence[int]) -> tuple[int, ...]:
    """Which of the axes are legs of flow +1."""
    return tuple([axis for axis in axes if legs[axis].flow > 0])


def dual_signs(where: Layout, axes: Sequence[int]) -> np.ndarray | None:
    """The signs with which neighbouring legs act as a map on the legs that join them, or are fused to one of flow -1.

    Contracted with the legs that join them, in the same order, they give what the sum over their indices gives then:
    they meet in reversed order, and the kets among them stand on the wrong side.
    """
    order = list(range(len(where.legs)))
    order[min(axes) : max(axes) + 1] = sorted(axes, reverse=True)
    return reordered(where, order, kets_among(where.legs, axes))
