"""What finite and infinite chains of definite charge have in common: a row of symmetric tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.mps.row import Row

if TYPE_CHECKING:
    from qad.symmetric.tensor import SymTensor


class SiteTensors(Row):
    """A row of site tensors of legs (left, phys, right)."""

    tensors: tuple[SymTensor, ...]
    RIGHT: int = 2

    @property
    def phys(self) -> tuple[int, ...]:
        """Dimensions of the physical legs."""
        return tuple(t.shape[1] for t in self.tensors)
