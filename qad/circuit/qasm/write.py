"""Circuits to programs in OpenQASM 2, exact up to a global phase."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.gates.structure import sample, without_controls
from qad.circuit.gates.table import GATES
from qad.circuit.program.ir import matrix_of
from qad.circuit.qasm.other_gates import DEFINITIONS, QELIB
from qad.core.errors import ArgumentError
from qad.extend import value_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.circuit.gates.table import Gate
    from qad.circuit.program.builder import Builder
    from qad.circuit.program.ir import Operation

BASIS = {"X": ("h {};", "h {};"), "Y": ("rx(pi/2) {};", "rx(-pi/2) {};"), "Z": ("", "")}
STEPS = {"measure", "reset", "channel"}  # of noisy circuits, which no instruction stands for
LIBRARY = [name for name in (*GATES, *(x for x in DEFINITIONS if x not in GATES)) if name in QELIB | {*DEFINITIONS}]


def written(circuit: Builder) -> str:
    """The program of a circuit; see `Circuit.to_qasm`."""
    if circuit.initial is not None:
        raise ArgumentError("OpenQASM begins in |0...0>: an initial state cannot be written")
    theta = value_of(circuit.parameters) if circuit._size else np.zeros(0)
    given = [circuit.matrices[o.given] for o in circuit.operations if o.given is not None and o.gate.name not in STEPS]
    if theta.ndim > 1 or any(u.ndim > 2 for u in given):
        raise ArgumentError("OpenQASM has no batches: write one circuit for each set of parameters")
    rows = [(o, line) for o in circuit.operations for line in statements(o, theta, circuit.matrices)]
    used = {line.split("(")[0].split()[0] for _, line in rows}
    header = ["OPENQASM 2.0;", 'include "qelib1.inc";', *(d for name, d in DEFINITIONS.items() if name in used)]
    registers = [f"qreg q[{circuit.n}];", *(f"creg c{bit}[1];" for bit in range(circuit.bits))]
    return "\n".join([*header, *registers, *(condition(o) + line for o, line in rows)])


def condition(operation: Operation) -> str:
    """What stands before the statements of an operation that depends on a classical bit."""
    if len(operation.when) > 1:
        raise ArgumentError("OpenQASM 2 has conditions on one bit: write a condition on several as one of OpenQASM 3")
    return "".join(f"if (c{bit} == {value}) " for bit, value in operation.when)


def statements(operation: Operation, theta: np.ndarray, matrices: Sequence[np.ndarray]) -> list[str]:
    """The statements of one operation."""
    gate, controls = operation.gate, operation.controls
    if gate.name == "reset":
        return [statement("reset", [], operation.qubits)]
    if gate.name == "measure" and operation.into is not None:
        return [f"measure q[{operation.qubits[0]}] -> c{operation.into}[0];"]
    if gate.name in STEPS:
        raise ArgumentError("OpenQASM has no channels, and measurements write bits: measure(..., into=...)")
    if not gate.unitary:
        raise ArgumentError("OpenQASM has only unitary gates: c.operator(...) cannot be written")
    angles = [float(theta[slot]) for slot in operation.slots]
    if gate.letters and len(controls) < 2:
        return pauli_statements(operation, -angles[0] if operation.adjoint else angles[0])
    known = None if gate.matrix is None else named(gate, operation.adjoint, len(controls), tuple(angles))
    if known is not None:
        return [statement(*known, (*controls, *operation.qubits))]
    count, u = 0, value_of(matrix_of(operation, theta, matrices)) + 0j
    if gate.matrix is not None:
        count, (u,) = without_controls(u[None], gate.qubits)
    if gate.qubits - count > 1 or gate.qubits + len(controls) > 2:
        raise ArgumentError(
            f"OpenQASM 2 has no gate for {gate.name} with {len(controls)} controls on qubits {operation.qubits}: "
            "write it as gates of its library first"
        )
    theta, phi, lam, phase = euler(u)
    name, last = ("cu", [phase]) if controls or count else ("u3", [])
    return [statement(name, [theta, phi, lam, *last], (*controls, *operation.qubits))]


@lru_cache(maxsize=4096)
def named(gate: Gate, adjoint: bool, controls: int, angles: tuple[float, ...]) -> tuple[str, tuple[float, ...]] | None:
    """The name and the angles of a gate of the library with the same matrix, of the same name if it can be, or None."""
    u = sample(gate, angles)
    u = u.conj().T if adjoint else u
    wanted = np.eye(len(u) << controls, dtype=complex)
    wanted[-len(u) :, -len(u) :] = u
    inverse = (*angles[:1], *angles[2:0:-1], *angles[3:])
    for name in sorted(LIBRARY, key=lambda name: name != gate.name):
        other = GATES[name if name in GATES else name.removesuffix("dg")]
        if (other.qubits, other.params) != (gate.qubits + controls, gate.params):
            continue
        for given in (angles, tuple(-angle for angle in inverse)):
            found = sample(other, given)
            if np.allclose(found if name in GATES else found.conj().T, wanted, 0, 1e-14):
                return name, given
    return None


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
