"""Forward and reverse sweep of a circuit on a chain of definite charge, as in `qad.circuit.chains.sweeps`.

From the first gate on whose numbers may change, every gate has to conserve: a change of its numbers that breaks the
symmetry then takes the state to other sectors, where it stays, and no measured number that conserves sees it to first
order.  So derivatives within the sector are all there are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.chains.conserving_walker import ConservingWalker, breaking, called, matrix_of, sites_of
from qad.circuit.chains.overlaps import Overlaps
from qad.circuit.chains.sweeps import Run, numbers
from qad.circuit.gates import pauli_matrix
from qad.core.errors import ArgumentError
from qad.mps.chain.densities import passed_left, passed_right
from qad.mps.chain.sandwich import overlap
from qad.mps.charges.make import product_state
from qad.mps.charges.rows import total_of
from qad.mps.charges.state import SymmetricMPS
from qad.mps.evolve.tebd import Truncation
from qad.symmetric.contraction import tensordot
from qad.symmetric.create import eye
from qad.symmetric.legs import Leg

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.circuit.chains.sweeps import History
    from qad.circuit.ir import Instruction
    from qad.mps.charges.quantities import Quantities
    from qad.symmetric.tensor import SymTensor


@dataclass(frozen=True)
class ConservingRun(Run):
    """How a circuit runs on chains of definite charge."""

    conserved: Quantities = field(kw_only=True)

    def begin(self, start: Sequence[Any]) -> ConservingWalker:
        """The state |0...0>."""
        return ConservingWalker(product_state([0] * self.program.n, self.conserved, self.dtype), self.truncation())

    def truncation(self, bond: int | None = None) -> Truncation:
        """What cuts the bonds of a chain, by default to what those of the state may have."""
        return Truncation(self.bond if bond is None else bond, self.cutoff)

    def state(self, ket: ConservingWalker) -> SymmetricMPS:
        """What targets measure of a final walker."""
        return SymmetricMPS(ket.tensors, self.conserved)

    def bra(self, chain: SymmetricMPS) -> ConservingWalker | None:
        """A chain to be taken back; None for one that is zero."""
        if not abs(overlap(chain, chain)[0]) > 0:
            return None
        return ConservingWalker(chain, self.truncation(self.bra_bond)).pressed()

    def overlaps(self, bra: ConservingWalker) -> ConservingOverlaps:
        """The environments of this bra with the states before gates."""
        return ConservingOverlaps(self.conserved, total_of(bra.tensors))

    def backward(
        self, real: np.ndarray, complex_: np.ndarray, history: History, bra: ConservingWalker | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """As of `Run`; raises unless every gate from the first one on that may change conserves."""
        for op in self.program.instructions[self.first :]:
            self.require_conserving(op, matrix_of(op, numbers(op, {"real": real, "complex": complex_})))
        return super().backward(real, complex_, history, bra)

    def require_conserving(self, op: Instruction, matrix: np.ndarray) -> None:
        """Raise unless a gate conserves, whatever state it acts on."""
        if broken := breaking(matrix, sites_of(op), self.conserved):
            raise ArgumentError(
                f"{called(op)} adds {broken} and stands behind a gate of which derivatives are asked for: "
                "c.mps(conserve=...) has derivatives where it and all gates behind it conserve; put those that prepare "
                "a basis state in front, or leave conserve out"
            )


# -- what gates are paired with ----------------------------------------------------------------------------------------


class ConservingOverlaps(Overlaps):
    """The environments of two chains of the same charge, of legs (bra, ket): flows (+, -) on the left, (-, +) right."""

    conserved: Quantities

    def __init__(self, conserved: Quantities, total: tuple[int, ...]):
        self.conserved, group = conserved, conserved.symmetry
        ends = eye(Leg({group.neutral: 1}, 1, group)), eye(Leg({total: 1}, -1, group))
        self.begin(len(conserved.charges), ends, {"left": passed_left, "right": passed_right})

    def paired(self, op: Instruction, bra: Sequence[SymTensor], ket: Sequence[SymTensor]) -> np.ndarray:
        """``<bra| d op / d v |ket>`` for every number v of an instruction, an array (E,)."""
        sites = sites_of(op)
        environment, right = self.left(bra, ket, sites[0]), self.right(bra, ket, sites[-1] + 1)
        for site in range(sites[0], sites[-1] + 1):
            environment = opened(environment, ket[site], bra[site], site in sites)
        density = tensordot(environment, right, ([0, 1], [0, 1])).to_dense()  # (out, in) of every site
        orders = [np.argsort(self.conserved.orders[site]) for site in sites for _ in range(2)]
        density, k = density[np.ix_(*orders)], len(op.targets)
        places = [sites.index(site) for site in (*op.controls, *op.targets)]
        density = density.transpose([2 * p for p in places] + [2 * p + 1 for p in places])
        many = len(op.controls)
        density = density[(1,) * many + (slice(None),) * k + (1,) * many].reshape(2**k, 2**k)
        if op.kind == "pauli":
            matrix = np.ones((1, 1))
            for letter in op.letters:
                matrix = np.kron(matrix, pauli_matrix(letter))
            return np.array([np.trace(density), -1j * (density * matrix).sum()])
        return density.diagonal() if op.kind == "diagonal" else density.ravel()


def opened(environment: SymTensor, ket: SymTensor, bra: SymTensor, leave_open: bool) -> SymTensor:
    """An environment (bra, ket, open legs) behind a site, which may add its legs (bra, ket) to the open ones."""
    half = tensordot(bra.conj(), environment, ([0], [0]))  # s* b* k ...
    if leave_open:
        half = tensordot(half, ket, ([2], [0]))  # s* b* ... s r
        last = half.ndim - 1
        return half.transpose(1, last, *range(2, last - 1), 0, last - 1)
    half = tensordot(half, ket, ([2, 0], [0, 1]))  # b* ... r
    return half.transpose(0, half.ndim - 1, *range(1, half.ndim - 1))
