"""Symmetries: U(1), Z_n, the parity of fermions, and products of them, whose charges are whole numbers that add."""

from __future__ import annotations

import re
from functools import cache
from operator import index
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeAlias

    Charge: TypeAlias = int | tuple[int, ...]
    SymmetryLike: TypeAlias = "str | Sequence[str] | Symmetry"

__all__ = ["Symmetry", "symmetry"]

U1 = 0  # the modulus of charges that are not counted modulo anything


class Symmetry:
    """A product of factors U(1), Z_n and fZ2, the parity of fermions; equal symmetries are one object (`symmetry`).

    A charge is a tuple with one whole number per factor inside of this floor; outside, the charge of a single factor is
    the bare number.

    Attributes
    ----------
    factors : tuple of str
        ``"U1"``, ``"Z2"``, ``"Z3"``, ..., ``"fZ2"``
    moduli : tuple of int
        Modulo what the charges of each factor count; 0 for U(1).
    fermionic : tuple of int
        The places of the factors fZ2: states are odd where their charges there add up to an odd number.
    """

    __slots__ = ("factors", "moduli", "neutral", "fermionic")
    factors: tuple[str, ...]
    moduli: tuple[int, ...]
    neutral: tuple[int, ...]
    fermionic: tuple[int, ...]

    def charge(self, given: Any) -> tuple[int, ...]:
        """A charge as the caller writes it, as a tuple; raises where it is none of this symmetry."""
        parts = given if isinstance(given, tuple) else (given,)
        try:
            numbers = tuple(map(index, parts))
        except TypeError:
            numbers = ()
        if len(numbers) != len(self.moduli):
            raise ArgumentError(
                f"{given!r} is no charge of {self}: write "
                + ("a whole number" if len(self.moduli) == 1 else f"a tuple of {len(self.moduli)} whole numbers")
            )
        return self.reduced(numbers)

    def reduced(self, numbers: tuple[int, ...]) -> tuple[int, ...]:
        """Charges of Z_n from 0 to n - 1."""
        return tuple([q % n if n else q for q, n in zip(numbers, self.moduli, strict=True)])

    def residues(self, charges: np.ndarray) -> np.ndarray:
        """An array of charges, its last axis that of the factors, those of Z_n from 0 to n - 1."""
        return np.where(self.moduli, charges % np.maximum(self.moduli, 1), charges)

    def shown(self, charge: tuple[int, ...]) -> Charge:
        """A charge as the caller writes it."""
        return charge[0] if len(charge) == 1 else charge

    def minus(self, one: tuple[int, ...], two: tuple[int, ...]) -> tuple[int, ...]:
        """The difference of two charges."""
        return tuple([(a - b) % n if n else a - b for a, b, n in zip(one, two, self.moduli, strict=True)])

    def plus(self, one: tuple[int, ...], two: tuple[int, ...]) -> tuple[int, ...]:
        """The sum of two charges."""
        return tuple([(a + b) % n if n else a + b for a, b, n in zip(one, two, self.moduli, strict=True)])

    def is_odd(self, charge: tuple[int, ...]) -> int:
        """1 for charges of an odd number of fermions, 0 for others."""
        return sum([charge[place] for place in self.fermionic]) % 2

    def opposite(self, charge: tuple[int, ...]) -> tuple[int, ...]:
        """The charge that gives neutral with this one."""
        return self.minus(self.neutral, charge)

    def __str__(self) -> str:
        return "x".join(self.factors)

    def __repr__(self) -> str:
        return repr(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return symmetry, (str(self),)


def symmetry(given: SymmetryLike) -> Symmetry:
    """The symmetry that the caller names: ``"U1"``, ``"Z2"``, ``"U1xZ2"``, ``("U1", "fZ2")``.

    Parameters
    ----------
    given : str, sequence of str, or Symmetry
        ``"fZ2"`` is the parity of fermions: exchanges of odd legs change signs (`qad.symmetric.SymTensor`).

    Raises
    ------
    ArgumentError
        If there is no such symmetry.

    Examples
    --------
    >>> import qad
    >>> str(qad.symmetric.symmetry(("U1", "Z2")))
    'U1xZ2'
    """
    if isinstance(given, Symmetry):
        return given
    if not isinstance(given, str | tuple | list):
        raise ArgumentError(f'{given!r} is no symmetry: write "U1", "Z2", "U1xZ2"')
    return _named(given if isinstance(given, str) else "x".join(map(str, given)))


SHARED: dict[tuple[str, ...], Symmetry] = {}  # by factors, one object each, whichever thread asks first


@cache
def _named(text):
    factors, moduli = [], []
    for factor in text.split("x"):
        cyclic = re.fullmatch(r"Z([0-9]+)", "Z2" if factor == "fZ2" else factor)
        if factor != "U1" and not (cyclic and int(cyclic[1]) >= 2):
            raise ArgumentError(
                f'there is no symmetry {factor!r}: write "U1", "Z2", "Z3", ..., "fZ2" for the parity of fermions, and '
                'products of them as "U1xZ2"'
            )
        moduli.append(int(cyclic[1]) if cyclic else U1)
        factors.append(factor if factor == "fZ2" else f"Z{moduli[-1]}" if cyclic else "U1")
    found = object.__new__(Symmetry)
    found.factors, found.moduli, found.neutral = tuple(factors), tuple(moduli), (0,) * len(factors)
    found.fermionic = tuple([place for place, factor in enumerate(factors) if factor == "fZ2"])
    return SHARED.setdefault(found.factors, found)
