"""A row of site tensors joined by bonds, whatever the tensors are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Row"]


class Row:
    """Site tensors whose leg 0 joins the previous site, and leg `RIGHT` the next one."""

    __slots__ = ()
    tensors: tuple[Any, ...]
    RIGHT: int

    def __len__(self) -> int:
        return len(self.tensors)

    def __getitem__(self, site: Any) -> Any:
        return self.tensors[site]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tensors)

    @property
    def bonds(self) -> tuple[int, ...]:
        """Dimensions of the bonds: the one left of site 0, then the one right of every site."""
        return (self.tensors[0].shape[0], *(t.shape[self.RIGHT] for t in self.tensors))

    @property
    def bond(self) -> int:
        """The largest bond dimension."""
        return max(self.bonds)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype in which all site tensors fit."""
        return np.result_type(*{t.dtype for t in self.tensors})
