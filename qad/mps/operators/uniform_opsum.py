"""Sums of products of named operators on infinite chains: terms of one cell, which repeat from cell to cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import as_array, stack_of
from qad.keywords import keywords_told
from qad.mps.chain.chain import site_count
from qad.mps.charges.parts import of_definite_charge
from qad.mps.operators.automaton import repeated, site_tensors
from qad.mps.operators.opsum import OpSum
from qad.mps.operators.power_law import power_law
from qad.mps.operators.uniform_mpo import UniformMPO

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn, Self

    from qad.mps.operators.automaton import Ahead
    from qad.mps.operators.local import Site
    from qad.typing import ArrayLike, Number


class UniformOpSum(OpSum):
    """A sum of products of local operators on an infinite chain, as the terms that begin in one cell.

    Parameters
    ----------
    cell : int
        Number of sites after which the terms repeat.
    kind : str, Site, or a sequence of them
        What stands on every site of the cell, or on each, as in `qad.mps.OpSum`.

    Notes
    -----
    `add` takes any sites from 0 on, those beyond the cell too: ``"Sz", 0, "Sz", 2`` in a cell of one site couples all
    second neighbours.  A term is added once, however it is shifted by cells.  Sums are added, multiplied by numbers,
    and have a `dagger`, as finite ones do.

    Examples
    --------
    >>> import qad
    >>> H = qad.mps.uniform.UniformOpSum()
    >>> H.add(-1.0, "Z", 0, "Z", 1).add(0.3, "Z", 0, "X", 1, "Z", 2).add(-0.5, "X", 0)
    UniformOpSum(a cell of 1 sites, 3 terms)
    >>> H.mpo()
    UniformMPO(1 sites, repeated, bonds 4-4, float64)
    """

    sites: tuple[Site, ...]
    identities: Any

    @keywords_told
    def __init__(self, cell: int = 1, kind: str | Site | Sequence[str | Site] = "spin-1/2"):
        super().__init__(site_count(cell, 1, "cell"), kind)
        self.cell: int = len(self.sites)

    def __repr__(self) -> str:
        return f"UniformOpSum(a cell of {self.cell} sites, {len(self)} terms)"

    def add(self, coefficient: Number, *factors: str | int | ArrayLike) -> Self:
        """Add one product of operators, and with it all that are shifted by whole cells.

        Parameters
        ----------
        coefficient : number or Tensor
            Real or complex; it may be differentiated.
        *factors
            Operators and their sites in turn, ``"Sp", 0, "Sm", 3``; sites count from 0 and may lie beyond the cell.
            No factors at all: a constant of every cell.

        Returns
        -------
        UniformOpSum
            This one, so that calls can be chained.

        Raises
        ------
        ArgumentError
            As in `qad.mps.OpSum.add`; and for an odd number of fermionic operators.

        Examples
        --------
        >>> import qad
        >>> hop = qad.mps.uniform.UniformOpSum(1, "fermion").add(-1.0, "Cdag", 0, "C", 1)
        >>> (hop + hop.dagger()).mpo().bond
        4
        """
        sites = [int(site) for site in factors[1::2] if hasattr(site, "__index__")]
        self._reach(max(sites, default=0) + 1)
        if sum(self._factor(operator, site)[1] for operator, site in self._factors(factors)) % 2:
            raise ArgumentError("a term of an odd number of fermionic operators has no place in an infinite chain")
        return super().add(coefficient, *factors)

    def add_exponential(self, coefficient: Number, rate: Number, left: str, right: str) -> Self:
        """Add ``coefficient * sum_{i<j} rate**(j-i) left(i) right(j)`` over all pairs of the infinite chain.

        Parameters
        ----------
        coefficient, rate : number or Tensor
            They may be differentiated; ``|rate| < 1``.
        left, right : str
            Operators that every site has; both or none of them fermionic.

        Returns
        -------
        UniformOpSum
            This one.

        Examples
        --------
        >>> import qad
        >>> qad.mps.uniform.UniformOpSum().add_exponential(1.0, 0.5, "Z", "Z").mpo().bond
        3
        """
        size = np.abs(as_array(stack_of(rate))) if np.ndim(rate) == 0 else 1.0
        if np.asarray(size).dtype.kind not in "fiu" or not np.all(size < 1):
            raise ArgumentError(f"a rate needs a magnitude below 1, for couplings to decay, but got {rate!r}")
        if self._factor(left, 0)[1] != self._factor(right, 0)[1]:
            raise ArgumentError(f"{left!r} and {right!r}: both or none of a pair's operators are fermionic")
        return super().add_exponential(coefficient, rate, left, right)

    def add_power_law(self, coefficient: Number, exponent: float, left: str, right: str, error: float = 1e-6) -> Self:
        """Add ``coefficient * sum_{i<j} (j-i)**-exponent left(i) right(j)``, its couplings fitted by exponentials.

        Parameters
        ----------
        coefficient : number or Tensor
            It may be differentiated.
        exponent : float
            More than 1.
        left, right : str
            As in `add_exponential`.
        error : float
            The sum of the differences ``|fit(r) - r**-exponent|`` over all distances r is below this; so the energy per
            site errs by no more than ``error * |coefficient|`` times the norms of both operators.

        Returns
        -------
        UniformOpSum
            This one.

        Raises
        ------
        ArgumentError
            If the exponent is not more than 1, or the error is out of reach.

        Examples
        --------
        >>> import qad
        >>> qad.mps.uniform.UniformOpSum().add_power_law(-1.0, 3.0, "Z", "Z", error=1e-4).mpo().bond
        8
        """
        for weight, rate in zip(*power_law(exponent, error), strict=True):
            self.add_exponential(coefficient * (weight / rate), rate, left, right)
        return self

    def mpo(self, conserve: str | Sequence[str] | None = None) -> UniformMPO:
        """The sum as the cell of a matrix product operator.

        Parameters
        ----------
        conserve : str or sequence of str, optional
            Quantities that the sum conserves, such as "Sz" or ("N", "Sz"): every term is split into parts that
            add one charge each, so that the channels of the operator carry charges, too.

        Raises
        ------
        ArgumentError
            If the sum does not conserve a quantity (the message names a term), or a site knows no such charge.

        Returns
        -------
        UniformMPO
            Real if all blocks are.  A channel between the first and the last one remembers the operators that are
            placed already, or those that are still to come, whichever takes fewer channels in all; each family of
            exponentials takes one.

        Examples
        --------
        >>> import qad
        >>> H = qad.mps.uniform.UniformOpSum(2)
        >>> for i, coupling in ((0, 1.0), (1, 0.6)):
        ...     for s in ("Sx", "Sy", "Sz"):
        ...         H = H.add(coupling, s, i, s, i + 1)
        >>> H.mpo()
        UniformMPO(2 sites, repeated, bonds 5-5-5, float64)
        """
        terms = self.terms
        if conserve is not None:
            terms = {}
            for string, weight in of_definite_charge(self, conserve):
                begun = self._shifted(string)
                terms[begun] = terms.get(begun, 0.0) + weight
        written, bonds = repeated(self.cell, terms.items(), self.families, self.identities)
        tensors = site_tensors(written, bonds, self.sites, self.operators.matrices)
        return UniformMPO(tensors, self.sites[: self.cell])

    def __add__(self, other: Self | int) -> Self:
        if isinstance(other, UniformOpSum) and other.cell == self.cell:
            one, two = self.copy(), other.copy()
            for total in (one, two):
                total._reach(max(len(self.sites), len(other.sites)))
            return OpSum.__add__(one, two)
        if isinstance(other, OpSum):
            raise ArgumentError(f"{self!r} and {other!r} repeat differently: write both with the same cell")
        return super().__add__(other)

    __radd__ = __add__

    def __matmul__(self, other: Self) -> NoReturn:
        raise ArgumentError("products of sums over infinite chains have no energy per site")

    def _reach(self, count: int) -> None:
        """Let the sites that are spelled out, whole cells of them, be at least `count`."""
        more = -(-count // self.cell) - len(self.sites) // self.cell
        if more > 0:
            self.sites += self.sites[: self.cell] * more
            self.identities += self.identities[: self.cell] * more

    def _string(self, matrices: dict[int, Any]) -> tuple[Ahead, complex]:
        string, scale = super()._string(matrices)
        return self._shifted(string), scale

    def _shifted(self, string: Ahead) -> Ahead:
        """A term that begins in the cell."""
        shift = string[0][0] // self.cell * self.cell if string else 0
        return tuple((site - shift, operator) for site, operator in string)
