"""What finite and infinite chains of definite charge have in common: a row of symmetric tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qad.core.errors import ArgumentError
from qad.mps.chain.row import Row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.symmetric.tensor import SymTensor


class SiteTensors(Row):
    """A row of site tensors of legs (left, phys, right)."""

    tensors: tuple[SymTensor, ...]
    RIGHT: int = 2

    @property
    def phys(self) -> tuple[int, ...]:
        """Dimensions of the physical legs."""
        return tuple(t.shape[1] for t in self.tensors)


def total_of(tensors: Sequence[SymTensor] | SiteTensors) -> tuple[int, ...]:
    """The total charge of a chain."""
    return tensors[-1].legs[2].charges[0]


def require_alike(one: Any, two: Any, what: str) -> None:
    """Raise unless both conserve the same on the same sites."""
    if getattr(one, "conserved", None) is None or one.conserved != getattr(two, "conserved", None):
        raise ArgumentError(
            f"{what} takes two states that conserve the same on the same sites: give .without_symmetry() of both"
        )
