"""Layouts: where the blocks of a symmetric tensor lie in its flat array.

The legs of a tensor are parted in two: ``legs[:split] | legs[split:]``.  The combinations of sectors on the left that
add up to one charge are the rows of a matrix, those on the right that complete it to the total charge are its columns.
Such a matrix is a *sector*: it is full, as each of its blocks is allowed.  Sectors lie in C order, one after the other,
in the order of their first blocks.  (Sorted by charge they would lie in another order in the conjugate.)
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from itertools import starmap
from operator import index
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.symmetric.blocks.combinations import Combinations, fusion
from qad.symmetric.groups import Symmetry
from qad.symmetric.legs import Leg

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from qad.symmetric.groups import Charge

__all__ = ["Layout", "Sector", "layout", "named"]


class Sector(NamedTuple):
    """One matrix: the charge of its rows, where it begins in the flat array, and its size."""

    charge: tuple[int, ...]
    start: int
    rows: int
    columns: int


class Pairing:
    """Which combinations of rows and of columns are blocks, whatever the dimensions.  Hashed by identity; shared.

    Attributes
    ----------
    charges : list of charges
        Of the rows of each sector.
    above, beside : array of int (sectors,)
        The number of each sector's charge among those of the rows, and of the columns.
    rows, columns, sectors : array of int (blocks,)
        For each block, in the order in which they lie, its combinations and its sector.
    numbers : array of int (blocks, legs)
        For each block its sector on each leg.
    """

    charges: list[tuple[int, ...]]
    above: np.ndarray
    beside: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    sectors: np.ndarray
    numbers: np.ndarray

    def __init__(self, rows: Combinations, columns: Combinations, total: tuple[int, ...], group: Symmetry):
        place = {charge: number for number, charge in enumerate(columns.charges)}
        pairs = [(i, place.get(group.minus(total, charge))) for i, charge in enumerate(rows.charges)]
        pairs = [pair for pair in pairs if pair[1] is not None]
        self.charges = [rows.charges[i] for i, _ in pairs]
        self.above, self.beside = np.array(pairs, np.int64).reshape(-1, 2).T
        high, wide = np.diff(rows.bounds)[self.above], np.diff(columns.bounds)[self.beside]
        counts = high * wide
        self.sectors = np.repeat(np.arange(len(pairs)), counts)
        within = np.arange(len(self.sectors)) - np.repeat(np.cumsum(counts) - counts, counts)
        self.rows = rows.bounds[self.above][self.sectors] + within // wide[self.sectors]
        self.columns = columns.bounds[self.beside][self.sectors] + within % wide[self.sectors]
        self.numbers = np.concatenate([rows.numbers[self.rows], columns.numbers[self.columns]], axis=1)

    @cached_property
    def codes(self) -> np.ndarray:
        """Each block as one number, in the order of the codes, and which block it is: two rows."""
        codes = np.ravel_multi_index(tuple(self.numbers.T), self.counts) if self.numbers.shape[1] else self.sectors
        order = np.argsort(codes)
        return np.stack([codes[order], order])

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """How many sectors of each leg there are, as far as blocks have them."""
        return tuple((self.numbers.max(axis=0, initial=0) + 1).tolist())

    def find(self, numbers: np.ndarray) -> np.ndarray:
        """The places of the blocks of these sectors, one row each, all of which have to be there."""
        if not numbers.size:
            return np.zeros(len(numbers), np.int64)
        codes, order = self.codes
        return order[np.searchsorted(codes, np.ravel_multi_index(tuple(numbers.T), self.counts))]


@lru_cache(maxsize=4096)
def pairing(rows: Combinations, columns: Combinations, total: tuple[int, ...], group: Symmetry) -> Pairing:
    """The pairing from a bounded cache."""
    return Pairing(rows, columns, total, group)


class Blocks(NamedTuple):
    """All blocks of a layout, one row each: where they begin, their dimensions, how far their elements lie apart."""

    starts: np.ndarray
    shapes: np.ndarray
    strides: np.ndarray


class Layout:
    """Where the blocks of a tensor lie in its flat array.  Immutable, hashable; made by `layout`, and shared.

    Attributes
    ----------
    legs : tuple of Leg
    split : int
        How many of the legs are rows.
    total : tuple of int
        The total charge, one number per factor of the symmetry.
    symmetry : Symmetry
        A tensor without legs has one, too.
    starts, heights, widths : array of int (sectors,)
        Where each sector begins, its rows and its columns.
    size : int
        The number of elements of the flat array.
    pairing : Pairing
        What charges alone say; layouts that differ only in dimensions share it.
    """

    legs: tuple[Leg, ...]
    split: int
    total: tuple[int, ...]
    symmetry: Symmetry
    starts: np.ndarray
    heights: np.ndarray
    widths: np.ndarray
    size: int
    pairing: Pairing

    def __init__(self, legs: tuple[Leg, ...], split: int, total: tuple[int, ...], group: Symmetry):
        self.legs, self.split, self.total, self.symmetry = legs, split, total, group
        self._key = (legs, split, total, group)
        self._hash = hash(self._key)
        rows, columns = fusion(legs[:split], group), fusion(legs[split:], group)
        self.pairing = pairing(rows.combinations, columns.combinations, total, group)
        self.heights, self.widths = rows.sizes[self.pairing.above], columns.sizes[self.pairing.beside]
        ends = np.cumsum(self.heights * self.widths)
        self.starts, self.size = ends - self.heights * self.widths, int(ends[-1]) if len(ends) else 0

    @cached_property
    def sectors(self) -> tuple[Sector, ...]:
        """The matrices, in the order in which they lie."""
        rows = self.pairing.charges, self.starts.tolist(), self.heights.tolist(), self.widths.tolist()
        return tuple(starmap(Sector, zip(*rows, strict=True)))

    @property
    def charge(self) -> Charge:
        """The total charge, as the caller writes it."""
        return self.symmetry.shown(self.total)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The shape of the dense tensor."""
        return tuple([leg.dim for leg in self.legs])

    @property
    def arrays(self) -> Blocks:
        """The blocks as arrays, in the order in which they lie."""
        rows, columns = (fusion(legs, self.symmetry) for legs in (self.legs[: self.split], self.legs[self.split :]))
        found, wide = self.pairing, self.widths[self.pairing.sectors]
        starts = self.starts[found.sectors] + rows.starts[found.rows] * wide + columns.starts[found.columns]
        shapes = np.concatenate([rows.shapes[found.rows], columns.shapes[found.columns]], axis=1)
        steps = [rows.strides[found.rows] * wide[:, None], columns.strides[found.columns]]
        return Blocks(starts, shapes, np.concatenate(steps, axis=1))

    @property
    def charges(self) -> list[tuple[Charge, ...]]:
        """The charges of each block, one per leg, as the caller writes them."""
        shown = [list(map(self.symmetry.shown, leg.charges)) for leg in self.legs]
        numbers = self.pairing.numbers.tolist()
        return [tuple([own[i] for own, i in zip(shown, block, strict=True)]) for block in numbers]

    @cached_property
    def conj(self) -> Layout:
        """The layout of the conjugate, whose data lie in the same order."""
        return layout(
            tuple([leg.conj() for leg in self.legs]), self.split, self.symmetry.opposite(self.total), self.symmetry
        )

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is Layout and self._hash == other._hash and self._key == other._key)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        legs = named(self.legs[: self.split]) + " | " + named(self.legs[self.split :])
        return f"Layout({legs}, charge={self.charge}, {len(self.sectors)} sectors, size {self.size})"

    def __reduce__(self) -> tuple[Any, ...]:
        return layout, self._key


@lru_cache(maxsize=8192)
def layout(legs: tuple[Leg, ...], split: int, total: tuple[int, ...], group: Symmetry) -> Layout:
    """The layout from a bounded cache."""
    return Layout(legs, split, total, group)


def named(legs: Iterable[Leg]) -> str:
    """Legs in messages."""
    return "(" + ", ".join(map(repr, legs)) + ")"


def checked(legs: Any, charge: Any, split: int | None, group: Symmetry | None, owner: str) -> Layout:
    """The layout of a tensor that a caller asks for; raises where legs do not go together or no block is allowed."""
    if not (isinstance(legs, Leg) or hasattr(legs, "__iter__")):
        raise ArgumentError(f"{owner}: legs={legs!r} must be a sequence of qad.symmetric.Leg")
    legs = (legs,) if isinstance(legs, Leg) else tuple(legs)
    for number, leg in enumerate(legs):
        if not isinstance(leg, Leg):
            raise ArgumentError(
                f"{owner}: leg {number} is a {type(leg).__name__}: write qad.symmetric.Leg({{charge: dimension}}, flow)"
            )
    group = legs[0].symmetry if legs and group is None else group
    if group is None:
        raise ArgumentError(f"{owner}: a tensor without legs has to be told its symmetry: symmetry='U1'")
    if any(leg.symmetry is not group for leg in legs):
        raise ShapeError(f"{owner}: legs of different symmetries do not go together: {named(legs)}, symmetry {group!r}")
    total = group.neutral if charge is None else group.charge(charge)
    cut = default_split(len(legs)) if split is None else in_range(split, len(legs), owner)
    found = layout(legs, cut, total, group)
    if not found.size:
        raise ArgumentError(f"{owner}: {_forbidden(found)}")
    return found


def default_split(ndim: int) -> int:
    """How many legs are rows where nobody says."""
    return (ndim + 1) // 2


def in_range(split: Any, ndim: int, owner: str) -> int:
    """A number of legs, as an int."""
    found = index(split) if hasattr(split, "__index__") else -1
    if not 0 <= found <= ndim:
        raise ArgumentError(f"{owner}: split={split!r} must be a number of legs, from 0 to {ndim}")
    return found


def _forbidden(found: Layout) -> str:
    totals = sorted(fusion(found.legs, found.symmetry).dims)
    shown = [found.symmetry.shown(q) for q in totals]
    some = ", ".join(map(str, shown if len(shown) <= 12 else [*shown[:6], "...", *shown[-6:]]))
    return f"no block has total charge {found.charge}: legs {named(found.legs)} allow the total charges {some}"
