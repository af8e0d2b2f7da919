"""Several legs as one: the combinations of their sectors, sorted by the charge to which they add up.

What charges alone say is found once for all dimensions (`Combinations`); dimensions then take arithmetic on arrays.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import TypeAlias

    from qad.symmetric.groups import Symmetry
    from qad.symmetric.legs import Leg

    Charges: TypeAlias = tuple[int, ...]  # one number per factor of the symmetry

__all__ = ["Combinations", "Fusion", "combinations", "fusion"]


class Combinations:
    """The combinations of sectors of several legs, sorted by the charge to which they add up, whatever the dimensions.

    Attributes
    ----------
    charges : tuple of charges
        In the order in which they first appear, which does not depend on the sign of a charge.
    numbers : array of int (combinations, legs)
        The numbers of the sectors, charge after charge, those of one charge in C order.
    bounds : array of int (charges + 1,)
        Which of the combinations belong to each charge.
    groups : array of int (combinations,)
        The number of the charge of each combination.
    """

    __slots__ = ("charges", "numbers", "bounds", "groups")
    charges: tuple[Charges, ...]
    numbers: np.ndarray
    bounds: np.ndarray
    groups: np.ndarray

    def __init__(self, flows: tuple[int, ...], charges: tuple[tuple[Charges, ...], ...], group: Symmetry):
        kind = object if _are_large(charges) else np.int64
        total, moduli = np.zeros((1, len(group.moduli)), kind), np.array(group.moduli, kind)
        for flow, own in zip(flows, charges, strict=True):
            signed = flow * np.array(own, kind).reshape(len(own), -1)
            total = (total[:, None, :] + signed).reshape(-1, len(moduli))
        for place in np.flatnonzero(moduli):
            total[:, place] %= moduli[place]
        seen: dict[Charges, int] = {}
        found = np.array([seen.setdefault(tuple(q), len(seen)) for q in total.tolist()])
        order = np.argsort(found, kind="stable")
        sizes = [len(own) for own in charges]
        self.charges, self.groups = tuple(seen), found[order]
        self.numbers = np.stack(np.unravel_index(order, sizes), axis=1) if sizes else np.zeros((1, 0), np.int64)
        self.bounds = np.searchsorted(self.groups, np.arange(len(seen) + 1))

    def find(self, numbers: np.ndarray) -> np.ndarray:
        """The places of the combinations of these sectors, one row each."""
        sizes = tuple(self.numbers.max(axis=0) + 1)
        place = np.argsort(np.ravel_multi_index(tuple(self.numbers.T), sizes))
        return place[np.ravel_multi_index(tuple(numbers.T), sizes)]


def _are_large(charges: tuple[tuple[Charges, ...], ...]) -> bool:
    """Whether sums of charges may leave the range of 64 bits."""
    return any(abs(number) >> 50 for own in charges for charge in own for number in charge)


@lru_cache(maxsize=4096)
def combinations(flows: tuple[int, ...], charges: tuple[tuple[Charges, ...], ...], group: Symmetry) -> Combinations:
    """The combinations of sectors of legs that have these flows and charges, from a bounded cache."""
    return Combinations(flows, charges, group)


class Fusion:
    """Several legs as one: where each combination of their sectors lies.

    Attributes
    ----------
    combinations : Combinations
    shapes, strides : array of int (combinations, legs)
        The dimensions of a combination's sectors, and how far its elements lie apart along each leg.
    starts : array of int (combinations,)
        Where a combination begins within its charge.
    sizes : array of int (charges,)
        The dimension of each charge.
    """

    __slots__ = ("combinations", "shapes", "strides", "starts", "sizes")
    combinations: Combinations
    shapes: np.ndarray
    strides: np.ndarray
    starts: np.ndarray
    sizes: np.ndarray

    def __init__(self, legs: tuple[Leg, ...], group: Symmetry):
        found = combinations(tuple([leg.flow for leg in legs]), tuple([leg.charges for leg in legs]), group)
        self.combinations, numbers, bounds = found, found.numbers, found.bounds
        self.shapes = np.empty_like(numbers)
        for axis, leg in enumerate(legs):
            self.shapes[:, axis] = leg.sizes[numbers[:, axis]]
        self.strides = np.ones_like(numbers)
        for axis in range(len(legs) - 1, 0, -1):
            self.strides[:, axis - 1] = self.strides[:, axis] * self.shapes[:, axis]
        ends = np.zeros(len(numbers) + 1, np.int64)
        np.cumsum(self.shapes[:, 0] * self.strides[:, 0] if legs else self.shapes.prod(axis=1), out=ends[1:])
        first = ends[bounds]
        self.sizes, self.starts = first[1:] - first[:-1], ends[:-1] - first[found.groups]

    @property
    def dims(self) -> dict[Charges, int]:
        """The dimension of each charge."""
        return dict(zip(self.combinations.charges, self.sizes.tolist(), strict=True))


@lru_cache(maxsize=4096)
def fusion(legs: tuple[Leg, ...], group: Symmetry) -> Fusion:
    """The fusion of some legs, from a bounded cache."""
    return Fusion(legs, group)
