"""What is measured in the final state of a circuit on a chain of definite charge, and the bra that derives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from qad.circuit.chains.conserving_walker import ConservingWalker, breaking
from qad.core.errors import ArgumentError
from qad.mps.checks import as_operator
from qad.mps.conserving.evolution import Truncation
from qad.mps.conserving.state import SymmetricMPS
from qad.mps.measures import reduced_density
from qad.mps.observables import expectation

if TYPE_CHECKING:
    from qad.mps.operator import MPO
    from qad.mps.opsum import OpSum
    from qad.typing import Array

UNLIMITED = 10**9


class Target(Protocol):
    """A number that is measured, linear in the projector on the state, or in the state."""

    def value(self, psi: SymmetricMPS) -> Array: ...
    def bra(self, psi: SymmetricMPS) -> tuple[float, SymmetricMPS]: ...


@dataclass(frozen=True, eq=False)
class Energy:
    """``<psi|H|psi>`` of an operator that conserves."""

    operator: MPO | OpSum

    def value(self, psi: SymmetricMPS) -> Array:
        """The number."""
        return expectation(psi, self.operator).real

    def bra(self, psi: SymmetricMPS) -> tuple[float, SymmetricMPS]:
        """The bra whose overlap changes as the number does, and a factor."""
        return 2.0, as_operator(self.operator, psi) @ psi


@dataclass(frozen=True, eq=False)
class Local:
    """The expectation value of a matrix on a few qubits."""

    qubits: tuple[int, ...]
    matrix: np.ndarray

    @property
    def on_sites(self) -> tuple[list[int], np.ndarray]:
        """The qubits in ascending order, and the matrix with its qubits in that order."""
        order, k = np.argsort(self.qubits), len(self.qubits)
        matrix = self.matrix.reshape((2,) * (2 * k)).transpose([*order, *(order + k)]).reshape(2**k, 2**k)
        return [self.qubits[i] for i in order], matrix

    def value(self, psi: SymmetricMPS) -> Array:
        """The number."""
        sites, matrix = self.on_sites
        return np.trace(reduced_density(psi, sites) @ matrix).real

    def bra(self, psi: SymmetricMPS) -> tuple[float, SymmetricMPS]:
        """The bra whose overlap changes as the number does, and a factor."""
        sites, matrix = self.on_sites
        if broken := breaking(matrix, sites, psi.conserved):
            raise ArgumentError(
                f"an observable on qubits {sites} adds {broken}: c.mps(conserve=...) has derivatives of observables "
                "that conserve; leave conserve out"
            )
        if not np.trace(reduced_density(psi, sites) @ matrix.conj().T @ matrix).real > 0:
            return 2.0, 0.0 * psi
        walker = ConservingWalker(psi.canonicalize(0), Truncation(UNLIMITED, 0.0))
        walker.apply(sites, matrix.astype(psi.dtype), f"an observable on qubits {sites}")
        return 2.0, SymmetricMPS(walker.tensors, psi.conserved)


@dataclass(frozen=True, eq=False)
class Overlap:
    """``<phi|psi>`` with a plain state."""

    phi: SymmetricMPS

    def value(self, psi: SymmetricMPS) -> Array:
        """The number; 0 where charges differ."""
        return self.phi @ psi

    def bra(self, psi: SymmetricMPS) -> tuple[float, SymmetricMPS]:
        """The bra whose overlap changes as the number does, and a factor."""
        if self.phi.sector != psi.sector:
            raise ArgumentError(
                f"the overlap of charge {psi.sector} with a state of charge {self.phi.sector} is 0 here, and its "
                "derivative takes gates that do not conserve: leave conserve out"
            )
        return 1.0, self.phi
