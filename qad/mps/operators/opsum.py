"""Sums of products of named operators, as a physicist writes a Hamiltonian, and the MPO that they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import Tensor
from qad.keywords import keywords_told
from qad.mps.chain.chain import site_count
from qad.mps.charges.parts import of_definite_charge
from qad.mps.models.lattice import Lattice
from qad.mps.operators.algebra import Algebra, finite_number, scaled
from qad.mps.operators.automaton import Family, build, site_tensors
from qad.mps.operators.local import each_of
from qad.mps.operators.mpo import MPO

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.operators.local import Site
    from qad.typing import ArrayLike, Number


class OpSum(Algebra):
    """A sum of products of local operators on a chain, such as ``sum_i J Sz(i) Sz(i+1) - g X(i)``.

    Parameters
    ----------
    n : int or Lattice
        Number of sites, or the ladder or cylinder (`qad.mps.Lattice`) that they form: ``lattice``, None for a number.
    kind : str, Site, or a sequence of them
        What stands on every site, or on each: "spin-1/2", "spin-1", "boson-3" (at most three particles),
        "fermion", or a `Site`.

    Raises
    ------
    ArgumentError
        For an unknown kind of site, or kinds that are not `n`.

    Notes
    -----
    Sums are added, multiplied by numbers and by each other (``H @ K``), and have a `dagger`; `add` changes the sum
    itself.  Operators of a product act from right to left, as matrices do.  Fermionic ones get their Jordan-Wigner
    strings here, so that ``Cdag(3) C(1)`` is ``-C(1) Cdag(3)``.

    Examples
    --------
    >>> import qad
    >>> H = qad.mps.OpSum(6)
    >>> for i in range(5):
    ...     for s in ("Sx", "Sy", "Sz"):
    ...         H = H.add(1.0, s, i, s, i + 1)
    >>> H
    OpSum(6 sites, 15 terms)
    >>> H.mpo()
    MPO(6 sites, open, bonds 1-5-5-5-5-5-1, float64)

    On a lattice:

    >>> H = qad.mps.OpSum(qad.mps.Lattice.cylinder(4, 3))
    >>> for i, j in H.lattice.bonds("nearest"):
    ...     H += 1.0, "Sz", i, "Sz", j
    >>> H
    OpSum(12 sites, 21 terms)
    """

    @keywords_told
    def __init__(self, n: int | Lattice, kind: str | Site | Sequence[str | Site] = "spin-1/2"):
        self.lattice: Lattice | None = n if isinstance(n, Lattice) else None
        self.sites: tuple[Site, ...] = each_of(kind, site_count(n if self.lattice is None else len(n), 1, "n"))
        self.operators: Any = Operators()
        self.terms: Any = {}
        self.families: Any = []
        self.identities: Any = [self.operators.number(s.operators["Id"])[0] for s in self.sites]

    def __len__(self) -> int:
        return len(self.terms) + len(self.families)

    def __repr__(self) -> str:
        return f"OpSum({len(self.sites)} sites, {len(self)} terms)"

    def add(self, coefficient: Number, *factors: str | int | ArrayLike) -> Self:
        """Add one product of operators.

        Parameters
        ----------
        coefficient : number or Tensor
            Real or complex; it may be differentiated.
        *factors
            Operators and their sites in turn, ``"Sp", 0, "Sm", 1``; an operator is a name or a square matrix, and
            several may stand on one site.  No factors at all: a constant.

        Returns
        -------
        OpSum
            This one, so that calls can be chained.

        Raises
        ------
        ArgumentError
            For an operator that the site does not have (the nearest name is suggested), a site out of range, or a
            coefficient that is no finite number.
        ShapeError
            For a matrix of the wrong size.

        Examples
        --------
        >>> import qad
        >>> qad.mps.OpSum(3, "fermion").add(-1.0, "Cdag", 0, "C", 2).add(-1.0, "Cdag", 2, "C", 0).mpo().bond
        4
        """
        coefficient = finite_number(coefficient, 'the coefficient of a term, as in add(1.0, "Z", 0),')
        matrices = self._matrices(factors)
        if type(coefficient) is Tensor or coefficient != 0:
            self._write(matrices, coefficient)
        return self

    def __iadd__(self, other: Self | tuple[Any, ...]) -> Self:
        """Add one product of operators to this sum, as `add` does, or make a new one of two.

        Examples
        --------
        >>> import qad
        >>> H = qad.mps.OpSum(3)
        >>> H += 0.5, "Sp", 0, "Sm", 1
        >>> H += 0.5, "Sm", 0, "Sp", 1
        >>> H
        OpSum(3 sites, 2 terms)
        """
        return self.add(*other) if isinstance(other, tuple) else self + other

    def add_exponential(self, coefficient: Number, rate: Number, left: str, right: str) -> Self:
        """Add ``coefficient * sum_{i<j} rate**(j-i) left(i) right(j)``: all pairs, in one state of the bond.

        Parameters
        ----------
        coefficient, rate : number or Tensor
            They may be differentiated.
        left, right : str
            Operators that every site has; fermionic ones get their strings.

        Returns
        -------
        OpSum
            This one.

        Raises
        ------
        ArgumentError
            As in `add`.

        Examples
        --------
        >>> import qad
        >>> qad.mps.OpSum(9).add_exponential(1.0, 0.5, "Z", "Z").mpo().bond
        3
        """
        coefficient = finite_number(coefficient, "the coefficient of a family")
        rate = finite_number(rate, "the rate of a family")
        strings, scales = [], []
        for i in range(len(self.sites)):  # left(i) with the string that right casts on it; the string; right by itself
            ends = [matrix for matrix, _ in (self._factor(left, i), self._factor(right, i))]
            cast = self._parity(i) if self._factor(right, i)[1] else self.sites[i].operators["Id"]
            numbered = [self.operators.number(m) for m in (ends[0] @ cast, cast, ends[1])]
            strings.append([number for number, _ in numbered])
            scales.append([scale for _, scale in numbered])
        if any(not np.allclose(row, scales[0]) for row in scales) or scales[0][1] != 1:
            raise ArgumentError("add_exponential needs the same operators on every site: add the pairs one by one")
        weight = scaled(coefficient, scales[0][0] * scales[0][2])
        self.families.append(Family(weight, rate, *map(list, zip(*strings, strict=True))))
        return self

    def mpo(self, conserve: str | Sequence[str] | None = None) -> MPO:
        """The sum as a matrix product operator of the smallest bond that a finite automaton can have.

        Parameters
        ----------
        conserve : str or sequence of str, optional
            Quantities that the sum conserves, such as "Sz" or ("N", "Sz"): every term is split into parts that
            add one charge each, so that the channels of the operator carry charges, too.

        Returns
        -------
        MPO
            Open; real if all blocks are.  State 0 of its bonds has placed nothing yet, the last state a whole term.

        Raises
        ------
        ArgumentError
            If the sum does not conserve a quantity (the message names a term), or a site knows no such charge.

        Notes
        -----
        Terms are never compressed numerically: the bond is that of generic coefficients.  See `operators.automaton`.

        Examples
        --------
        >>> import qad
        >>> qad.mps.OpSum(4, "boson-2").add(2.0, "Bdag", 0, "B", 3).add(2.0, "Bdag", 3, "B", 0).mpo()
        MPO(4 sites, open, bonds 1-4-4-4-1, float64)
        """
        terms = self.terms.items() if conserve is None else of_definite_charge(self, conserve)
        written, bonds = build(len(self.sites), terms, self.families, self.identities)
        return MPO(site_tensors(written, bonds, self.sites, self.operators.matrices), kind=self.sites)

    def _factors(self, factors):
        """Pairs of an operator and a site; raises unless they come in turn."""
        if len(factors) % 2:
            raise ArgumentError(f'a term is written operator, site, ..., as in add(1.0, "Z", 0, "Z", 1), not {factors}')
        for operator, site in zip(factors[::2], factors[1::2], strict=True):
            if isinstance(site, (bool, str)) or not hasattr(site, "__index__"):
                raise ArgumentError(
                    f"{site!r} stands where the site of {operator!r} belongs: write operator, site, ..."
                )
            if not 0 <= site < len(self.sites):
                raise ArgumentError(
                    f"site {site} of {operator!r} is out of range: sites are 0 to {len(self.sites) - 1}, and around a "
                    f"ring one writes (i + 1) % {len(self.sites)}"
                )
            yield operator, int(site)

    def _factor(self, operator, site):
        """The matrix of an operator on a site, and whether it anticommutes with those of other sites."""
        kind = self.sites[site]
        if isinstance(operator, str):
            return kind.matrix(operator), operator in kind.fermionic
        matrix = np.asarray(operator)
        if matrix.shape != (kind.phys, kind.phys):
            raise ShapeError(f"a matrix of shape {matrix.shape} stands on site {site}, which has dimension {kind.phys}")
        if matrix.dtype.kind not in "biufc" or not np.isfinite(matrix).all():
            raise ArgumentError(f"the matrix on site {site} has entries that are no finite numbers")
        return matrix, False

    def _parity(self, site):
        """What a fermionic operator further right leaves on a site."""
        return self.sites[site].operators.get("F", self.sites[site].operators["Id"])

    def product(self, *factors: Any) -> tuple[tuple[tuple[int, int], ...], complex]:
        """A product of operators and sites in turn as pairs (site, number of an operator), and what multiplies it."""
        return self._string(self._matrices(factors))

    def _matrices(self, factors):
        """A product of operators and sites in turn as one matrix for each site that it acts on."""
        matrices = {}
        for operator, site in self._factors(factors):
            matrix, fermionic = self._factor(operator, site)
            strung = [(before, self._parity(before)) for before in range(site)] if fermionic else []
            for place, factor in (*strung, (site, matrix)):
                matrices[place] = matrices[place] @ factor if place in matrices else factor
        return matrices


class Operators:
    """Distinct local operators, up to a factor."""

    def __init__(self):
        self.matrices: list[np.ndarray] = []
        self.numbers: dict[tuple[tuple[int, ...], bytes], int] = {}

    def copy(self) -> Operators:
        """The same operators by the same numbers; those that are added to either are its own."""
        (other := Operators()).matrices, other.numbers = [*self.matrices], {**self.numbers}
        return other

    def number(self, matrix: np.ndarray) -> tuple[int, complex]:
        """The number of an operator, and by what the one kept is to be multiplied to give it."""
        flat = matrix.ravel()
        if not flat.any():
            return -1, 0.0
        lead = flat[np.argmax(np.abs(flat) > 1e-12 * np.abs(flat).max())]
        unit = matrix / lead
        key = unit.shape, (np.round(unit, 12) + 0.0).astype(complex).tobytes()
        if key not in self.numbers:
            self.numbers[key] = len(self.matrices)
            self.matrices.append(unit.real if not np.iscomplexobj(unit) or not unit.imag.any() else unit)
        return self.numbers[key], lead.item() if lead.imag else lead.real.item()
