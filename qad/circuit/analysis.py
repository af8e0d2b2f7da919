"""From a list of operations to a `Program`."""

from functools import lru_cache

import numpy as np

from qad.circuit.gate_structure import Form, form_of
from qad.circuit.ir import Called, Instruction, Program
from qad.circuit.trigonometry import Polynomials


@lru_cache(maxsize=1024)
def program_of(n, size, operations) -> Program:
    """The program of a tuple of operations on n qubits with `size` parameters, kept for the next circuit like it."""
    plan = Plan()
    for place, operation in enumerate(operations):
        plan.sort(place, operation)
    plan.place_called()
    plan.place_given()
    return Program(
        n,
        size,
        tuple(plan.instructions[place] for place in range(len(operations))),
        Polynomials(plan.polynomials["real"], size, float) if plan.polynomials["real"] else None,
        Polynomials(plan.polynomials["complex"], size, complex) if plan.polynomials["complex"] else None,
        tuple(plan.calls),
        tuple(plan.given),
        all(operation.gate.unitary for operation in operations),
    )


class Plan:
    """Instructions by place, and where their numbers come from.

    The complex vector begins with the gates of one parameter; matrices that have to be called for, and then
    those that the user gives, follow.
    """

    def __init__(self):
        self.instructions, self.polynomials, self.filled = {}, {"real": [], "complex": []}, {"real": 0, "complex": 0}
        self.called, self.waiting = {}, []  # operations whose numbers stand at the end
        self.calls, self.given = [], []

    def sort(self, place, operation):
        """Make the instruction of an operation, or remember it for later."""
        if operation.given is not None:
            self.waiting.append((place, operation))
            return
        form = form_of(operation.gate)
        if form.coefficients is None and form.numbers:
            self.called.setdefault((operation.gate, operation.adjoint, operation.conjugate), []).append(
                (place, operation)
            )
            return
        form = form.adjoint() if operation.adjoint else form
        form = form.conjugate(operation.gate.letters) if operation.conjugate else form
        if form.coefficients is None:
            self.add(place, operation, form)
        elif not operation.slots:
            self.add(place, operation, form, constant=form.coefficients[0])
        else:
            source = "real" if form.real else "complex"
            self.polynomials[source].append((operation.slots[0], form.frequency, form.coefficients))
            self.add(place, operation, form, source)

    def add(self, place, operation, form, source="constant", constant=None):
        """Make the instruction at `place`, with the next numbers of `source`."""
        controls = operation.controls + operation.qubits[: form.controls]
        start = 0
        if source != "constant":
            start = self.filled[source]
            self.filled[source] += form.numbers
        self.instructions[place] = Instruction(
            form.kind, operation.qubits[form.controls :], controls, form.numbers, source, start, constant,
            operation.gate.letters, operation.gate.unitary,
        )  # fmt: skip

    def place_called(self):
        """Instructions of gates whose matrix functions are called, kind by kind."""
        for (gate, *changes), found in self.called.items():
            form = form_of(gate)
            self.calls.append(Called(gate, form, np.array([operation.slots for _, operation in found]), *changes))
            for place, operation in found:
                self.add(place, operation, form, "complex")

    def place_given(self):
        """Instructions of the user's own matrices."""
        for place, operation in self.waiting:
            self.given.append((operation.given, operation.adjoint, operation.conjugate))
            k = len(operation.qubits)
            self.add(place, operation, Form("matrix", 0, k, None, None, False), "complex")
