"""Forward and reverse sweep of a circuit on a chain of definite charge, as in `qad.circuit.chains.sweeps`.

From the first gate on whose numbers may change, every gate has to conserve: a change of its numbers that breaks the
symmetry then takes the state to other sectors, where it stays, and no measured number that conserves sees it to first
order.  So derivatives within the sector are all there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from qad.circuit.chains.conserving_walker import ConservingWalker, breaking
from qad.circuit.chains.operators import site_operators
from qad.circuit.chains.overlaps import Overlaps
from qad.circuit.chains.sweeps import numbers
from qad.circuit.gates import pauli_matrix
from qad.core.errors import ArgumentError
from qad.core.threads import blas_for
from qad.extend import Tensor, defvjp, opaque, primitive
from qad.mps.conserving.evolution import Truncation
from qad.mps.conserving.inner import overlap, total_of
from qad.mps.conserving.make import product_state
from qad.mps.conserving.state import SymmetricMPS
from qad.symmetric.contraction import tensordot
from qad.symmetric.create import eye
from qad.symmetric.legs import Leg

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.circuit.chains.conserving_targets import Target
    from qad.circuit.ir import Instruction, Program
    from qad.mps.conserving.quantities import Quantities
    from qad.symmetric.tensor import SymTensor
    from qad.typing import Array

WIDEST = 8  # qubits that one gate may join
History: TypeAlias = list[tuple["SymTensor", ...]]  # the tensors before every gate
Kept: TypeAlias = tuple[ConservingWalker, History]


@dataclass(frozen=True)
class ConservingRun:
    """How a circuit runs on chains of definite charge; see `qad.circuit.chains.sweeps.Run`."""

    program: Program
    dtype: np.dtype[Any]
    bond: int
    cutoff: float
    bra_bond: int
    conserved: Quantities

    def forward(self, real: np.ndarray, complex_: np.ndarray) -> Kept:
        """Apply all gates to |0...0>: the final walker, and the tensors before every gate."""
        vectors, history, n = {"real": real, "complex": complex_}, [], self.program.n
        zero = product_state([0] * n, self.conserved, self.dtype)
        walker = ConservingWalker(zero, Truncation(self.bond, self.cutoff))
        with blas_for(min(self.bond, 2 ** (n // 2))):
            for op in self.program.instructions:
                history.append(tuple(walker.tensors))
                walker.apply(sites_of(op), matrix_of(op, vectors).astype(self.dtype), called(op))
        return walker, history

    def backward(
        self, real: np.ndarray, complex_: np.ndarray, history: History, bra: SymmetricMPS
    ) -> tuple[np.ndarray, np.ndarray]:
        """``<bra|psi>`` derived by the two vectors; the chain `bra` is taken back through the circuit."""
        vectors = {"real": real, "complex": complex_}
        slopes = {name: np.zeros(vector.shape, complex) for name, vector in vectors.items()}
        changing = [i for i, op in enumerate(self.program.instructions) if op.source != "constant"]
        steps = list(zip(self.program.instructions, history, strict=True))[min(changing, default=len(history)) :]
        for op, _ in steps:
            self.require_conserving(op, matrix_of(op, vectors))
        if not abs(overlap(bra, bra)[0]) > 0:
            return slopes["real"], slopes["complex"]
        with blas_for(min(self.bra_bond, 2 ** (self.program.n // 2))):
            walker = ConservingWalker(bra, Truncation(self.bra_bond, self.cutoff)).pressed()
            overlaps = ConservingOverlaps(self.conserved, total_of(walker.tensors))
            for op, before in reversed(steps):
                if op.source != "constant":
                    place = slice(op.start, op.start + op.count)
                    slopes[op.source][0, 0, place] = paired(op, overlaps, walker.tensors, before)
                walker.apply(sites_of(op), matrix_of(op, vectors).conj().T.astype(self.dtype), called(op))
        return slopes["real"], slopes["complex"]

    def require_conserving(self, op: Instruction, matrix: np.ndarray) -> None:
        """Raise unless a gate conserves, whatever state it acts on."""
        if broken := breaking(matrix, sites_of(op), self.conserved):
            raise ArgumentError(
                f"{called(op)} adds {broken} and stands behind a gate of which derivatives are asked for: "
                "c.mps(conserve=...) has derivatives where it and all gates behind it conserve; put those that prepare "
                "a basis state in front, or leave conserve out"
            )


def sites_of(op: Instruction) -> list[int]:
    """The qubits of an instruction, ascending."""
    sites = sorted((*op.controls, *op.targets))
    if len(sites) > WIDEST:
        raise ArgumentError(
            f"c.mps(conserve=...) takes gates of at most {WIDEST} qubits, not of {len(sites)}: leave conserve out"
        )
    return sites


def called(op: Instruction) -> str:
    """An instruction in messages."""
    return f"a gate ({op.letters or op.kind}) on qubits {sites_of(op)}"


def matrix_of(op: Instruction, vectors: dict[str, np.ndarray]) -> np.ndarray:
    """The matrix of an instruction on the sites on which it does something."""
    sites, (first, operators) = sites_of(op), site_operators(op, numbers(op, vectors))
    whole = operators[0]
    for m, site in enumerate(sites[1:], 1):
        whole = np.tensordot(whole, operators[site - first], (1, 0))  # u outs ins v out in
        whole = whole.transpose(0, 2 * m + 1, *range(1, m + 1), 2 * m + 2, *range(m + 1, 2 * m + 1), 2 * m + 3)
    return whole.reshape(2 ** len(sites), -1)


# -- what gates are paired with ----------------------------------------------------------------------------------------


class ConservingOverlaps(Overlaps):
    """The environments of two chains of the same charge, of legs (bra, ket): flows (+, -) on the left, (-, +) right."""

    conserved: Quantities

    def __init__(self, conserved: Quantities, total: tuple[int, ...]):
        self.conserved, group = conserved, conserved.symmetry
        ends = eye(Leg({group.neutral: 1}, 1, group)), eye(Leg({total: 1}, -1, group))
        self.begin(len(conserved.charges), ends, {"left": past_left, "right": past_right})


def past_left(environment: SymTensor, ket: SymTensor, bra: SymTensor) -> SymTensor:
    """The environment behind a site."""
    return tensordot(bra.conj(), tensordot(environment, ket, 1), ([0, 1], [0, 1]))


def past_right(environment: SymTensor, ket: SymTensor, bra: SymTensor) -> SymTensor:
    """The environment in front of a site."""
    return tensordot(bra.conj(), tensordot(ket, environment, ([2], [1])), ([1, 2], [1, 2]))


def opened(environment: SymTensor, ket: SymTensor, bra: SymTensor, leave_open: bool) -> SymTensor:
    """An environment (bra, ket, open legs) behind a site, which may add its legs (bra, ket) to the open ones."""
    half = tensordot(bra.conj(), environment, ([0], [0]))  # s* b* k ...
    if leave_open:
        half = tensordot(half, ket, ([2], [0]))  # s* b* ... s r
        last = half.ndim - 1
        return half.transpose(1, last, *range(2, last - 1), 0, last - 1)
    half = tensordot(half, ket, ([2, 0], [0, 1]))  # b* ... r
    return half.transpose(0, half.ndim - 1, *range(1, half.ndim - 1))


def paired(
    op: Instruction, overlaps: ConservingOverlaps, bra: Sequence[SymTensor], ket: Sequence[SymTensor]
) -> np.ndarray:
    """``<bra| d op / d v |ket>`` for every number v of an instruction, an array (E,)."""
    sites = sites_of(op)
    environment, right = overlaps.left(bra, ket, sites[0]), overlaps.right(bra, ket, sites[-1] + 1)
    for site in range(sites[0], sites[-1] + 1):
        environment = opened(environment, ket[site], bra[site], site in sites)
    density = tensordot(environment, right, ([0, 1], [0, 1])).to_dense()  # (out, in) of every site
    orders = [np.argsort(overlaps.conserved.orders[site]) for site in sites for _ in range(2)]
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


@primitive(keeps=True)
def measured(
    real: np.ndarray, complex_: np.ndarray, *, run: ConservingRun, targets: tuple[Target, ...]
) -> tuple[tuple[Array, ...], Kept]:
    """What the targets measure in the final state of the numbers of the gates, a tuple."""
    ket, history = run.forward(real, complex_)
    psi = SymmetricMPS(ket.tensors, run.conserved)
    return tuple(target.value(psi) for target in targets), (ket, history)


@opaque
def slopes(
    real: np.ndarray, complex_: np.ndarray, *, run: ConservingRun, target: Target, kept: Kept | None
) -> tuple[np.ndarray, np.ndarray]:
    """The derivatives of what is measured by the two vectors, those by real numbers as if they were complex."""
    ket, history = run.forward(real, complex_) if kept is None else kept
    weight, bra = target.bra(SymmetricMPS(ket.tensors, run.conserved))
    by_real, by_complex = run.backward(real, complex_, history, bra)
    return weight * by_real, weight * by_complex


def _measured_vjp(needed, g, ans, real, complex_, *, run, targets, kept=None):
    if type(real) is Tensor or type(complex_) is Tensor:
        raise ArgumentError(
            "the chain engine has first derivatives only: c.expectation, of the state vector, and c.network have all"
        )
    out = [0.0, 0.0]
    for slope, target in zip(g, targets, strict=True):
        if slope is not None:
            by_real, by_complex = slopes(real, complex_, run=run, target=target, kept=kept)
            out = [out[0] + (slope * by_real).real, out[1] + slope * by_complex]
    return tuple(out[i] for i in needed)


defvjp(measured, shared=_measured_vjp)
