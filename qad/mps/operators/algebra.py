"""Sums, multiples, products and adjoints of sums of local operators."""

from __future__ import annotations

from copy import copy
from math import prod
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import Tensor, as_array, stack_of
from qad.mps.chain.row import Linear, is_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.mps.operators.local import Site
    from qad.typing import Number


class Algebra(Linear):
    """The part of `qad.mps.OpSum` that makes new sums of given ones, and leaves those as they are."""

    sites: tuple[Site, ...]
    operators: Any
    terms: Any
    families: Any
    identities: Any

    def copy(self) -> Self:
        """The same sum; adding to either leaves the other as it is.

        Examples
        --------
        >>> import qad
        >>> H = qad.mps.OpSum(3).add(1.0, "X", 0)
        >>> H.copy().add(1.0, "Z", 1), H
        (OpSum(3 sites, 2 terms), OpSum(3 sites, 1 terms))
        """
        other = copy(self)
        other.operators = self.operators.copy()
        other.terms, other.families = dict(self.terms), list(self.families)
        return other

    def dagger(self) -> Self:
        """The adjoint sum.

        Examples
        --------
        >>> import qad
        >>> hop = qad.mps.OpSum(3, "fermion").add(1j, "Cdag", 0, "C", 2)
        >>> H = hop + hop.dagger()
        >>> bool((H.mpo().to_dense() == H.dagger().mpo().to_dense()).all())
        True
        """
        return self._changed(lambda matrix: matrix.conj().T, np.conj)

    def __add__(self, other: Self | int) -> Self:
        if not isinstance(other, Algebra):
            if not is_number(other):
                return NotImplemented
            return self.copy() if isinstance(other, int) and other == 0 else self.copy().add(other, "Id", 0)
        alike = [
            (one.name, one.phys) == (two.name, two.phys) for one, two in zip(self.sites, other.sites, strict=False)
        ]
        if len(self.sites) != len(other.sites) or not all(alike):
            raise ShapeError(f"{self!r} and {other!r} are of different sites: make both by OpSum(n, sites) alike")
        total = self.copy()
        total._absorb(other, lambda matrix: matrix, lambda weight: weight)
        return total

    __radd__ = __add__

    def _times(self, factor: Number) -> Self:
        finite_number(factor, "the factor of a sum")
        return self._changed(lambda matrix: matrix, lambda weight: weight * factor, rates=False)

    def __matmul__(self, other: Self) -> Self:
        """The sum that applies `other` first: every term of one times every term of the other."""
        if not isinstance(other, Algebra):
            return NotImplemented
        if self.families or other.families:
            raise ArgumentError("products of exponential families are made of operators: H.mpo() @ K.mpo()")
        product = self * 0.0 + other * 0.0  # checks the sites
        product.terms = {}
        for upper, one in self.terms.items():
            for lower, two in other.terms.items():
                matrices = {site: other.operators.matrices[number] for site, number in lower}
                for site, number in upper:
                    matrix = self.operators.matrices[number]
                    matrices[site] = matrix @ matrices[site] if site in matrices else matrix
                product._write(matrices, one * two)
        return product

    def _changed(self, of_matrix: Callable[[Any], Any], of_weight: Callable[[Any], Any], rates: bool = True) -> Self:
        """The sum with all of its operators and weights changed."""
        other = self.copy()
        other.terms, other.families = {}, []
        other._absorb(self, of_matrix, of_weight, rates)
        return other

    def _absorb(
        self, other: Algebra, of_matrix: Callable[[Any], Any], of_weight: Callable[[Any], Any], rates: bool = False
    ) -> None:
        """Add the terms of another sum, its operators and weights changed; `rates` where those of families are, too."""
        matrices = other.operators.matrices
        for string, weight in other.terms.items():
            self._write({site: of_matrix(matrices[number]) for site, number in string}, of_weight(weight))
        for family in other.families:
            rows = (family.left, family.between, family.right)
            numbers = [[self.operators.number(of_matrix(matrices[k])) for k in row] for row in rows]
            weight = of_weight(family.weight) * (numbers[0][0][1] * numbers[2][0][1])
            rate = of_weight(family.rate) if rates else family.rate
            left, between, right = ([number for number, _ in row] for row in numbers)
            self.families.append(family._replace(weight=weight, rate=rate, left=left, between=between, right=right))

    def _write(self, matrices: dict[int, Any], weight: Any) -> None:
        """Add a product of matrices on sites."""
        string, scale = self._string(matrices)
        if scale != 0:
            key, weight = string or ((0, self.identities[0]),), scaled(weight, scale)
            self.terms[key] = self.terms[key] + weight if key in self.terms else weight

    def _string(self, matrices: dict[int, Any]) -> tuple[tuple[tuple[int, int], ...], complex]:
        """A product of matrices on sites as pairs (site, number of an operator), and what multiplies it."""
        numbers = {site: self.operators.number(matrices[site]) for site in sorted(matrices)}
        string = [(site, number) for site, (number, _) in numbers.items() if number != self.identities[site]]
        return tuple(string), prod(scale for _, scale in numbers.values())


def finite_number(x: Number, what: str, real: bool = False) -> Number:
    """`x` as a Python number, or itself if it is a Tensor; raises unless it is one finite number."""
    value = as_array(stack_of(x))
    if np.shape(x) != () or value.dtype.kind not in ("fiu" if real else "fciu") or not np.isfinite(value).all():
        kind = "finite real number, so that H is Hermitian" if real else "finite number (real or complex)"
        raise ArgumentError(f"{what} must be a {kind}, but got {x!r}")
    return x if type(x) is Tensor else value.item()


def scaled(coefficient: Number, scale: complex) -> Number:
    """The product of two scalars, real where its imaginary part is exactly zero."""
    if type(coefficient) is Tensor:
        scale = scale.real if isinstance(scale, complex) and scale.imag == 0 else scale
        return coefficient if scale == 1 else coefficient * scale
    product = coefficient * scale
    return product.real if isinstance(product, complex) and product.imag == 0 else product
