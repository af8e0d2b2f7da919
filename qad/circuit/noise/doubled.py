"""The operations of a noisy circuit as those of a circuit on rows, columns and classical bits."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from qad.circuit.gates.table import GATES, Gate, constant, given
from qad.circuit.program.ir import Operation


def on_both(name: str, qubits: int, matrix: np.ndarray) -> Gate:
    """A step of density matrices that is always the same."""
    return Gate(name, qubits, 0, constant(matrix), unitary=False)


FORGOTTEN: Gate = on_both("forget", 2, np.diag([1.0, 0.0, 0.0, 1.0]))
RESET: Gate = on_both("reset", 2, np.outer([1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 1.0]))
WRITTEN: Gate = on_both(  # of qubit, column and bit: equal values of the first two are written over the third
    "measure",
    3,
    sum(np.kron(np.diag(np.eye(4)[3 * k]), np.outer(np.eye(2)[k], [1.0, 1.0])) for k in (0, 1)),
)


@lru_cache(maxsize=256)
def doubled(n: int, operations: tuple[Operation, ...]) -> tuple[Operation, ...]:
    """The operations on rows, columns and bits that make those of a circuit on n qubits."""
    found = []
    for o in operations:
        when = dict(o.when)  # conditions within conditions may name a bit twice
        if any(when[bit] != value for bit, value in o.when):
            continue  # never
        wires = (*o.qubits, *(q + n for q in o.qubits))
        flips = [Operation(GATES["x"], (2 * n + bit,)) for bit, value in when.items() if not value]
        controls = tuple(2 * n + bit for bit in when)
        found += flips
        if o.gate.name == "channel":
            found.append(Operation(given(len(wires), False), wires, controls, given=o.given))
        elif o.gate.name == "reset":
            found.append(Operation(RESET, wires, controls))
        elif o.gate.name == "measure":
            written = o.into is not None
            wires = (*wires, 2 * n + o.into) if written else wires
            found.append(Operation(WRITTEN if written else FORGOTTEN, wires, controls))
        else:
            rows = o._replace(controls=(*o.controls, *controls), when=())
            columns = (*(q + n for q in o.controls), *controls)
            found += [rows, rows._replace(qubits=wires[len(o.qubits) :], controls=columns, conjugate=not o.conjugate)]
        found += flips
    return tuple(found)
