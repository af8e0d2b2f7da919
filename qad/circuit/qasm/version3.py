"""OpenQASM 3 (A. W. Cross et al., ACM Trans. Quantum Comput. 3, 12 (2022)): the part that Qiskit and Braket write.

The package openqasm3 makes a tree of a program; here it becomes a circuit.  Loops are written out, conditions on bits
are found by trying all values of the bits that they name.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from qad.circuit.noise.steps import NoisySteps
from qad.circuit.qasm.gates3 import applied, expanded
from qad.circuit.qasm.tokens import MOST_STEPS
from qad.circuit.qasm.values3 import Names, refused, value
from qad.core.errors import ArgumentError, QasmError
from qad.installed import require

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from qad.circuit.program.builder import Builder

MOST_BITS = 10  # in a condition: all their values are tried


def parse3(program: str, circuit_type: type[Builder]) -> Builder:
    """The circuit of a program; see `NoisyCircuit.from_qasm`."""
    require("OpenQASM 3", "openqasm3")
    import openqasm3

    try:
        try:
            tree = openqasm3.parse(program)
        except ValueError as error:
            raise QasmError(f"a number of the program cannot be read: {error}", 1, 1) from None
        return circuit_of(tree, circuit_type)
    except openqasm3.parser.QASM3ParsingError as error:
        raise QasmError(f"this is no OpenQASM 3: {error}", 1, 1) from error
    except RecursionError:
        raise QasmError("an expression or a definition of the program is nested too deeply", 1, 1) from None


def circuit_of(tree: Any, circuit_type: type[Builder]) -> Builder:
    """The circuit of the tree of a program."""
    reader = Reader3(circuit_type.noisy)
    for statement in tree.statements:
        reader.statement(statement)
    size = max(reader.names.size, reader.names.physical)
    if not size:
        raise QasmError("the program declares no qubits: write qubit[2] q;", 1, 1)
    out = (circuit_type if reader.noisy else NoisySteps)(size, bits=reader.names.count)
    for action in reader.actions:
        action(out)
    if circuit_type.noisy:
        return out
    pure = circuit_type(size)
    pure.operations = [o for o in out.operations if o.gate.name != "measure"]
    pure.matrices, pure._chunks, pure._size = out.matrices, out._chunks, out._size
    return pure


class Reader3:
    """The statements of one program: its names, and what is to be done to a circuit, in order."""

    names: Names
    actions: list[Callable[[NoisySteps], Any]]
    noisy: bool
    measured: set[int]
    steps: int

    def __init__(self, noisy: bool):
        self.names, self.actions, self.noisy, self.measured, self.steps = Names(), [], noisy, set(), 0

    def statement(self, node: Any) -> None:
        """Read one statement."""
        handler = getattr(self, f"read_{type(node).__name__}", None)
        if handler is None:
            raise refused(node, f"{type(node).__name__} is beyond what is read of OpenQASM 3")
        handler(node)

    def read_Include(self, node: Any) -> None:
        if node.filename != "stdgates.inc":
            raise refused(node, f"only 'stdgates.inc' can be included, not {node.filename!r}: copy its definitions in")

    def read_Pragma(self, node: Any) -> None:
        if not node.command.startswith("braket result"):
            raise refused(node, f"the pragma {node.command!r} has no counterpart")

    def read_QuantumBarrier(self, node: Any) -> None:
        """It has no effect."""

    def read_QubitDeclaration(self, node: Any) -> None:
        self.names.declare(node, node.qubit.name, "qubits", node.size)

    def read_ClassicalDeclaration(self, node: Any) -> None:
        kind = type(node.type).__name__
        if kind != "BitType":
            self.names.set(node, node.identifier.name, node.init_expression)
            return
        self.names.declare(node, node.identifier.name, "bits", node.type.size)
        if type(node.init_expression).__name__ == "QuantumMeasurement":
            self.measure(node, node.init_expression.qubit, node.identifier)
        elif node.init_expression is not None and value(node.init_expression, self.names) != 0:
            raise refused(node, "classical bits begin with 0")

    def read_ConstantDeclaration(self, node: Any) -> None:
        self.names.set(node, node.identifier.name, node.init_expression)

    def read_AliasStatement(self, node: Any) -> None:
        kind = "qubits" if self.names.first(node.value) in self.names.registers["qubits"] else "bits"
        self.names.registers[kind][node.target.name] = self.names.elements(node.value, kind)

    def read_IODeclaration(self, node: Any) -> None:
        raise refused(node, f"{node.identifier.name!r} is an input or output: bind parameters to numbers before")

    def read_QuantumGateDefinition(self, node: Any) -> None:
        if any(node.name.name == getattr(getattr(inner, "name", None), "name", None) for inner in node.body):
            raise refused(node, f"the gate {node.name.name!r} is defined by itself")
        self.names.gates[node.name.name] = node
        inside = [getattr(getattr(inner, "name", None), "name", None) for inner in node.body]
        self.names.counts[node.name.name] = sum(self.names.counts.get(name, 1) for name in inside)

    def read_QuantumGate(self, node: Any) -> None:
        self.gate(node, node.qubits)

    def read_QuantumPhase(self, node: Any) -> None:
        """A global phase matters where it is controlled."""
        if node.modifiers:
            self.gate(node, node.qubits)

    def gate(self, node: Any, operands: Sequence[Any]) -> None:
        """A gate, for every element where an operand is a register."""
        places = [self.names.qubits(operand) for operand in operands]
        sizes = {len(place) for place in places} - {1}
        if len(sizes) > 1:
            raise refused(node, f"registers of different sizes {sorted(sizes)} cannot be used together")
        for i in range(sizes.pop() if sizes else 1):
            qubits = tuple(place[i if len(place) > 1 else 0] for place in places)
            if len(set(qubits)) < len(qubits):
                raise refused(node, "a qubit is repeated")
            if not self.noisy and self.measured & set(qubits):
                raise refused(node, "a gate after a measurement: qad.circuit.NoisyCircuit.from_qasm runs it")
            self.count(node, self.names.counts.get(getattr(getattr(node, "name", None), "name", None), 1))
            part = expanded(node, self.names, len(qubits))
            self.actions.append(lambda c, part=part, qubits=qubits: applied(c, part, qubits))

    def count(self, node: Any, steps: int) -> None:
        """Raise where a program unfolds to too much."""
        self.steps += steps
        if self.steps > MOST_STEPS:
            raise refused(node, f"the program unfolds to more than {MOST_STEPS} gates and turns of loops")

    def read_QuantumMeasurementStatement(self, node: Any) -> None:
        self.measure(node, node.measure.qubit, node.target)

    def measure(self, node: Any, source: Any, target: Any) -> None:
        """Qubits into bits, or into nothing."""
        qubits = self.names.qubits(source)
        bits = None if target is None else self.names.bits(target)
        if bits is not None and len(bits) != len(qubits):
            raise refused(node, f"{len(qubits)} qubits cannot be measured into {len(bits)} bits")
        self.measured |= set(qubits)
        self.actions.append(lambda c: c.measure(qubits, into=bits))

    def read_QuantumReset(self, node: Any) -> None:
        self.need_noisy(node, "a reset")
        qubits = self.names.qubits(node.qubits)
        self.actions.append(lambda c: c.reset(*qubits))

    def need_noisy(self, node: Any, what: str) -> None:
        """Raise where the circuit is to be a state vector."""
        if not self.noisy:
            raise refused(node, f"{what} within a circuit: qad.circuit.NoisyCircuit.from_qasm runs it")

    def read_ForInLoop(self, node: Any) -> None:
        """It is written out."""
        for x in self.names.values(node.set_declaration):
            self.count(node, 1)
            self.names.numbers[node.identifier.name] = x
            for statement in node.block:
                self.statement(statement)
        self.names.numbers.pop(node.identifier.name, None)

    def read_BranchingStatement(self, node: Any) -> None:
        """Both branches, each for all values of the bits of the condition for which it is taken."""
        self.need_noisy(node, "a condition")
        bits = self.names.mentioned(node.condition)
        if not bits:
            for statement in node.if_block if value(node.condition, self.names) else node.else_block:
                self.statement(statement)
            return
        if len(bits) > MOST_BITS:
            raise refused(node, f"a condition on {len(bits)} bits; at most {MOST_BITS} are tried")
        found = {True: [], False: []}
        for values in product((0, 1), repeat=len(bits)):
            outcome = value(node.condition, self.names, dict(zip(bits, values, strict=True)))
            found[bool(outcome)].append(values)
        for outcome, block in ((True, node.if_block), (False, node.else_block)):
            self.branch(node, bits, found[outcome], block)

    def branch(self, node: Any, bits: Sequence[int], cases: Sequence[Sequence[int]], block: Sequence[Any]) -> None:
        """One branch, where bits have one of some values."""
        outer, self.actions = self.actions, []
        for statement in block:
            self.statement(statement)
        inner, self.actions = self.actions, outer

        def add(c):
            for values in cases:
                try:
                    c.if_(bits, lambda block: [action(block) for action in inner], equals=values)
                except ArgumentError as error:
                    raise refused(node, str(error)) from None

        self.actions.append(add)
