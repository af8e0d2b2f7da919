"""Symmetric tensors as maps from some of their legs to the others, and such maps as matrices, one for each sector."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.symmetric.blocks.layout import Layout, in_range, layout, named
from qad.symmetric.blocks.moves import between, move
from qad.symmetric.legs import Leg, same_legs
from qad.symmetric.tensor import SymTensor, as_symmetric, bare, moved

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from qad.typing import Array, Axis

__all__ = [
    "as_map", "as_square", "axes_of", "bond_leg", "columns_of", "halves", "in_order_of", "joined", "of_square",
    "rows_of",
]  # fmt: skip


def axes_of(a: SymTensor, axes: Axis, owner: str) -> tuple[int, ...]:
    """The axes that a caller names by one number or by several, counted from the front, each once."""
    try:
        found = tuple([range(a.ndim)[axis] for axis in ([axes] if hasattr(axes, "__index__") else axes)])
    except (IndexError, TypeError) as error:
        raise ArgumentError(f"{owner}: axes={axes!r} must name axes of the {a.ndim}") from error
    if len(set(found)) < len(found):
        raise ArgumentError(f"{owner}: axes={axes!r} name an axis twice")
    return found


def as_map(a: SymTensor, split: int | None, owner: str) -> SymTensor:
    """The tensor as a map between its first legs and the others."""
    a = as_symmetric(a, owner)
    return a if split is None else moved(a, tuple(range(a.ndim)), in_range(split, a.ndim, owner))


def as_square(a: SymTensor, owner: str) -> SymTensor:
    """The tensor as a map from its first legs to their conjugates; raises where it is none.

    The matrices of the sectors are multiplied where such maps are composed: with the signs of fermions (`of_square`).
    """
    a = as_map(a, None, owner)
    half = a.ndim // 2
    first, second = a.legs[:half], a.legs[half:]
    if a.ndim % 2 or not half or not same_legs(first, [leg.conj() for leg in second]):
        raise ShapeError(f"{owner}: the second half of the legs has to be the conjugate of the first: {named(a.legs)}")
    if a.layout.total != a.symmetry.neutral:
        raise ArgumentError(f"{owner}: the charge of a map to the same legs is neutral, not {a.charge}")
    if a.symmetry.fermionic and any(leg.flow < 0 for leg in first):
        raise ShapeError(
            f"{owner}: functions of fermionic maps take first legs of flow +1, on which the inner product is positive: "
            f"{named(a.legs)}"
        )
    return of_square(a.resplit(half))


def of_square(a: SymTensor) -> SymTensor:
    """A map from some legs to their conjugates, of the matrices that multiply, and the other way round.

    Fermions meet from the inside outwards, so that the second half of the legs acts in reversed order.
    """
    where, half = a.layout, a.ndim // 2
    whole = tuple(range(a.ndim))
    signs = between(where, where, whole, (*whole[:half], *whole[: half - 1 : -1]))
    return a if signs is None else bare(where, move(a.data, table=signs))


def bond_leg(where: Layout, ranks: Sequence[int], owner: str) -> Leg:
    """The leg of a new bond, seen from the columns (flow +1), with so many values of each sector, sorted by charge."""
    kept = sorted((s.charge, rank) for s, rank in zip(where.sectors, ranks, strict=True) if rank)
    if not kept:
        raise ArgumentError(f"{owner}: the bond would be empty: no block of {where!r} is left")
    charges, dims = zip(*kept, strict=True)
    return Leg._made(where.symmetry, charges, dims, 1)


def rows_of(where: Layout, bond: Leg, matrices: Iterable[Array]) -> SymTensor:
    """The left factor: rows of a layout and the bond, from the matrices of all sectors, some of them empty."""
    target = layout((*where.legs[: where.split], bond.conj()), where.split, where.symmetry.neutral, where.symmetry)
    return bare(target, joined(matrices))


def columns_of(where: Layout, bond: Leg, matrices: Iterable[Array]) -> SymTensor:
    """The right factor: the bond and the columns of a layout, from matrices in the order of the bond."""
    return bare(layout((bond, *where.legs[where.split :]), 1, where.total, where.symmetry), joined(matrices))


def halves(where: Layout, pairs: Sequence[tuple[Array, Array]], owner: str) -> tuple[SymTensor, SymTensor]:
    """Both factors of a map, joined by a new bond, from a pair of matrices for each sector, some of them empty."""
    bond = bond_leg(where, [one.shape[-1] for one, _ in pairs], owner)
    right = in_order_of(bond, where, [two for _, two in pairs])
    return rows_of(where, bond, [one for one, _ in pairs]), columns_of(where, bond, right)


def in_order_of(bond: Leg, where: Layout, of_sectors: Sequence[Any]) -> list[Any]:
    """What belongs to the sectors of a layout, in the order of the bond."""
    table = {sector.charge: x for sector, x in zip(where.sectors, of_sectors, strict=True)}
    return [table[charge] for charge in bond.charges]


def joined(matrices: Iterable[Array]) -> Array:
    """Matrices one after the other in a flat array."""
    return np.concatenate([matrix.reshape(-1) for matrix in matrices])
