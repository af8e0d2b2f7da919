"""Circuits to programs in OpenQASM 2, exact up to a global phase."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.gates.table import GATES
from qad.circuit.program.analysis import program_of
from qad.circuit.qasm.other_gates import DEFINITIONS, QELIB
from qad.core.errors import ArgumentError
from qad.extend import value_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.circuit.program.builder import Builder
    from qad.circuit.program.ir import CircuitProgram, Instruction, Operation

INVERSES = {"s": "sdg", "t": "tdg", "sx": "sxdg", "sdg": "s", "tdg": "t", "sxdg": "sx", "iswap": "iswapdg",
            "c3sqrtx": "c3sqrtxdg", "rc3x": "rc3xdg"}  # fmt: skip
BASIS = {"X": ("h {};", "h {};"), "Y": ("rx(pi/2) {};", "rx(-pi/2) {};"), "Z": ("", "")}
WITH_CONTROLS = {
    ("x", 1): "cx", ("x", 2): "ccx", ("x", 3): "c3x", ("x", 4): "c4x", ("y", 1): "cy", ("z", 1): "cz", ("z", 2): "ccz",
    ("h", 1): "ch", ("swap", 1): "cswap", ("rx", 1): "crx", ("ry", 1): "cry", ("rz", 1): "crz", ("p", 1): "cp",
    ("u1", 1): "cu1", ("u3", 1): "cu3", ("u", 1): "cu3", ("cx", 1): "ccx", ("cx", 2): "c3x", ("cx", 3): "c4x",
    ("c3x", 1): "c4x", ("ccx", 1): "c3x", ("ccx", 2): "c4x", ("cz", 1): "ccz", ("sx", 1): "csx", ("sx", 3): "c3sqrtx",
}  # fmt: skip
SELF_INVERSE = {"id", "x", "y", "z", "h", "cx", "cnot", "cy", "cz", "ch", "swap", "ccx", "ccz", "cswap", "rccx", "c3x",
                "c4x"}  # fmt: skip
STEPS = {"measure", "reset", "channel"}  # of noisy circuits, which no instruction stands for
SAME = {"cnot": "cx", "phase": "p", "cphase": "cp"}


def written(circuit: Builder) -> str:
    """The program of a circuit; see `Circuit.to_qasm`."""
    if circuit.initial is not None:
        raise ArgumentError("OpenQASM begins in |0...0>: an initial state cannot be written")
    theta = value_of(circuit.parameters) if circuit._size else np.zeros(0)
    given = [circuit.matrices[o.given] for o in circuit.operations if o.given is not None and o.gate.name not in STEPS]
    if theta.ndim > 1 or any(u.ndim > 2 for u in given):
        raise ArgumentError("OpenQASM has no batches: write one circuit for each set of parameters")
    values = OperationValues(circuit, theta)
    rows = [(o, line) for i, o in enumerate(circuit.operations) for line in statements(values, i)]
    used = {line.split("(")[0].split()[0] for _, line in rows}
    header = ["OPENQASM 2.0;", 'include "qelib1.inc";', *(d for name, d in DEFINITIONS.items() if name in used)]
    registers = [f"qreg q[{circuit.n}];", *(f"creg c{bit}[1];" for bit in range(circuit.bits))]
    return "\n".join([*header, *registers, *(condition(o) + line for o, line in rows)])


class OperationValues:
    """Angles and matrices of the operations of a circuit, as plain numbers."""

    operations: list[Operation]
    theta: np.ndarray
    program: CircuitProgram
    instructions: list[Instruction | None]
    real: np.ndarray
    complex: np.ndarray

    def __init__(self, circuit: Builder, theta: np.ndarray):
        self.operations, self.theta = circuit.operations, theta
        gates = [o._replace(when=()) for o in circuit.operations if o.gate.name not in STEPS]
        self.program = program_of(circuit.n, circuit._size, tuple(gates))
        rest = iter(self.program.instructions)
        self.instructions = [None if o.gate.name in STEPS else next(rest) for o in circuit.operations]
        plain = [value_of(u) for u in circuit.matrices]
        self.real, self.complex = (v[0, 0] for v in self.program.entries(theta, plain))

    def angles(self, index: int) -> list[float]:
        """The angles of an operation."""
        return [float(self.theta[slot]) for slot in self.operations[index].slots]

    def matrix(self, index: int) -> tuple[np.ndarray | None, tuple[int, ...]]:
        """The matrix of an operation on its target and its controls, if it has one target."""
        op = self.instructions[index]
        if len(op.targets) != 1 or op.kind not in ("matrix", "diagonal"):
            return None, ()
        v = op.constant
        if op.source != "constant":
            v = (self.real if op.source == "real" else self.complex)[op.start : op.start + op.count]
        return (np.diag(v) if op.kind == "diagonal" else v.reshape(2, 2)), (*op.controls, *op.targets)


def condition(operation: Operation) -> str:
    """What stands before the statements of an operation that depends on a classical bit."""
    if len(operation.when) > 1:
        raise ArgumentError("OpenQASM 2 has conditions on one bit: write a condition on several as one of OpenQASM 3")
    return "".join(f"if (c{bit} == {value}) " for bit, value in operation.when)


def statements(values: OperationValues, index: int) -> list[str]:
    """The statements of one operation."""
    operation = values.operations[index]
    if operation.gate.name == "reset":
        return [statement("reset", [], operation.qubits)]
    if operation.gate.name == "measure" and operation.into is not None:
        return [f"measure q[{operation.qubits[0]}] -> c{operation.into}[0];"]
    if operation.gate.name in STEPS:
        raise ArgumentError("OpenQASM has no channels, and measurements write bits: measure(..., into=...)")
    if not operation.gate.unitary:
        raise ArgumentError("OpenQASM has only unitary gates: c.operator(...) cannot be written")
    angles = values.angles(index)
    if operation.gate.letters and len(operation.controls) < 2:
        return pauli_statements(operation, -angles[0] if operation.adjoint else angles[0])
    known = named(operation, angles)
    if known is not None:
        name, angles = known
        return [statement(name, angles, (*operation.controls, *operation.qubits))]
    u, qubits = values.matrix(index)
    if u is None or len(qubits) > 2:
        raise ArgumentError(
            f"OpenQASM 2 has no gate for {operation.gate.name} with {len(operation.controls)} controls on qubits "
            f"{operation.qubits}: write it as gates of its library first"
        )
    theta, phi, lam, phase = euler(u)
    name, last = ("cu", [phase]) if len(qubits) == 2 else ("u3", [])
    return [statement(name, [theta, phi, lam, *last], qubits)]


def named(operation: Operation, angles: list[float]) -> tuple[str, list[float]] | None:
    """The name and the angles under which the library knows an operation, or None."""
    name = operation.gate.name
    if name not in GATES or GATES[name] is not operation.gate:
        return None
    name = SAME.get(name, name)
    if operation.adjoint and name not in SELF_INVERSE:
        if name in INVERSES:
            name = INVERSES[name]
        elif name in ("u3", "u", "cu3"):
            angles = [-angles[0], -angles[2], -angles[1]]
        elif name == "cu":
            angles = [-angles[0], -angles[2], -angles[1], -angles[3]]
        elif name == "u2":
            name, angles = "u3", [-np.pi / 2, -angles[1], -angles[0]]
        elif operation.gate.params == 1:
            angles = [-angles[0]]
        else:
            return None
    if operation.controls:
        name = WITH_CONTROLS.get((name, len(operation.controls)))
    return (name, angles) if name in QELIB or name in DEFINITIONS or name in WITH_CONTROLS.values() else None


def pauli_statements(operation: Operation, angle: float) -> list[str]:
    """``exp(-i angle P / 2)`` as a ladder of CNOTs around one rotation."""
    sites = [(q, letter) for q, letter in zip(operation.qubits, operation.gate.letters, strict=True) if letter != "I"]
    if not sites:
        return [statement("p", [-angle / 2], operation.controls)] if operation.controls else []
    before = [BASIS[letter][0].format(f"q[{q}]") for q, letter in sites if letter != "Z"]
    after = [BASIS[letter][1].format(f"q[{q}]") for q, letter in sites if letter != "Z"]
    qubits = [q for q, _ in sites]
    ladder = [statement("cx", [], pair) for pair in pairwise(qubits)]
    middle = statement("crz" if operation.controls else "rz", [angle], (*operation.controls, qubits[-1]))
    return [*before, *ladder, middle, *reversed(ladder), *after]


def statement(name: str, angles: Sequence[float], qubits: Sequence[int]) -> str:
    """One statement, its angles with all their digits."""
    inner = f"({','.join(repr(float(angle)) for angle in angles)})" if angles else ""
    return f"{name}{inner} {','.join(f'q[{q}]' for q in qubits)};"


def euler(u: np.ndarray) -> tuple[float, float, float, float]:
    """Angles of ``u = exp(i phase) u3(theta, phi, lam)``."""
    theta = 2 * np.arctan2(abs(u[1, 0]), abs(u[0, 0]))
    if abs(u[0, 0]) > abs(u[1, 0]):
        phase = np.angle(u[0, 0])
        total = np.angle(u[1, 1]) - phase  # phi + lam
        phi = np.angle(u[1, 0]) - phase if abs(u[1, 0]) > 1e-12 else 0.0
        return theta, phi, total - phi, phase
    total = np.angle(u[1, 0])  # phase + phi
    phase = np.angle(u[0, 0]) if abs(u[0, 0]) > 1e-12 else 0.0
    return theta, total - phase, np.angle(-u[0, 1]) - phase, phase
