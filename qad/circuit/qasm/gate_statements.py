"""Statements that call or define gates."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from qad.circuit.gates.table import GATES
from qad.circuit.qasm.calls import Call, Definition, apply
from qad.circuit.qasm.operands import Operands
from qad.circuit.qasm.other_gates import ALIASES, WITHOUT_INCLUDE
from qad.circuit.qasm.tokens import MOST_STEPS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import Any

    from qad.circuit.qasm.tokens import Token

NOISY = {
    "reset": "a reset is no unitary gate: qad.circuit.NoisyCircuit.from_qasm runs it",
    "if": "gates on conditions need measurements within the circuit: qad.circuit.NoisyCircuit.from_qasm runs them",
}
DECLARATIONS = ("include", "qreg", "creg", "qubit", "bit", "gate", "opaque", "const")
STATEMENTS = (*DECLARATIONS, "barrier", "measure", "for")
MODIFIERS = ("ctrl", "negctrl", "inv", "pow")


class GateStatements(Operands):
    """The reading of gates; `actions` are what is to be done to a circuit, in order.

    Attributes
    ----------
    noisy : bool
        Whether the circuit measures within itself.
    included : bool
        Whether the library was included.
    measured : set of int
        Qubits that were measured.
    steps : int
        Gates of the library, and turns of loops, so far.
    """

    noisy: bool
    included: bool
    steps: int

    def __init__(self, program: str, noisy: bool = False):
        super().__init__(program)
        self.measured: set[int] = set()
        self.actions: list[Callable[[Any], Any]] = []
        self.included, self.steps, self.noisy = False, 0, noisy

    def count_steps(self, token: Token, steps: int) -> None:
        """Raise where a program unfolds to too much."""
        self.steps += steps
        if self.steps > MOST_STEPS:
            raise token.error(f"the program unfolds to more than {MOST_STEPS} gates and turns of loops")

    def read_gate(self, token: Token) -> None:
        """``gate name(parameters) qubits { body }``"""
        name, params, qubits = self.signature()
        self.reader.expect("{")
        body = []
        while not self.reader.accept("}"):
            inner = self.reader.expect_kind("word", "a gate or '}'")
            if inner.text == "barrier":
                self.names()
            else:
                call, start = self.called(inner, params), self.reader.next
                operands = () if start.text == ";" else self.names()
                for operand in operands:
                    if operand not in qubits:
                        raise start.error(f"{operand!r} is no qubit of this gate; its qubits are {', '.join(qubits)}")
                body.append(call._replace(qubits=operands))
                if not call.modifiers:
                    self.check_call(call, operands)
            self.reader.expect(";")
        count = sum(self.unfolded(call.token) for call in body)
        self.defined[name] = Definition(params, qubits, tuple(body), count)

    def read_opaque(self, token: Token) -> None:
        """``opaque name(parameters) qubits;`` declares a gate without a matrix, which only its use makes an error."""
        name, _, _ = self.signature()
        self.opaque.add(name)
        self.reader.expect(";")

    def called(self, token: Token, names: Collection[str] | None) -> Call:
        """The modifiers, the name and the parameters of a gate, of which one word was read."""
        modifiers = []
        while token.text in MODIFIERS:
            arguments = self.arguments(names)
            modifiers.append((token.text, arguments[0] if arguments else None))
            self.reader.expect("@")
            token = self.reader.expect_kind("word", "a gate")
        self.find(token)
        return Call(token, tuple(modifiers), tuple(self.arguments(names)))

    def gate(self, token: Token) -> None:
        """``name(parameters) operands;``, for every element where an operand is a register."""
        call = self.called(token, None).known(self.numbers)
        operands = self.operands(self.registers)
        self.reader.expect(";")
        sizes = {len(operand) for operand in operands} - {1}
        if len(sizes) > 1:
            raise token.error(f"registers of different sizes {sorted(sizes)} cannot be used together")
        for i in range(sizes.pop() if sizes else 1):
            qubits = tuple(operand[i if len(operand) > 1 else 0] for operand in operands)
            self.check_call(call, qubits)
            reused = set() if self.noisy else self.measured.intersection(qubits)
            if reused:
                raise token.error(
                    f"a gate after the measurement of qubit {min(reused)}: a circuit measures at its end; "
                    "qad.circuit.NoisyCircuit.from_qasm runs it"
                )
            self.count_steps(token, self.unfolded(call.token))
            self.actions.append(lambda c, qubits=qubits: apply(c, call, qubits, self.defined))

    def unfolded(self, token: Token) -> int:
        """How many gates of the library a gate is."""
        return self.defined[token.text].count if token.text in self.defined else 1

    def find(self, token: Token) -> tuple[int, int]:
        """How many parameters and qubits a gate takes."""
        name = token.text
        if name in self.defined:
            return len(self.defined[name].params), len(self.defined[name].qubits)
        if name == "gphase" and self.version == 3:
            return 1, 0
        gate = GATES.get(ALIASES.get(name, name))
        if gate is None and name in self.opaque:
            raise token.error(f"{name!r} is opaque, without a matrix: define it by qad.circuit.register_gate")
        if gate is None:
            near = get_close_matches(name, [*GATES, *ALIASES, *self.defined, *STATEMENTS, *NOISY], 3, 0.5)
            hint = f": did you mean {' or '.join(map(repr, near))}?" if near else ""
            raise token.error(f"there is no gate {name!r}{hint}")
        if not self.included and self.version == 2 and name not in WITHOUT_INCLUDE:
            raise token.error(f'gate {name!r} needs include "qelib1.inc"; before the first gate')
        return gate.params, gate.qubits

    def check_call(self, call: Call, qubits: Sequence[object]) -> None:
        """Raise unless a gate fits its parameters and qubits."""
        params, wanted = self.find(call.token)
        name, wanted = call.token.text, wanted + call.controls
        if (params, wanted) != (len(call.params), len(qubits)):
            raise call.token.error(
                f"{name} takes {params} parameters and {wanted} qubits, not {len(call.params)} and {len(qubits)}"
            )
        if len(set(qubits)) < len(qubits):
            raise call.token.error(f"a qubit is repeated in the operands of {name}")
