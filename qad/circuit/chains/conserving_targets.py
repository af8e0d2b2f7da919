"""What is measured in the final state of a circuit on a chain of definite charge, and the bra that derives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.chains.conserving_walker import ConservingWalker, breaking
from qad.circuit.chains.sweeps import Target
from qad.core.errors import ArgumentError
from qad.mps.chain.checks import as_operator
from qad.mps.evolve.tebd import Truncation
from qad.mps.measure.measures import reduced_density
from qad.mps.measure.observables import expectation

if TYPE_CHECKING:
    from qad.circuit.chains.conserving_sweeps import ConservingRun
    from qad.mps.charges.state import SymmetricMPS
    from qad.mps.operators.mpo import MPO
    from qad.mps.operators.opsum import OpSum
    from qad.typing import Array

UNLIMITED = 10**9


@dataclass(frozen=True, eq=False)
class Energy(Target):
    """``<psi|H|psi>`` of an operator that conserves."""

    operator: MPO | OpSum

    def value(self, psi: SymmetricMPS) -> Array:
        return expectation(psi, self.operator).real

    def bra(self, run: ConservingRun, ket: ConservingWalker) -> tuple[float, ConservingWalker | None]:
        psi = run.state(ket)
        return 2.0, run.bra(as_operator(self.operator, psi) @ psi)


@dataclass(frozen=True, eq=False)
class Local(Target):
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
        sites, matrix = self.on_sites
        return np.trace(reduced_density(psi, sites) @ matrix).real

    def bra(self, run: ConservingRun, ket: ConservingWalker) -> tuple[float, ConservingWalker | None]:
        psi, (sites, matrix) = run.state(ket), self.on_sites
        if broken := breaking(matrix, sites, psi.conserved):
            raise ArgumentError(
                f"an observable on qubits {sites} adds {broken}: c.mps(conserve=...) has derivatives of observables "
                "that conserve; leave conserve out"
            )
        if not np.trace(reduced_density(psi, sites) @ matrix.conj().T @ matrix).real > 0:
            return 2.0, None
        walker = ConservingWalker(psi.canonicalize(0), Truncation(UNLIMITED, 0.0))
        walker.apply(sites, matrix.astype(psi.dtype), f"an observable on qubits {sites}")
        return 2.0, run.bra(run.state(walker))


@dataclass(frozen=True, eq=False)
class Overlap(Target):
    """``<phi|psi>`` with a plain state."""

    phi: SymmetricMPS

    def value(self, psi: SymmetricMPS) -> Array:
        return self.phi @ psi

    def bra(self, run: ConservingRun, ket: ConservingWalker) -> tuple[float, ConservingWalker | None]:
        psi = run.state(ket)
        if self.phi.sector != psi.sector:
            raise ArgumentError(
                f"the overlap of charge {psi.sector} with a state of charge {self.phi.sector} is 0 here, and its "
                "derivative takes gates that do not conserve: leave conserve out"
            )
        return 1.0, run.bra(self.phi)
