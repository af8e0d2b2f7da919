"""Operators taken apart by the charge that they add: sums of products, and operators on single sites.

``Sx(0) Sx(1)`` changes 2 Sz by -4, 0 or 4; with ``Sy(0) Sy(1)`` beside it the first and the last cancel.  What is left
of a sum that conserves is a sum of products that each conserve.

An environment that a part of an operator on one site has passed has the charge of that part, and only the opposite part
of another operator brings it back to none.  What is written for plain arrays too has one part of them, of charge
``()``.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import Tensor, stack_of, value_of
from qad.mps.charges.axes import turned
from qad.mps.charges.quantities import changes, quantities
from qad.symmetric.create import from_dense
from qad.symmetric.generic import join, numbers
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from qad.mps.charges.quantities import Charge, Names, Quantities
    from qad.typing import Array


ROUNDING = 1e-12  # of the largest coefficient: what is left of parts that cancel


def of_definite_charge(total: Any, conserve: Names) -> list[tuple[Any, Any]]:
    """The terms of an `OpSum`, each of them conserving; raises, and names a term, where they or families do not."""
    parts = Parts(total, quantities(conserve, total.sites))
    for family in total.families:
        parts.check_family(family)
    return parts.terms()


class Parts:
    """The operators of a sum, by the charge that they add."""

    def __init__(self, total: Any, conserved: Quantities):
        self.total: Any = total  # an `OpSum`, which stands above
        self.conserved: Quantities = conserved
        self.known: dict[tuple[Any, int], dict[Charge, tuple[int, Any]]] = {}

    def of(self, number: int, site: int) -> dict[Charge, tuple[int, Any]]:
        """The parts of an operator on a site: by the charge that it adds, its number and a factor."""
        charges = self.conserved.charges[site]
        if (charges, number) not in self.known:
            states, found = self.conserved.states[site], {}
            matrix = turned(self.total.operators.matrices[number], states)
            for charge, where in changes(charges, self.conserved.symmetry.minus).items():
                if (matrix[where] != 0).any():
                    part = np.where(where, matrix, 0)
                    found[charge] = self.total.operators.number(turned(part, None if states is None else states.T))
            self.known[charges, number] = found
        return self.known[charges, number]

    def terms(self) -> list[tuple[Any, Any]]:
        """Strings of parts and their weights; what changes the charge has to cancel."""
        plus, neutral = self.conserved.symmetry.plus, self.conserved.symmetry.neutral
        weights: dict[Any, Any] = {}
        origin: dict[Any, Any] = {}
        for string, weight in self.total.terms.items():
            options = [self.of(number, site).items() for site, number in string]
            for choice in product(*options):
                charge, scale, parts = neutral, 1.0, []
                for (site, _), (change, (number, factor)) in zip(string, choice, strict=True):
                    charge, scale = plus(charge, change), scale * factor
                    if number != self.total.identities[site]:
                        parts.append((site, number))
                key = charge, tuple(parts) or ((0, self.total.identities[0]),)
                weights[key] = weights.get(key, 0.0) + weight * scale
                origin.setdefault(key, string)
        largest = max([np.abs(stack_of(weight)) for weight in self.total.terms.values()], default=0.0)
        kept = []
        for (charge, parts), weight in weights.items():
            if np.abs(stack_of(weight)) <= ROUNDING * largest and not (type(weight) is Tensor and charge == neutral):
                continue  # what is recorded has a derivative also where it is zero
            if charge != neutral:
                self.refuse(origin[charge, parts], charge)
            kept.append((parts, weight.real if isinstance(weight, complex) and weight.imag == 0 else weight))
        return kept

    def check_family(self, family: Any) -> None:
        """Raise unless each product of a family conserves by itself."""
        plus, neutral = self.conserved.symmetry.plus, self.conserved.symmetry.neutral
        for site in range(len(self.total.sites)):
            left, between, right = (self.of(ops[site], site) for ops in (family.left, family.between, family.right))
            charges = [plus(one, two) for one in left for two in right]
            if charges != [neutral] or list(between) != [neutral]:
                names = " ".join(self.name(ops[site], site) for ops in (family.left, family.right))
                raise ArgumentError(
                    f"add_exponential of {names} does not conserve {self.names()} pair by pair: add families of "
                    "operators that add one charge each, such as Sp with Sm and Sm with Sp"
                )

    def refuse(self, string: Any, charge: Charge) -> None:
        """Raise: a term has a part that nothing cancels."""
        term = " ".join(f"{self.name(number, site)}({site})" for site, number in string)
        raise ArgumentError(
            f"the term {term} does not conserve {self.names()}: a part of it adds "
            f"{self.conserved.symmetry.shown(charge)}, and no other term cancels that; leave conserve out (or the "
            "totals of a space), or complete the sum, as Sy Sy completes Sx Sx"
        )

    def names(self) -> str:
        return ", ".join(map(repr, self.conserved.names))

    def name(self, number: int, site: int) -> str:
        """What a site calls an operator."""
        for name, matrix in self.total.sites[site].operators.items():
            if self.total.operators.number(matrix)[0] == number:
                return name
        return "a matrix"


# -- operators on single sites -----------------------------------------------------------------------------------------


def parts_of(matrix: Array, site: int, conserved: Quantities | None) -> dict[Charge, Any]:
    """A matrix on a site by the charge that its parts add, symmetric tensors of legs (out, in); itself if none is.

    Parts without any weight are left out, unless the matrix is recorded: their derivative is not zero.
    """
    if conserved is None:
        return {(): matrix}
    group, leg, order = conserved.symmetry, conserved.legs[site], conserved.orders[site]
    charges = [conserved.charges[site][k] for k in order]
    matrix, found = turned(matrix, conserved.states[site])[np.ix_(order, order)], {}
    plain = np.abs(stack_of(value_of(matrix)))
    for charge, here in changes(charges, group.minus).items():
        if type(matrix) is Tensor or (plain * here).any():
            part = matrix * here.astype(matrix.real.dtype)
            found[charge] = from_dense(part, (leg, leg.conj()), charge=group.shown(charge), tol=0.0)
    return found


def applied(part: Any, tensor: Any) -> Any:
    """A site tensor after an operator on its physical leg."""
    if type(tensor) is not SymTensor:
        return part @ tensor
    return join(tensor, part, ((1,), (1,))).transpose(0, 2, 1)


def strung(matrix: Array, site: int, tensor: Any, conserved: Quantities | None) -> Any:
    """A site tensor after a part of a string, which must not change the charge."""
    parts = parts_of(matrix, site, conserved)
    neutral = () if conserved is None else conserved.symmetry.neutral
    if any(charge != neutral and stack_of(value_of(numbers(part))).any() for charge, part in parts.items()):
        raise ArgumentError(
            f"the string changes the charge on site {site}: give psi.without_symmetry(), or a string that conserves"
        )
    return applied(parts[neutral], tensor) if neutral in parts else 0.0 * tensor
