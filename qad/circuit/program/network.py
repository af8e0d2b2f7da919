"""Circuits as tensor networks: amplitudes, and observables with only the gates in their light cone.

A qubit is a wire, cut into labels by the gates that change its basis state.  Controls and diagonal gates leave the
label as it is, and have it as one of theirs, so that a ZZ rotation is one matrix on two labels; a Pauli rotation
``c + s (-i P)`` is a matrix per letter on one more label of dimension 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from opt_einsum import get_symbol

from qad.circuit.gates.checks import check_bits, check_qubits
from qad.circuit.gates.table import ID, SWAP, X, pauli_matrix
from qad.circuit.observables.operators import Projector, as_observable, hermitian
from qad.circuit.observables.pauli import PauliSum
from qad.circuit.program.analysis import program_of
from qad.contract.notation.einsum import einsum
from qad.contract.plan.planner import plan
from qad.core.errors import ArgumentError, ShapeError
from qad.extend import Tensor, like

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from qad.circuit.program.builder import Builder
    from qad.circuit.program.ir import Instruction
    from qad.contract.plan.plan import Plan
    from qad.typing import Array


@dataclass(frozen=True, eq=False)
class Network:
    """A closed tensor network of a circuit; made by `Circuit.network`.

    Attributes
    ----------
    subscripts : str
        The expression of `qad.einsum`.
    operands : tuple of arrays
        Tensors where the circuit's parameters are recorded.
    real : bool
        Whether it is ``<psi|O|psi>``, so that its derivative needs that of the bra half only.
    memory_limit : int, str or None
    gates : int
        How many gates of the circuit are in it, the light cone.
    """

    subscripts: str
    operands: tuple[Array, ...]
    real: bool
    memory_limit: Any
    gates: int

    @cached_property
    def plan(self) -> Plan:
        """The `qad.Plan` of its contraction."""
        return plan(self.subscripts, *self.operands, memory_limit=self.memory_limit)

    def value(self) -> Array:
        """Contract it: a scalar, differentiable to any order.

        Examples
        --------
        >>> import qad
        >>> qad.Circuit(2).h(0).cx(0, 1).network("11").value().round(6)
        np.complex128(0.707107+0j)
        """
        recorded, host = any(type(x) is Tensor for x in self.operands), like(*self.operands) is np
        hermitian_form = self.real and recorded and host  # of arrays on a device nothing is proved
        out = einsum(self.subscripts, *self.operands, memory_limit=self.memory_limit, hermitian=hermitian_form)
        return out.real if self.real else out + 0j

    def __repr__(self) -> str:
        return f"Network({len(self.operands)} tensors of {self.gates} gates, {self.plan.flops:.3g} operations)"


@dataclass(frozen=True, eq=False)
class NetworkSum:
    """The networks of the terms of a Pauli sum; made by `Circuit.network`.

    Attributes
    ----------
    networks : tuple of Network
    coefficients : array or Tensor
    """

    networks: tuple[Network, ...]
    coefficients: Any

    def value(self) -> Array:
        """The expectation value, a real scalar."""
        values = np.stack([network.value() for network in self.networks])
        plain = type(self.coefficients) is np.ndarray
        return ((like(values).asarray(self.coefficients) if plain else self.coefficients) * values).sum()

    def __repr__(self) -> str:
        return f"NetworkSum({len(self.networks)} terms, up to {max(x.gates for x in self.networks)} gates)"


class Wires:
    """The terms and operands of the gates so far, and the label of each qubit after them."""

    make: Any  # creates arrays beside those of the circuit
    fresh: Iterator[int]
    terms: list[tuple[int, ...]]
    operands: list[Array]
    at: list[int]

    def __init__(self, n: int, make: Any):
        self.make, self.fresh, self.terms, self.operands = make, count(), [], []
        self.at = [next(self.fresh) for _ in range(n)]

    def own(self, x: Array) -> Array:
        """A constant beside the circuit's arrays."""
        return self.make.asarray(x) if type(x) is np.ndarray else x

    def add(self, operand: Array, labels: Iterable[int]) -> None:
        """Append an operand and its labels."""
        self.operands.append(operand)
        self.terms.append(tuple(labels))

    def relabelled(self, qubits: Sequence[int]) -> tuple[list[int], list[int]]:
        """New labels for some qubits, and their old ones."""
        old = [self.at[q] for q in qubits]
        for q in qubits:
            self.at[q] = next(self.fresh)
        return [self.at[q] for q in qubits], old

    def apply(self, op: Instruction, v: Array | None) -> None:
        """A gate of the program with entries `v`."""
        controls, k = [self.at[q] for q in op.controls], len(op.targets)
        if op.kind == "pauli":
            label = next(self.fresh)
            rest = self.make.array([1.0, 0.0])
            self.add(controlled(v * self.make.array([1.0, -1j]), rest, len(controls)), [*controls, label])
            for q, letter in zip(op.targets, op.letters, strict=True):
                if letter != "I":
                    new, old = self.relabelled([q])
                    self.add(self.make.array([ID, pauli_matrix(letter)]), [label, *new, *old])
        elif op.kind == "diagonal":
            diagonal = v.reshape((2,) * k)
            self.add(controlled(diagonal, np.ones_like(v).reshape((2,) * k), len(controls)),
                     [*controls, *(self.at[q] for q in op.targets)])  # fmt: skip
        else:
            u = self.own({"flip": X, "swap": SWAP}.get(op.kind, v)).reshape((2,) * (2 * k))
            new, old = self.relabelled(op.targets)
            self.add(controlled(u, self.make.eye(2**k).reshape((2,) * (2 * k)), len(controls)), [*controls, *new, *old])


def controlled(u: Array, idle: np.ndarray, controls: int) -> Array:
    """`u` where all controls are 1, and `idle` elsewhere: one leading axis for each control."""
    for _ in range(controls):
        u, idle = np.stack([idle + 0 * u, u]), np.stack([idle, idle])
    return u


def ket_of(circuit: Builder, chosen: Sequence[int] | None = None) -> Wires:
    """The wires after the gates of a circuit, or after those of the indices `chosen`."""
    program = program_of(circuit.n, circuit._size, tuple(circuit.operations))
    theta = circuit.parameters if circuit._size else np.zeros(0)
    if theta.ndim > 1 or any(u.ndim > 2 for u in circuit.matrices):
        raise ShapeError("c.network takes one set of parameters, no batch: call it for each of them")
    entries = program.entries(theta, circuit.matrices)[0, 0]
    vectors = {True: entries.real, False: entries}
    given = () if circuit.initial is None else getattr(circuit.initial, "tensors", (circuit.initial,))
    wires = Wires(circuit.n, like(theta, *circuit.matrices, *given))
    start(wires, circuit)
    for index in range(len(program.instructions)) if chosen is None else chosen:
        op = program.instructions[index]
        v = vectors[op.real][op.start : op.start + op.count] if op.varies else wires.own(op.constant)
        wires.apply(op, v)
    return wires


def start(wires: Wires, circuit: Builder) -> None:
    """The operands of the initial state."""
    if circuit.initial is None:
        for label in wires.at:
            wires.add(wires.make.array([1.0, 0.0]), [label])
        return
    if hasattr(circuit.initial, "to_dense"):
        bonds = [(), *((next(wires.fresh),) for _ in range(circuit.n - 1)), ()]
        for site, tensor in enumerate(circuit.initial):
            left, right = bonds[site : site + 2]
            shape = [size for size, one in zip(tensor.shape, (left, (2,), right), strict=True) if one]
            wires.add(tensor.reshape(shape), [*left, wires.at[site], *right])
        return
    if circuit.initial.size != 2**circuit.n:
        raise ShapeError("c.network takes one initial state, no batch: call it for each of them")
    wires.add(circuit.initial.reshape((2,) * circuit.n), wires.at)


def light_cone(circuit: Builder, qubits: Iterable[int]) -> tuple[list[int], set[int]]:
    """Indices of the gates on which an observable on `qubits` depends, and the qubits that these act on.

    All other gates are unitary, and cancel between ket and bra.
    """
    reached, chosen = set(qubits), []
    for index in range(len(circuit.operations) - 1, -1, -1):
        operation = circuit.operations[index]
        support = {*operation.controls, *operation.qubits}
        if reached & support or not operation.gate.unitary:
            reached |= support
            chosen.append(index)
    return chosen[::-1], reached


def amplitude(circuit: Builder, bits: Sequence[int], memory_limit: int | str | None) -> Network:
    """The network of ``<bits|psi>``."""
    wires = ket_of(circuit)
    for label, bit in zip(wires.at, bits, strict=True):
        wires.add(wires.make.eye(2)[bit], [label])
    return network(wires, len(circuit.operations), False, memory_limit)


def sandwich(
    circuit: Builder, factors: Sequence[tuple[Array, Sequence[int]]], memory_limit: int | str | None
) -> Network:
    """The network of ``<psi|O|psi>`` with O the product of matrices, each on some qubits."""
    touched = [q for _, qubits in factors for q in qubits]
    chosen, reached = light_cone(circuit, touched)
    wires = ket_of(circuit, chosen)
    if circuit.initial is None:  # qubits that nothing reaches stay |0>
        keep = [i for i, term in enumerate(wires.terms) if i >= circuit.n or i in reached]
        wires.terms, wires.operands = ([row[i] for i in keep] for row in (wires.terms, wires.operands))
    ends = {wires.at[q] for q in range(circuit.n)} - {wires.at[q] for q in touched}
    bra = {label: label if label in ends else next(wires.fresh) for term in wires.terms for label in term}
    for term, operand in list(zip(wires.terms, wires.operands, strict=True)):
        wires.add(operand.conj() if operand.dtype.kind == "c" else operand, [bra[label] for label in term])
    for matrix, qubits in factors:
        ket = [wires.at[q] for q in qubits]
        wires.add(wires.own(matrix).reshape((2,) * (2 * len(qubits))), [*(bra[label] for label in ket), *ket])
    return network(wires, len(chosen), True, memory_limit)


def network(wires: Wires, gates: int, real: bool, memory_limit: int | str | None) -> Network:
    """A closed network of all operands."""
    if not wires.terms:
        wires.add(wires.make.ones(()), ())
    subscripts = ",".join("".join(map(get_symbol, term)) for term in wires.terms) + "->"
    return Network(subscripts, tuple(wires.operands), real, memory_limit, gates)


def network_of(circuit: Builder, target: Any, memory_limit: int | str | None) -> Network | NetworkSum:
    """The network of an amplitude or an observable; see `Circuit.network`."""
    bits = bits_of(target)
    if bits is not None:
        bits = check_bits(bits, circuit.n, f"an amplitude of {circuit.n} qubits is named")
        return amplitude(circuit, bits, memory_limit)
    observable = as_observable(target)
    if isinstance(observable, PauliSum):
        coefficients = hermitian(observable, circuit.n)
        factors = [[(pauli_matrix(c), [q]) for q, c in enumerate(s) if c != "I"] for s in observable.strings]
        return NetworkSum(tuple(sandwich(circuit, f, memory_limit) for f in factors), coefficients)
    qubits = check_qubits(observable.qubits, circuit.n, "an observable")
    if isinstance(observable, Projector):
        rows = [(np.diag([1.0 - bit, bit]), [q]) for q, bit in zip(qubits, observable.bits, strict=True)]
        return sandwich(circuit, rows, memory_limit)
    if observable.sparse:
        raise ArgumentError("c.network takes dense matrices on a few qubits: write a sparse one as a qad.PauliSum")
    return sandwich(circuit, [(observable.matrix, qubits)], memory_limit)


def bits_of(target: Any) -> Any:
    """A string or sequence of bits, None of anything else."""
    if isinstance(target, str):
        return target if target and not set(target) - set("01") else None
    return target if isinstance(target, (list, tuple)) or (hasattr(target, "dtype") and np.ndim(target) == 1) else None
