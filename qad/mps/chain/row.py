"""A row of site tensors joined by bonds, whatever the tensors are."""

from __future__ import annotations

from math import lcm
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import like, stack_of
from qad.symmetric.blocks.layout import layout
from qad.symmetric.tensor import SymTensor, bare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Self

    from qad.symmetric.legs import Leg
    from qad.typing import Number, T


def is_number(x: Any) -> bool:
    """Whether this is one number, recorded or not, and no chain or sequence."""
    return isinstance(x, (int, float, complex, np.generic)) or getattr(x, "shape", None) == ()


def distinct_map(function: Callable[..., T], *rows: Iterable[Any]) -> list[T]:
    """``list(map(function, *rows))``, called once for the same objects: chains repeat their tensors."""
    columns = list(zip(*rows, strict=True))
    distinct = {tuple(map(id, column)): column for column in columns}
    made = {key: function(*column) for key, column in distinct.items()}
    return [made[tuple(map(id, column))] for column in columns]


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
    """What is added, and multiplied by numbers (`_times`): chains, and sums of operators."""

    __slots__ = ()
    _times: Any

    def __sub__(self, other: Any) -> Self:
        return self + -1.0 * other if isinstance(other, Linear) or is_number(other) else NotImplemented

    def __rsub__(self, other: Number) -> Self:
        return -1.0 * self + other

    def __neg__(self) -> Self:
        return -1.0 * self

    def __mul__(self, factor: Number) -> Self:
        if isinstance(factor, Linear):
            raise ArgumentError(
                "the product of two operators is A @ B, the overlap of states psi @ phi; * is by a number"
            )
        if np.ndim(factor) != 0 or isinstance(factor, str):
            return NotImplemented
        return self._times(factor)

    __rmul__ = __mul__
    __array_ufunc__ = None  # NumPy's numbers leave the product to us

    def __truediv__(self, divisor: Number) -> Self:
        if np.ndim(divisor) != 0 or isinstance(divisor, (Linear, str)):
            return NotImplemented
        if np.any(stack_of(divisor) == 0):
            raise ArgumentError("a chain or a sum is not divided by zero")
        return self * (1 / divisor)


# -- ends of open chains -----------------------------------------------------------------------------------------------


def edges(tensors: Sequence[Any], operator: Sequence[Any] = ()) -> tuple[Any, Any]:
    """The environments beyond both ends of an open chain, legs (bra, ket), or (bra, operator, ket)."""
    first, last = tensors[0], tensors[-1]
    if type(first) is not SymTensor:
        one = like(*tensors).ones((1, 1, 1) if operator else (1, 1))
        return one, one
    channels = [operator[0].legs[0], operator[-1].legs[1]] if operator else []
    return edge(first, first.legs[0], channels[:1]), edge(last, last.legs[2], channels[1:])


def edge(tensor: SymTensor, leg: Leg, channel: Sequence[Leg]) -> SymTensor:
    """The environment beyond the outer leg of a site tensor, and that of an operator."""
    where = layout((leg, *[x.conj() for x in channel], leg.conj()), 1, leg.symmetry.neutral, leg.symmetry)
    return bare(where, like(tensor.data).ones(1, tensor.data.real.dtype))


# -- rows of symmetric tensors -----------------------------------------------------------------------------------------


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


def check_standing(psi: Any, other: Any, what: str, first: str = "the state") -> None:
    """Raise where a chain and another both know what stands on a site, and it is not the same.

    Of one name a kind may have more operators than the other, as one that the user extends.
    """
    if None in (psi.sites, other.sites) or psi.sites == other.sites:
        return
    cell = lcm(len(psi.sites), len(other.sites))  # cells of infinite chains may differ
    repeated = [row.sites * (cell // len(row.sites)) for row in (psi, other)]
    for site, (one, two) in enumerate(zip(*repeated, strict=True)):
        names = one.operators.keys() & two.operators.keys()
        same = one.fermionic & names == two.fermionic & names
        same &= all(np.array_equal(one.operators[name], two.operators[name]) for name in names)
        if one.name != two.name or not same:
            with_others = " with other operators" if one.name == two.name else ""
            raise ArgumentError(
                f"site {site} of {first} is of kind {one.name!r}, of {what} {two.name!r}{with_others}: make both for "
                f"the same kind, or take {type(psi).__name__}(psi.tensors, psi.conserved), which knows none, as of "
                "spins that stand for fermions"
            )


def check_row(psi: Any, legs: Callable[[], Sequence[Leg]], around: bool = False) -> None:
    """Raise unless neighbours fit, `around` a cell the ends too, and physical legs are those of their sites."""
    if len(psi) != len(psi.conserved.charges) or not len(psi):
        raise ShapeError(f"{len(psi)} site tensors were given for {len(psi.conserved.charges)} sites")
    for site, tensor in enumerate(psi):
        if not isinstance(tensor, SymTensor) or tensor.ndim != 3:
            raise ShapeError(f"site {site} needs a SymTensor of legs (left, physical, right), not {tensor!r}")
    for site, (tensor, leg) in enumerate(zip(psi, legs(), strict=True)):
        if not tensor.legs[1].alike(leg):
            raise ShapeError(f"site {site} needs a SymTensor of legs (left, {leg!r}, right), not {tensor!r}")
        if (site or around) and not psi[site - 1].legs[2].joins(tensor.legs[0]):
            raise ShapeError(
                f"the bond left of site {site} does not fit: {psi[site - 1].legs[2]!r} and {tensor.legs[0]!r}"
            )
    if not around and (psi.bonds[0] != 1 or psi.bonds[-1] != 1):
        raise ShapeError(
            f"the outer bonds have dimensions {psi.bonds[0]} and {psi.bonds[-1]}: only open chains conserve"
        )
