"""Legs of symmetric tensors: an index whose values are sorted into sectors, one for each charge."""

from __future__ import annotations

from functools import cached_property
from itertools import accumulate
from operator import index
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.symmetric.groups import Symmetry, symmetry

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from qad.symmetric.groups import Charge, SymmetryLike

__all__ = ["Leg", "same_legs"]


class Leg:
    """An index of a symmetric tensor: sectors, each with a charge and a dimension, and the direction of their flow.

    A block of a tensor may differ from zero where the charges of its legs, each times the flow of its leg, add up to
    the total charge of the tensor.  Legs join in a contraction if they have the same sectors in the same order, and
    opposite flows.  Immutable and hashable.

    Parameters
    ----------
    sectors : dict of charge to int
        The dimension of each sector, in the order in which they lie along the index.  A charge is a whole number, and
        a tuple of them for a product of symmetries.
    flow : +1 or -1
    symmetry : str or sequence of str, optional
        ``"U1"``, ``"Z2"``, ``"Z3"``, ..., and products ``"U1xZ2"`` or ``("U1", "Z2")``.  By default U(1), once for each
        number of a charge.

    Attributes
    ----------
    dim : int
        The sum of the dimensions: the size of the index of the dense tensor.
    parts : tuple of Leg
        The legs that were fused into this one; empty where it is none.

    Raises
    ------
    ArgumentError
        If there is no sector, a sector is empty, a charge does not belong to the symmetry, or a flow is not +1 or -1.

    Examples
    --------
    >>> import qad
    >>> leg = qad.symmetric.Leg({-1: 3, 1: 2}, flow=+1)
    >>> leg, leg.dim
    (Leg({-1: 3, 1: 2}, flow=+1), 5)
    >>> leg.conj()
    Leg({-1: 3, 1: 2}, flow=-1)
    """

    def __init__(self, sectors: Mapping[Charge, int], flow: int, symmetry: SymmetryLike | None = None):
        if not hasattr(sectors, "items"):
            raise ArgumentError(f"Leg takes a dict of charges and dimensions such as {{-1: 3, 1: 3}}, not {sectors!r}")
        group = _symmetry_of(sectors, symmetry)
        charges = tuple([group.charge(q) for q in sectors])
        if len(set(charges)) < len(charges):
            raise ArgumentError(f"Leg: charges of {dict(sectors)} coincide under {group}: give each of them once")
        self._fill(group, charges, tuple(map(_dimension, sectors.values(), sectors)), _flow(flow), ())
        if not charges:
            raise ArgumentError("Leg: a leg needs at least one sector, such as {0: 1}; an empty bond carries nothing")

    @classmethod
    def from_charges(
        cls, charges: Iterable[Charge], flow: int, symmetry: SymmetryLike | None = None
    ) -> tuple[Leg, tuple[int, ...]]:
        """The leg of a basis whose states have these charges, in any order.

        Parameters
        ----------
        charges : sequence of int, or of tuples of int
            One for each state.
        flow, symmetry
            As of `Leg`.

        Returns
        -------
        leg : Leg
            Its charges stand in the order in which they first appear.
        order : tuple of int
            The states in the order of the leg: entry i of the index is state ``order[i]``.

        Examples
        --------
        >>> import qad
        >>> qad.symmetric.Leg.from_charges([0, 1, 1, 0], flow=+1, symmetry="Z2")    # the parity of electrons
        (Leg({0: 2, 1: 2}, flow=+1, symmetry='Z2'), (0, 3, 1, 2))
        """
        charges = [tuple(q) if hasattr(q, "__len__") else q for q in charges]  # the rows of an array, too
        group = _symmetry_of(charges, symmetry)
        states: dict[Any, list[int]] = {}
        for number, charge in enumerate(charges):
            states.setdefault(group.shown(group.charge(charge)), []).append(number)
        leg = cls({charge: len(own) for charge, own in states.items()}, flow, group)
        return leg, tuple([number for own in states.values() for number in own])

    def _fill(self, group, charges, dims, flow, parts):
        self.symmetry, self.charges, self.dims, self.flow, self.parts = group, charges, dims, flow, parts
        self._key = (group, flow, charges, dims, parts)
        self._hash = hash(self._key)

    @classmethod
    def _made(cls, group, charges, dims, flow, parts=()) -> Leg:
        leg = object.__new__(cls)
        leg._fill(group, charges, dims, flow, parts)
        return leg

    symmetry: Symmetry
    charges: tuple[tuple[int, ...], ...]
    dims: tuple[int, ...]
    flow: int
    parts: tuple[Leg, ...]

    @property
    def sectors(self) -> dict[Charge, int]:
        """The dimension of each charge."""
        return dict(zip(map(self.symmetry.shown, self.charges), self.dims, strict=True))

    @cached_property
    def dim(self) -> int:
        """The sum of the dimensions of the sectors."""
        return sum(self.dims)

    @cached_property
    def sizes(self) -> np.ndarray:
        """The dimensions of the sectors, as an array."""
        return np.array(self.dims, np.int64)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where each sector begins along the index of the dense tensor."""
        return tuple(accumulate(self.dims, initial=0))[:-1]

    def conj(self) -> Leg:
        """The leg with the same sectors and the opposite flow, with which this one joins."""
        return self._opposite

    @cached_property
    def _opposite(self):
        other = Leg._made(self.symmetry, self.charges, self.dims, -self.flow, tuple(p.conj() for p in self.parts))
        other.__dict__["_opposite"] = self
        return other

    def joins(self, other: Leg) -> bool:
        """Whether the two can be contracted; fused legs only where they were fused from legs that can."""
        return self.flow == -other.flow and self._sectors_of(other) and self._parts_fit(other, Leg.joins)

    def alike(self, other: Leg) -> bool:
        """Whether the two are the same index: same sectors, same flow."""
        same = self.flow == other.flow and self._sectors_of(other)
        return self is other or (same and self._parts_fit(other, Leg.alike))

    def _parts_fit(self, other, relation):
        """Whether the combinations in each sector stand in the same order, as far as both legs know them."""
        one, two = self.parts, other.parts
        return not (one and two) or (len(one) == len(two) and all(map(relation, one, two)))

    def _sectors_of(self, other):
        return self.dims == other.dims and self.charges == other.charges and self.symmetry is other.symmetry

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is Leg and self._hash == other._hash and self._key == other._key)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        kind = "" if set(self.symmetry.factors) == {"U1"} else f", symmetry={self.symmetry!r}"
        fused = f", fused from {len(self.parts)}" if self.parts else ""
        return f"Leg({self.sectors}, flow={self.flow:+d}{kind}{fused})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Leg._made, (self.symmetry, self.charges, self.dims, self.flow, self.parts)


def _symmetry_of(sectors, given):
    if given is not None:
        return symmetry(given)
    first = next(iter(sectors), 0)
    return symmetry(("U1",) * (len(first) if isinstance(first, tuple) else 1))


def _flow(flow):
    if flow not in (1, -1):
        raise ArgumentError(f"Leg: flow={flow!r} must be +1 (into the tensor) or -1 (out of it)")
    return int(flow)


def _dimension(dim, charge):
    try:
        found = index(dim)
    except TypeError:
        found = 0
    if found < 1:
        raise ArgumentError(
            f"Leg: sector {charge!r} has dimension {dim!r}, which must be 1 or more: leave empty sectors out"
        )
    return found


def same_legs(one: Iterable[Leg], two: Iterable[Leg]) -> bool:
    """Whether two rows of legs are the same indices."""
    one, two = tuple(one), tuple(two)
    return len(one) == len(two) and all(map(Leg.alike, one, two))
