"""A circuit run on a matrix product state, as users see it."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.chains.operators import QUBIT, breaking, factors, parts_of, row, row_of
from qad.circuit.chains.sweeps import ChainRun, Energy, Overlap, measured
from qad.circuit.gates.checks import check_bits, check_qubits
from qad.circuit.observables.operators import Projector, as_observable, hermitian
from qad.circuit.observables.pauli import PauliSum
from qad.circuit.program.analysis import program_of
from qad.core.errors import ArgumentError, BatchError, GradientTypeError, ShapeError
from qad.extend import Tensor, stack_of, value_of
from qad.mps.chain.chain import site_count
from qad.mps.chain.state import MPS
from qad.mps.charges.make import product_tensors
from qad.mps.charges.quantities import quantities
from qad.mps.kernels.operators import operator_for
from qad.mps.operators.mpo import MPO
from qad.mps.operators.opsum import OpSum

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from qad.circuit.chains.sweeps import Target
    from qad.circuit.observables.operators import Observable
    from qad.circuit.program.builder import Builder
    from qad.mps.charges.quantities import Quantities
    from qad.symmetric.tensor import SymTensor
    from qad.typing import Array, Seed

UNLIMITED = 10**9


class ChainSimulation:
    """The final state of a circuit as a matrix product state; made by `Circuit.mps`.

    Attributes
    ----------
    state : MPS
        The final state, plain; of a circuit with recorded parameters it is refused, since its tensors are no
        differentiable functions: measure here instead.
    error : float
        The truncation error: the sum of the weights (squared Schmidt coefficients, relative) that were cut off.  The
        fidelity with the exact state is about ``1 - error``.
    bond : int
        The largest bond dimension of the final state.
    """

    n: int
    entries: Any
    run: Any

    def __init__(
        self, circuit: Builder, bond: int | None, cutoff: float, bra_bond: int | None,
        conserve: str | Sequence[str] | None = None,
    ):  # fmt: skip
        if conserve is not None and circuit.initial is not None:
            raise ArgumentError("c.mps(conserve=...) begins in |0...0>: leave conserve out, or begin by gates")
        if circuit.initial is not None and not isinstance(circuit.initial, MPS):
            raise ArgumentError(
                "c.mps begins in |0...0> or in an MPS: Circuit(n, initial=qad.mps.MPS.from_dense(psi)), with psi of "
                "shape (2,) * n, or use c.state()"
            )
        bond = UNLIMITED if bond is None else site_count(bond, 1, "bond")
        bra_bond = min(2 * bond, UNLIMITED) if bra_bond is None else site_count(bra_bond, 1, "bra_bond")
        if not 0 <= cutoff < 1:
            raise ArgumentError(f"cutoff is a relative weight from 0 to below 1, not {cutoff!r}")
        self.n = circuit.n
        program = program_of(circuit.n, circuit._size, tuple(circuit.operations))
        theta = circuit.parameters if circuit._size else np.zeros(0)
        if theta.ndim > 1 or any(u.ndim > 2 for u in circuit.matrices):
            raise ShapeError("c.mps takes one set of parameters, no batch: call it for each of them")
        self.entries = program.entries(theta, circuit.matrices)
        self.start: tuple[Array, ...] = () if circuit.initial is None else circuit.initial.tensors
        if any(stack_of(x).ndim > x.ndim for x in (self.entries, *self.start)):
            raise BatchError(
                "c.mps under qad.vmap: the bonds of a truncated chain differ from example to example: write a loop "
                "over the examples"
            )
        self.conserved: Quantities | None = None if conserve is None else quantities(conserve, [QUBIT] * self.n)
        self.run = ChainRun(program, circuit.dtype, bond, cutoff, bra_bond, len(self.start), self.conserved)

    @cached_property
    def final(self) -> Any:
        """The final walker; `entries` are this simulation's own, so that it stays right."""
        return self.run.forward(*map(value_of, (self.entries, *self.start)))[0]

    @property
    def state(self) -> MPS:
        if any(type(x) is Tensor for x in (self.entries, *self.start)):
            raise GradientTypeError(
                "the tensors of a truncated state are not differentiable: take .expectation(H), .overlap(phi) or "
                ".amplitude(bits) of the simulation, or build the circuit from plain angles"
            )
        return self.plain

    @property
    def plain(self) -> Any:
        """The final state, of numbers that are not recorded."""
        return MPS(self.final.tensors, self.conserved)

    @property
    def error(self) -> float:
        return float(self.final.truncation.discarded)

    @property
    def bond(self) -> int:
        return max(t.shape[2] for t in self.final.tensors)

    def expectation(self, observable: Observable | MPO | Sequence[Observable | MPO]) -> Array:
        """The expectation value ``<psi|H|psi>``, real and differentiable.

        Parameters
        ----------
        observable : PauliSum, str, array, Operator, Projector, MPO, or a list of them
            As `Circuit.expectation` takes them; coefficients and tensors may be recorded where nothing is conserved.
            Else a Pauli sum and an MPO have to conserve; sums may do so together, as XX + YY.  A matrix has to where
            derivatives are asked for.

        Returns
        -------
        real scalar
            An array for a list.

        Raises
        ------
        ArgumentError
            If an observable does not conserve what is to be; in a derivative, if a gate does not that stands behind a
            gate with derivatives, or for derivatives of derivatives.

        Examples
        --------
        >>> import numpy as np, qad
        >>> c = qad.Circuit(50).h(0).cx(range(49), range(1, 50))
        >>> c.mps(bond=4).expectation([qad.PauliSum.on_sites(50, [(1.0, "ZZ", (0, 49))]), "X" * 50]).round(6)
        array([1., 1.])
        """
        several = isinstance(observable, (list, tuple))
        if several and any(isinstance(one, (list, tuple)) for one in observable):
            return np.stack([self.expectation(one) for one in observable])
        found = self._measured([self.target(one) for one in (observable if several else [observable])])
        return np.stack(found) if several else found[0]

    def target(self, observable: Observable | MPO) -> tuple[Target, Sequence[Array]]:
        """What is measured of an observable, and the operands of that."""
        if self.conserved is None:
            return Energy(), operator_of(observable, self.n)
        return Energy(*conserving_operator(observable, self.n, self.conserved)), ()

    def overlap(self, phi: MPS) -> Array:
        """The overlap ``<phi|psi>`` with a matrix product state, complex and differentiable in both.

        Where something is conserved, it takes a state that conserves the same; it is 0 where charges differ.

        Examples
        --------
        >>> import qad
        >>> c = qad.Circuit(60).h(0).cx(range(59), range(1, 60))
        >>> c.mps().overlap(qad.mps.MPS.product([1] * 60)).round(6)
        np.complex128(0.707107+0j)
        """
        if not isinstance(phi, MPS) or phi.conserved != self.conserved or phi.periodic or phi.phys != (2,) * self.n:
            like = "" if self.conserved is None else f" that conserves {self.conserved.names}"
            raise ShapeError(f"overlap takes an open MPS of {self.n} qubits{like}, not {phi!r}")
        if self.conserved is not None:
            return self._measured([(Overlap(tuple(t.layout for t in phi)), tuple(t.data for t in phi))])[0]
        return self._measured([(Overlap(), phi.tensors)])[0]

    def amplitude(self, bits: str | Sequence[int]) -> Array:
        """The amplitude ``<bits|psi>`` of a basis state, a string or sequence of one bit per qubit.

        Examples
        --------
        >>> import qad
        >>> qad.Circuit(40).h(0).cx(range(39), range(1, 40)).mps().amplitude("1" * 40).round(6)
        np.complex128(0.707107+0j)
        """
        bits = check_bits(bits, self.n, f"an amplitude of {self.n} qubits is named")
        return self.overlap(self.run.basis(bits))

    def sample(self, shots: int, seed: Seed = 0) -> NDArray[np.int64]:
        """Outcomes (shots, n) of measuring all qubits, drawn from ``|psi|**2``."""
        return self.plain.sample(shots, seed)

    def _measured(self, pairs):
        """The numbers of all pairs (target, its operands), of one run."""
        if all(type(x) is np.ndarray for x in (self.entries, *self.start)):
            return tuple(target.value(self.final.tensors, *operands) for target, operands in pairs)
        ends = np.cumsum([len(self.start), *(len(operands) for _, operands in pairs)]).tolist()
        targets = [(target, slice(*own)) for (target, _), own in zip(pairs, pairwise(ends), strict=True)]
        operands = [x for _, row in pairs for x in row]
        return measured(self.entries, *self.start, *operands, run=self.run, targets=tuple(targets))

    def __repr__(self) -> str:
        return f"ChainSimulation({self.n} qubits, bond {self.bond}, truncation error {self.error:.2g})"


def operator_of(observable: Any, n: int) -> Sequence[Array]:
    """The tensors of the matrix product operator of an observable."""
    if isinstance(observable, MPO):
        if len(observable) != n or observable.periodic:
            raise ShapeError(f"an operator of {len(observable)} sites is no observable of {n} qubits in an open chain")
        return observable.tensors
    observable = as_observable(observable)
    if isinstance(observable, PauliSum):
        return PauliSum._of(observable.strings, hermitian(observable, n)).mpo().tensors
    qubits = check_qubits(observable.qubits, n, "an observable")
    if isinstance(observable, Projector):
        found = {q: np.diag([1.0 - bit, bit])[None, None] for q, bit in zip(qubits, observable.bits, strict=True)}
    else:
        found = factors(plain_matrix(observable), qubits)
    return row(1.0, range(n), found, ())


def conserving_operator(observable: Any, n: int, conserved: Quantities) -> tuple[Sequence[SymTensor], str]:
    """The symmetric tensors of an observable, and what those parts add to the charge that they leave out, in words."""
    observable = observable if isinstance(observable, MPO) else as_observable(observable)
    if isinstance(observable, PauliSum):
        observable = sum_of(observable, n).mpo(conserve=conserved.names)
    elif isinstance(observable, Projector):
        observable = MPO(operator_of(observable, n))
    if isinstance(observable, MPO):
        return operator_for(MPS(product_tensors([0] * n, conserved, float), conserved), observable).sites, ""
    qubits = check_qubits(observable.qubits, n, "an observable")
    matrix = plain_matrix(observable).reshape((2,) * (2 * len(qubits)))
    order, sites, size = np.argsort(qubits), sorted(qubits), 2 ** len(qubits)
    matrix = matrix.transpose([*order, *(order + len(qubits))]).reshape(size, size)
    neutral = conserved.symmetry.neutral
    part = parts_of(matrix, sites, conserved).get(neutral, 0 * matrix)
    return row_of(part, neutral, sites, range(n), conserved), breaking(matrix, sites, conserved)


def sum_of(observable: PauliSum, n: int) -> OpSum:
    """A Pauli sum as a sum of named operators on qubits."""
    total = OpSum(n, QUBIT)
    for string, weight in zip(observable.strings, hermitian(observable, n), strict=True):
        factors = [x for site, letter in enumerate(string) if letter != "I" for x in (letter, site)]
        total.add(weight, *factors)
    return total


def plain_matrix(observable: Any) -> np.ndarray:
    """The matrix of an observable; raises where it is sparse or recorded."""
    if observable.sparse or type(observable.matrix) is Tensor:
        raise ArgumentError("c.mps measures plain dense matrices on a few qubits: write others as a qad.PauliSum, MPO")
    return np.asarray(observable.matrix)
