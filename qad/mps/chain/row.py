"""A row of site tensors joined by bonds, whatever the tensors are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Self

    from qad.typing import Number, T

__all__ = ["Linear", "SiteRow", "distinct_map"]


def distinct_map(function: Callable[[Any], T], items: Iterable[Any]) -> list[T]:
    """``[function(x) for x in items]``, once for each distinct item: chains repeat their tensors."""
    made = {}
    return [made[id(x)] if id(x) in made else made.setdefault(id(x), function(x)) for x in items]


class SiteRow:
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

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
        raise ArgumentError(f"{type(self).__name__} is a chain, where an array or a number is needed")

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


class Linear:
    """Chains that are added, and multiplied by numbers, which their first tensor takes."""

    __slots__ = ()
    tensors: tuple[Any, ...]
    _made_of: Any

    def __sub__(self, other: Any) -> Self:
        return self + -1.0 * other if type(other) is type(self) else NotImplemented

    def __neg__(self) -> Self:
        return -1.0 * self

    def __mul__(self, factor: Number) -> Self:
        if isinstance(factor, Linear):
            raise ArgumentError(
                "the product of two operators is A @ B, the overlap of states psi @ phi; * is by a number"
            )
        if np.ndim(factor) != 0 or factor is None or isinstance(factor, str):
            return NotImplemented
        return self._made_of([factor * self.tensors[0], *self.tensors[1:]])

    __rmul__ = __mul__
    __array_ufunc__ = None  # NumPy's numbers leave the product to us

    def __truediv__(self, divisor: Number) -> Self:
        return self * (1 / divisor) if np.ndim(divisor) == 0 else NotImplemented
