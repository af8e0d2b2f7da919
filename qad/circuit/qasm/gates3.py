"""Gates of OpenQASM 3: names of its library and of Braket, definitions, and modifiers."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import schur

from qad.circuit.engines import reference
from qad.circuit.gates.table import GATES
from qad.circuit.noise.steps import NoisySteps
from qad.circuit.program.analysis import program_of
from qad.circuit.qasm.tokens import MOST_STEPS
from qad.circuit.qasm.values3 import Names, refused, value
from qad.core.errors import QasmError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.circuit.program.builder import Builder

OTHER = {  # names of Braket, and of the library
    "CX": "cx", "i": "id", "si": "sdg", "ti": "tdg", "v": "sx", "vi": "sxdg", "ccnot": "ccx", "phaseshift": "p",
    "cphaseshift": "cp", "cv": "csx", "xx": "rxx", "yy": "ryy", "zz": "rzz",
}  # fmt: skip


def expanded(node: Any, names: Names, qubits: int) -> NoisySteps:
    """The circuit, on its own qubits, of a gate with its modifiers."""
    modifiers = [(m.modifier.name, m.argument) for m in reversed(node.modifiers)]  # the innermost first
    held = sum(count(node, argument, names) for kind, argument in modifiers if "ctrl" in kind)
    is_phase = type(node).__name__ == "QuantumPhase"
    if held > qubits - (not is_phase) or (is_phase and 0 < qubits != held):
        raise refused(node, f"{held} controls do not fit {qubits} qubits")
    if is_phase:
        part, modifiers = phase_of(node, modifiers, names)
    else:
        part = plain(node, names, qubits - held)
    for kind, argument in modifiers:
        if kind == "inv":
            part = part.inverse()
        elif kind == "pow":
            part = power(node, part, value(argument, names))
        elif number := count(node, argument, names):
            part = controlled(part, number, kind == "negctrl")
    return part


def phase_of(node: Any, modifiers: list[Any], names: Names) -> tuple[NoisySteps, list[Any]]:
    """The circuit of a phase with the first of its controls, and the modifiers that remain."""
    angle = value(node.argument, names)
    for i, (kind, argument) in enumerate(modifiers):
        if "ctrl" in kind:
            turned = np.exp(1j * angle)
            part = NoisySteps(1).unitary(np.diag([turned, 1.0] if kind == "negctrl" else [1.0, turned]), 0)
            more = count(node, argument, names) - 1
            part = controlled(part, more, kind == "negctrl") if more else part
            return part, modifiers[i + 1 :]
        angle = -angle if kind == "inv" else angle * value(argument, names)
    return phase(NoisySteps(1), angle), []


def count(node: Any, argument: Any, names: Names) -> int:
    """How many controls a modifier makes."""
    found = 1 if argument is None else value(argument, names)
    if not isinstance(found, int) or found < 1:
        raise refused(node, f"the number of controls is a whole number, one at least, not {found}")
    return found


def plain(node: Any, names: Names, qubits: int) -> NoisySteps:
    """The circuit of a gate without its modifiers."""
    name, angles = node.name.name, [float(value(a, names)) for a in node.arguments]
    out = NoisySteps(qubits)
    if name in names.gates:
        return defined(node, names.gates[name], angles, names, out)
    if name == "U":
        check(node, name, (3, 1), (len(angles), qubits))
        return phase(out.u3(*angles, 0), angles[0] / 2)
    if name == "cu":
        check(node, name, (4, 2), (len(angles), qubits))
        return out.cu(*angles, 0, 1)
    gate = GATES.get(OTHER.get(name, name))
    if gate is None:
        near = get_close_matches(name, [*GATES, *OTHER, *names.gates], 3, 0.5)
        raise refused(node, f"there is no gate {name!r}{': did you mean ' + ' or '.join(near) + '?' if near else ''}")
    check(node, name, (gate.params, gate.qubits), (len(angles), qubits))
    out.gate(gate.name, *angles, *range(qubits))
    return phase(out, -(angles[-2] + angles[-1]) / 2) if name in ("u2", "u3") else out  # its library's are in SU(2)


def check(node: Any, name: str, wanted: tuple[int, int], got: tuple[int, int]) -> None:
    """Raise unless a gate fits its parameters and qubits."""
    if wanted != got:
        raise refused(node, f"{name} takes {wanted[0]} parameters and {wanted[1]} qubits, not {got[0]} and {got[1]}")


def phase(circuit: NoisySteps, angle: float) -> NoisySteps:
    """A circuit times a phase, which has an effect where it is controlled."""
    return circuit.unitary(np.exp(1j * angle) * np.eye(2), 0)


def defined(node: Any, definition: Any, angles: list[float], names: Names, out: NoisySteps) -> NoisySteps:
    """The circuit of a gate that the program defines."""
    check(node, definition.name.name, (len(definition.arguments), len(definition.qubits)), (len(angles), out.n))
    own = Names()
    own.gates = names.gates
    own.numbers = dict(zip((a.name for a in definition.arguments), angles, strict=True))
    places = {q.name: i for i, q in enumerate(definition.qubits)}
    for inner in definition.body:
        kind = type(inner).__name__
        if kind not in ("QuantumGate", "QuantumPhase"):
            raise refused(inner, f"{kind} is beyond what is read within a gate")
        unknown = [q.name for q in inner.qubits if q.name not in places]
        if unknown:
            raise refused(inner, f"{unknown[0]!r} is no qubit of this gate; its qubits are {', '.join(places)}")
        at = tuple(places[q.name] for q in inner.qubits)
        applied(out, expanded(inner, own, len(at)), at or (0,))
    return out


def power(node: Any, part: NoisySteps, exponent: float) -> NoisySteps:
    """A circuit some times one after the other, or that many times backwards; other powers by its matrix."""
    if exponent == int(exponent):
        if abs(exponent) * max(1, len(part)) > MOST_STEPS:
            raise refused(node, f"a power of more than {MOST_STEPS} gates is not written out")
        base, out = part if exponent >= 0 else part.inverse(), NoisySteps(part.n)
        for _ in range(abs(int(exponent))):
            out._extend(base)
        return out
    program = program_of(part.n, part._size, tuple(part.operations))
    columns = np.eye(2**part.n, dtype=complex)[None]
    u = reference.forward(program, *program.entries(part.parameters, part.matrices), columns)[0].T
    triangle, vectors = schur(u, output="complex")  # diagonal, for u is unitary
    turned = np.exp(1j * exponent * np.angle(np.diag(triangle)))
    return NoisySteps(part.n).unitary((vectors * turned) @ vectors.conj().T, *range(part.n))


def controlled(part: NoisySteps, number: int, on_zero: bool) -> NoisySteps:
    """A circuit with controls before its qubits."""
    out = NoisySteps(part.n + number)
    controls = tuple(range(number))
    if on_zero:
        out.x(controls)
    applied(out, part, tuple(range(number, out.n)), controls)
    return out.x(controls) if on_zero else out


def applied(out: Builder, part: NoisySteps, qubits: Sequence[int], controls: tuple[int, ...] = ()) -> Builder:
    """Add a small circuit on these qubits."""
    if len(out) + len(part) > MOST_STEPS:
        raise QasmError(f"the program unfolds to more than {MOST_STEPS} gates", 1, 1)
    moved = part.copy()
    moved.n = out.n
    moved.operations = [
        o._replace(qubits=tuple(qubits[q] for q in o.qubits), controls=(*controls, *(qubits[q] for q in o.controls)))
        for o in part.operations
    ]
    return out._extend(moved)
