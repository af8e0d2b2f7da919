"""A circuit run on a matrix product state of definite charge, for gates that conserve it, as users see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.chains.conserving_sweeps import ConservingRun
from qad.circuit.chains.conserving_targets import Energy, Local, Overlap
from qad.circuit.chains.simulation import ChainSimulation
from qad.circuit.checks import check_bits, check_qubits
from qad.circuit.observables import Projector, as_observable, hermitian
from qad.circuit.pauli import PauliSum
from qad.core.errors import ArgumentError, GradientTypeError, ShapeError
from qad.extend import Tensor
from qad.mps.chain.state import MPS
from qad.mps.charges.quantities import quantities
from qad.mps.charges.state import SymmetricMPS
from qad.mps.operators.local import Site, spin
from qad.mps.operators.mpo import MPO
from qad.mps.operators.opsum import OpSum

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.circuit.builder import Builder
    from qad.circuit.chains.conserving_targets import Target
    from qad.circuit.observables import Observable
    from qad.mps.charges.quantities import Quantities
    from qad.typing import Array

PAULIS = {name: spin(0.5).operators[name] for name in ("Id", "X", "Y", "Z")}
QUBIT = Site("qubit", PAULIS, charges={"N": (0, 1), "Sz": (1, -1), "parity": (0, 1)})


class ConservingSimulation(ChainSimulation):
    """The final state of a circuit of gates that conserve; made by ``Circuit.mps(conserve=...)``.

    Attributes
    ----------
    state : SymmetricMPS
    error, bond
        As of `ChainSimulation`.
    """

    def __init__(
        self,
        circuit: Builder,
        max_bond: int | None,
        cutoff: float,
        bra_bond: int | None,
        conserve: str | Sequence[str],
    ):
        super().__init__(circuit, max_bond, cutoff, bra_bond)
        self.conserved: Quantities = quantities(conserve, [QUBIT] * self.n)
        run = self.run
        self.run: Any = ConservingRun(
            run.program, run.dtype, run.bond, run.cutoff, run.bra_bond, conserved=self.conserved
        )

    @property
    def plain(self) -> SymmetricMPS:
        """The final state, of numbers that are not recorded."""
        return SymmetricMPS(self.final.tensors, self.conserved)

    def expectation(self, observable: Observable | MPO | Sequence[Observable | MPO]) -> Array:
        """The expectation value ``<psi|H|psi>``, real and differentiable; an array for a list.

        Parameters
        ----------
        observable : PauliSum, str, array, Operator, Projector, MPO, or a list of them
            A Pauli sum and an MPO have to conserve; sums may do so together, as XX + YY.  A matrix has to where
            derivatives are asked for.

        Raises
        ------
        ArgumentError
            If an observable does not conserve; in a derivative, if a gate does not that stands behind a gate with
            derivatives, or for derivatives of derivatives.

        Examples
        --------
        >>> import qad
        >>> c = qad.Circuit(50).x(range(0, 50, 2)).iswap(range(0, 50, 2), range(1, 50, 2))
        >>> float(c.mps(conserve="N").expectation(qad.PauliSum.on_sites(50, [(1.0, "ZZ", (0, 1))])))
        -1.0
        """
        return super().expectation(observable)

    def target(self, observable: Observable | MPO) -> tuple[Target, Sequence[Array]]:
        """What is measured of an observable; it has no operands."""
        return self.conserving_target(observable), ()

    def conserving_target(self, observable: Observable | MPO) -> Target:
        """What is measured of an observable."""
        if isinstance(observable, MPO):
            return Energy(observable)
        observable = as_observable(observable)
        if isinstance(observable, PauliSum):
            return Energy(sum_of(observable, self.n))
        if not isinstance(observable, Projector) and (observable.sparse or type(observable.matrix) is Tensor):
            raise ArgumentError(
                "c.mps(conserve=...) measures plain dense matrices on a few qubits: write others as a qad.PauliSum, MPO"
            )
        qubits = check_qubits(observable.qubits, self.n, "an observable")
        if isinstance(observable, Projector):
            place = int("".join(map(str, map(int, observable.bits))), 2)
            matrix = np.diag(np.arange(2 ** len(qubits)) == place).astype(float)
        else:
            matrix = np.asarray(observable.matrix)
        return Local(qubits, matrix)

    def overlap(self, phi: SymmetricMPS) -> Array:
        """The overlap ``<phi|psi>`` with a state that conserves the same, differentiable; 0 where charges differ.

        Examples
        --------
        >>> import qad
        >>> sim = qad.Circuit(6).x([0, 2]).mps(conserve="N")
        >>> complex(sim.overlap(sim.state))
        (1+0j)
        """
        if not isinstance(phi, SymmetricMPS) or phi.conserved != self.conserved:
            raise ShapeError(
                f"overlap takes a SymmetricMPS of {self.n} qubits that conserves {self.conserved.names}, not {phi!r}"
            )
        if all(type(x) is np.ndarray for x in self.numbers):
            return phi @ self.plain
        if any(type(t.data) is Tensor for t in phi):
            raise GradientTypeError("overlap: derivatives by the gates and by the state at once are not there")
        return self._measured([(Overlap(phi), ())])[0]

    def amplitude(self, bits: str | Sequence[int]) -> Array:
        """The amplitude ``<bits|psi>`` of a basis state, a string or sequence of one bit per qubit.

        Examples
        --------
        >>> import qad
        >>> complex(qad.Circuit(4).x([0, 2]).mps(conserve="N").amplitude("1010"))
        (1+0j)
        """
        bits = check_bits(bits, self.n, f"an amplitude of {self.n} qubits is named")
        return self.overlap(MPS.product(bits, dtype=self.run.dtype, conserve=self.conserved.names, sites=QUBIT))


def sum_of(observable: PauliSum, n: int) -> OpSum:
    """A Pauli sum as a sum of named operators on qubits."""
    total = OpSum(n, QUBIT)
    for string, weight in zip(observable.strings, hermitian(observable, n), strict=True):
        factors = [x for site, letter in enumerate(string) if letter != "I" for x in (letter, site)]
        total.add(weight, *factors)
    return total
