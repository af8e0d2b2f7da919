"""Operators as sums of products of matrices on sites, however they were given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.circuit.observables.pauli import PauliSum
from qad.core.errors import ArgumentError, ShapeError
from qad.extend import Tensor
from qad.mps.charges.quantities import sites_of_dimension
from qad.mps.operators.mpo import MPO
from qad.mps.operators.opsum import OpSum

if TYPE_CHECKING:
    from qad.vmc.space import Space

PRODUCTS = 2**18  # the most that an operator is taken apart into


def products_of(H: Any, space: Space) -> OpSum:
    """An `OpSum`, a `PauliSum` or a matrix product operator as an `OpSum` without families; raises unless it fits.

    The strings of a Pauli sum act on spins 1/2, up where the qubit is 0.
    """
    if not isinstance(H, (OpSum, PauliSum, MPO)):
        raise ArgumentError(f"a Hamiltonian is an OpSum, a PauliSum or an MPO, but got {type(H).__name__}")
    given = H.mpo() if isinstance(H, OpSum) and H.families else H
    if any(type(x) is Tensor for x in (given.tensors if isinstance(given, MPO) else given.terms.values())):
        raise ArgumentError("local energies have no derivative by the couplings of H: give it plain numbers")
    if isinstance(given, PauliSum):
        total = OpSum(given.n)
        for string, coefficient in given.terms.items():
            total.add(coefficient, *[x for k, letter in enumerate(string) if letter != "I" for x in (letter, k)])
    else:
        total = taken_apart(given, space) if isinstance(given, MPO) else given
    if len(total.sites) != space.n or {*total.sites} != {space.kind}:
        raise ShapeError(
            f"H acts on {len(total.sites)} sites of kind {total.sites[0].name!r}, {space!r} has {space.n} of "
            f"{space.kind.name!r}"
        )
    return total


def taken_apart(H: MPO, space: Space) -> OpSum:
    """The products of matrices that a matrix product operator consists of, read from its last site."""
    dims = [w.shape[2] for w in H]
    total = OpSum(len(H), H.sites or (space.kind if {*dims} == {space.kind.phys} else sites_of_dimension(dims)))
    for outer in range(H[0].shape[0]):  # more than one on a ring
        ends: dict[int, list[Any]] = {outer: [((), 1.0)]}  # by the state of a bond, the strings behind it with weights
        for site in reversed(range(len(H))):
            begun: dict[int, list[Any]] = {}
            blocks = np.argwhere(np.any(H[site], (2, 3))).tolist()
            if sum(len(ends.get(right, ())) for _, right in blocks) > PRODUCTS:
                raise ArgumentError(f"{H!r} is more than {PRODUCTS} products of matrices: give the OpSum it came from")
            for left, right in blocks:
                number, scale = total.operators.number(np.asarray(H[site][left, right]))
                head = () if number == total.identities[site] else ((site, number),)
                found = [(head + string, scale * weight) for string, weight in ends.get(right, ())]
                begun.setdefault(left, []).extend(found)
            ends = begun
        for string, weight in ends.get(outer, ()):
            key = string or ((0, total.identities[0]),)
            total.terms[key] = total.terms.get(key, 0.0) + weight
    return total
