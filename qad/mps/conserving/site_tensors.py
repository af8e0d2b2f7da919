"""What finite and infinite chains of definite charge have in common: a row of symmetric tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qad.symmetric.tensor import SymTensor


class SiteTensors:
    """A row of site tensors of legs (left, phys, right)."""

    tensors: tuple[SymTensor, ...]

    def __len__(self) -> int:
        return len(self.tensors)

    def __getitem__(self, site: Any) -> Any:
        return self.tensors[site]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tensors)

    @property
    def bonds(self) -> tuple[int, ...]:
        """Dimensions of the bonds: the one left of site 0, then the one right of every site."""
        return (self.tensors[0].shape[0], *(t.shape[2] for t in self.tensors))

    @property
    def bond(self) -> int:
        """The largest bond dimension."""
        return max(self.bonds)

    @property
    def phys(self) -> tuple[int, ...]:
        """Dimensions of the physical legs."""
        return tuple(t.shape[1] for t in self.tensors)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype in which all site tensors fit."""
        return np.result_type(*{t.dtype for t in self.tensors})
