"""How a circuit is laid out for drawing: columns of symbols on wires, the same for text and for pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from qad.extend import value_of

if TYPE_CHECKING:
    import numpy as np

    from qad.circuit.program.builder import Builder
    from qad.circuit.program.ir import Operation

CONTROLLED = {"cx": "X", "cnot": "X", "cy": "Y", "cz": "Z", "ch": "H", "crx": "RX", "cry": "RY", "crz": "RZ", "cp": "P",
              "cu1": "U1", "cu3": "U3", "ccx": "X", "ccz": "Z", "cswap": "SWAP", "csx": "SX", "cphase": "P", "cu": "U",
              "c3x": "X", "c4x": "X", "c3sqrtx": "SX"}  # fmt: skip

HERMITIAN = {"ID", "X", "Y", "Z", "H", "SWAP", "RCCX"}


@dataclass(frozen=True)
class Symbol:
    """One gate: what stands on its qubits, and its column.

    `marks` maps qubits to text; "●" is a control, "×" one end of a swap, "⊕" a controlled NOT.
    """

    marks: dict[int, str]
    column: int

    @property
    def span(self) -> tuple[int, int]:
        """The first and the last wire that it covers."""
        return min(self.marks), max(self.marks)


def laid_out(circuit: Builder, digits: int = 3) -> list[Symbol]:
    """The symbols of all gates, each in the first column in which its wires are free."""
    free = [0] * (circuit.n + circuit.bits)  # a classical bit is a wire that is not drawn
    theta = value_of(circuit.parameters) if circuit._size else ()
    symbols = []
    for operation in circuit.operations:
        marks = marks_of(operation, theta, digits)
        bits = [circuit.n + bit for bit in (*dict(operation.when), operation.into) if bit is not None]
        wires = [*range(min(marks), max(marks) + 1), *bits]
        column = max(free[q] for q in wires)
        symbols.append(Symbol(marks, column))
        for q in wires:
            free[q] = column + 1
    return symbols


def marks_of(operation: Operation, theta: np.ndarray, digits: int) -> dict[int, str]:
    """What stands on the qubits of an operation."""
    if operation.when:  # the condition stands behind the last of its qubits
        marks, last = marks_of(operation._replace(when=()), theta, digits), operation.qubits[-1]
        bits = ",".join(f"c{bit}={value}" for bit, value in operation.when)
        return marks | {last: f"{marks[last]} if {bits}"}
    gate, qubits = operation.gate, list(operation.qubits)
    if gate.name == "measure":
        return {qubits[0]: "M" if operation.into is None else f"M→c{operation.into}"}
    marks = dict.fromkeys(operation.controls, "●")
    name = CONTROLLED.get(gate.name)
    if name:
        count = gate.qubits - (2 if name == "SWAP" else 1)
        marks |= dict.fromkeys(qubits[:count], "●")
        qubits = qubits[count:]
    daggered = gate.name.endswith("dg")
    name = name or gate.name.removesuffix("dg").upper()
    angles = ", ".join(written(theta, slot, digits) for slot in operation.slots)
    dagger = daggered != operation.adjoint and name not in HERMITIAN
    suffix = ("†" if dagger else "") + (f"({angles})" if angles else "")
    if name == "X" and marks:
        return marks | {qubits[0]: "⊕"}
    if name == "SWAP":
        return marks | dict.fromkeys(qubits, "×")
    if gate.letters:
        return marks | {q: letter + suffix for q, letter in zip(qubits, gate.letters, strict=True)}
    if name in ("RXX", "RYY", "RZZ"):
        return marks | dict.fromkeys(qubits, name + suffix)
    if len(qubits) > 1:
        return marks | {q: f"{name}{suffix}:{i}" for i, q in enumerate(qubits)}
    return marks | {qubits[0]: name + suffix}


def written(theta: np.ndarray, slot: int, digits: int) -> str:
    """An angle; of a batch of angles, its index."""
    angle = theta[..., slot]
    return f"{float(angle):.{digits}g}" if angle.ndim == 0 else f"θ{slot}"
