"""From a list of operations to a `CircuitProgram`."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.gates.structure import Form, form_of
from qad.circuit.gates.trigonometry import Polynomials
from qad.circuit.program.ir import Called, CircuitProgram, Instruction

if TYPE_CHECKING:
    from qad.circuit.gates.table import Gate
    from qad.circuit.program.ir import Operation


@lru_cache(maxsize=1024)
def program_of(n: int, size: int, operations: tuple[Operation, ...]) -> CircuitProgram:
    """The program of a tuple of operations on n qubits with `size` parameters, kept for the next circuit like it."""
    plan = Analysis()
    for index, operation in enumerate(operations):
        plan.sort(index, operation)
    plan.place_called()
    plan.place_given()
    return CircuitProgram(
        n,
        size,
        tuple(plan.instructions[index] for index in range(len(operations))),
        Polynomials(plan.polynomials, size) if plan.polynomials else None,
        tuple(plan.calls),
        tuple(plan.given),
        all(operation.gate.unitary for operation in operations),
    )


class Analysis:
    """Instructions by the index of their operation, and where their entries come from.

    The vector has the entries of gates of one parameter first, then those of gates whose matrix function has to be
    called, then the matrices that the user gave.
    """

    instructions: dict[int, Instruction]
    polynomials: list[tuple[int, float, np.ndarray]]
    filled: int
    called: dict[tuple[Gate, bool, bool], list[tuple[int, Operation]]]
    waiting: list[tuple[int, Operation]]
    calls: list[Called]
    given: list[tuple[int, bool, bool]]

    def __init__(self):
        self.instructions, self.polynomials, self.filled = {}, [], 0
        self.called, self.waiting = {}, []  # operations whose entries come last
        self.calls, self.given = [], []

    def sort(self, index: int, operation: Operation) -> None:
        """Make the instruction of an operation, unless its entries come later in the vector."""
        if operation.given is not None:
            self.waiting.append((index, operation))
            return
        form = form_of(operation.gate)
        if form.coefficients is None and form.count:
            self.called.setdefault((operation.gate, operation.adjoint, operation.conjugate), []).append(
                (index, operation)
            )
            return
        form = form.adjoint() if operation.adjoint else form
        form = form.conjugate(operation.gate.letters) if operation.conjugate else form
        if form.coefficients is None:
            self.add(index, operation, form)
        elif not operation.slots:
            self.add(index, operation, form, form.coefficients[0])
        else:
            self.polynomials.append((operation.slots[0], form.frequency, form.coefficients))
            self.add(index, operation, form)

    def add(self, index: int, operation: Operation, form: Form, constant: np.ndarray | None = None) -> None:
        """Make the instruction at `index`, with the next entries of the vector unless they are constant."""
        controls = operation.controls + operation.qubits[: form.controls]
        start = self.filled
        if constant is None:
            self.filled += form.count
        self.instructions[index] = Instruction(
            form.kind, operation.qubits[form.controls :], controls, form.count, form.real, start, constant,
            operation.gate.letters, operation.gate.unitary,
        )  # fmt: skip

    def place_called(self) -> None:
        """Instructions of gates whose matrix functions are called, kind by kind."""
        for (gate, *changes), found in self.called.items():
            form = form_of(gate)
            self.calls.append(Called(gate, form, np.array([operation.slots for _, operation in found]), *changes))
            for index, operation in found:
                self.add(index, operation, form)

    def place_given(self) -> None:
        """Instructions of the user's own matrices."""
        for index, operation in self.waiting:
            self.given.append((operation.given, operation.adjoint, operation.conjugate))
            k = len(operation.qubits)
            self.add(index, operation, Form("matrix", 0, k, None, None, False))
