"""Rows of symmetric site tensors: what holds of a state with charges, and of two that meet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qad.core.errors import ArgumentError, ShapeError
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.chain.row import SiteRow


def total_of(tensors: Sequence[SymTensor] | SiteRow) -> tuple[int, ...]:
    """The total charge of a chain."""
    return tensors[-1].legs[2].charges[0]


def require_alike(one: Any, two: Any, what: str) -> None:
    """Raise unless both conserve the same on the same sites, or both nothing."""
    if one.conserved != two.conserved:
        raise ArgumentError(
            f"{what} takes two states that conserve the same on the same sites: give .without_symmetry() of both"
        )


def require_same_sector(one: Any, two: Any) -> None:
    """Raise where two states that conserve the same have different charges."""
    if one.conserved is not None and total_of(one) != total_of(two):
        raise ArgumentError(
            f"the sum of states of {', '.join(one.conserved.names)} = {one.sector} and {two.sector} is in no sector: "
            "give .without_symmetry() of both"
        )


def check_row(psi: Any) -> None:
    """Raise unless neighbours fit, and physical legs are those of their sites."""
    legs = psi.conserved.legs
    if len(psi) != len(legs) or not len(psi):
        raise ShapeError(f"{len(psi)} site tensors were given for {len(legs)} sites")
    for site, (tensor, leg) in enumerate(zip(psi, legs, strict=True)):
        if not isinstance(tensor, SymTensor) or tensor.ndim != 3 or not tensor.legs[1].alike(leg):
            raise ShapeError(f"site {site} needs a SymTensor of legs (left, {leg!r}, right), not {tensor!r}")
        if site and not psi[site - 1].legs[2].joins(tensor.legs[0]):
            raise ShapeError(
                f"the bond between sites {site - 1} and {site} does not fit: {psi[site - 1].legs[2]!r} and "
                f"{tensor.legs[0]!r}"
            )
    if psi.bonds[0] != 1 or psi.bonds[-1] != 1:
        raise ShapeError(
            f"the outer bonds have dimensions {psi.bonds[0]} and {psi.bonds[-1]}: only open chains conserve"
        )
