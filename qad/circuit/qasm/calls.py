"""Gates as they are called: modifiers, definitions, and the gates of the library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qad.circuit.program.builder import Builder
from qad.circuit.qasm.other_gates import ALIASES
from qad.circuit.qasm.tokens import MOST_STEPS, Token
from qad.core.errors import QasmError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from qad.circuit.qasm.expressions import Values

# OpenQASM 3 defines these with other phases than `qad.circuit` does, which matters where they are controlled
PHASES: dict[str, Callable[..., float]] = {
    "U": lambda theta, phi, lam: theta / 2,
    "u2": lambda phi, lam: -(phi + lam) / 2,
    "u3": lambda theta, phi, lam: -(phi + lam) / 2,
}


class Call(NamedTuple):
    """A gate, with expressions for its parameters, or, once these are known, numbers.

    `modifiers` are pairs of "ctrl", "negctrl", "inv" or "pow" and an expression, or None, the outermost first; `qubits`
    are names within definitions, and registers outside.
    """

    token: Token
    modifiers: tuple[tuple[str, Any], ...]
    params: tuple[Any, ...]
    qubits: tuple[Any, ...] = ()

    def known(self, values: Values) -> Call:
        """The call with numbers in the place of expressions."""
        modifiers = tuple((kind, 1 if x is None else x(values)) for kind, x in self.modifiers)
        return self._replace(modifiers=modifiers, params=tuple(float(x(values)) for x in self.params))

    @property
    def controls(self) -> int:
        """How many controls its modifiers make."""
        counts = [number for kind, number in self.modifiers if "ctrl" in kind]
        for number in counts:
            if number < 1 or number != int(number):
                raise self.token.error(f"the number of controls is a whole number, one at least, not {number}")
        return int(sum(counts))


class Definition(NamedTuple):
    """A gate that the program defines: names of its parameters and qubits, and the calls in its body."""

    params: tuple[str, ...]
    qubits: tuple[str, ...]
    body: tuple[Call, ...]
    count: int  # gates of the library that it unfolds to


def apply(
    circuit: Builder, call: Call, qubits: Sequence[int], defined: Mapping[str, Definition], exact: bool = False
) -> None:
    """Add a gate to a circuit, a defined one by its body; `exact` with its phase, for it will be controlled."""
    name = call.token.text
    if call.modifiers:
        place(circuit, modified(call, len(qubits), defined), qubits or (0,))
    elif name == "gphase":
        if exact:
            turn(circuit, call.params[0])
    elif name in defined:
        values = dict(zip(defined[name].params, call.params, strict=True))
        bound = dict(zip(defined[name].qubits, qubits, strict=True))
        for inner in defined[name].body:
            apply(circuit, inner.known(values), [bound[q] for q in inner.qubits], defined, exact)
    else:
        circuit.gate(ALIASES.get(name, name), *call.params, *qubits)
        if exact and name in PHASES:
            turn(circuit, PHASES[name](*call.params))


def empty(n: int) -> Builder:
    """A circuit to which gates are added."""
    return Builder(n, complex, "auto")


def turn(circuit: Builder, angle: float) -> None:
    """Multiply by a phase."""
    circuit.unitary(np.exp(1j * angle) * np.eye(2), 0)


def modified(call: Call, size: int, defined: Mapping[str, Definition]) -> Builder:
    """The circuit, on `size` qubits of its own, of a gate with its modifiers."""
    modifiers, controls = list(reversed(call.modifiers)), call.controls
    part = empty(max(1, size - controls))
    if call.token.text == "gphase" and controls:  # a phase where the first control is met
        first = next(i for i, (kind, _) in enumerate(modifiers) if "ctrl" in kind)
        kind, number = modifiers[first]
        modifiers[first] = kind, number - 1
        turned = np.exp(1j * call.params[0])
        part.unitary(np.diag([turned, 1.0] if kind == "negctrl" else [1.0, turned]), 0)
    else:
        apply(part, call._replace(modifiers=()), range(part.n), defined, True)
    for kind, number in modifiers:
        if kind == "inv":
            part = part.inverse()
        elif kind == "pow":
            part = repeated(call.token, part, number)
        elif number:
            part = controlled(part, int(number), kind == "negctrl")
    return part


def repeated(token: Token, part: Builder, times: float) -> Builder:
    """A circuit some times one after the other, or that many times backwards."""
    if times != int(times):
        raise token.error(f"a power of a gate is a whole number here, not {times}")
    if abs(times) * max(1, len(part)) > MOST_STEPS:
        raise token.error(f"a power of more than {MOST_STEPS} gates is not written out")
    base, out = part if times >= 0 else part.inverse(), empty(part.n)
    for _ in range(abs(int(times))):
        out._extend(base)
    return out


def controlled(part: Builder, number: int, on_zero: bool) -> Builder:
    """A circuit with controls before its qubits."""
    out, controls = empty(part.n + number), tuple(range(number))
    if on_zero:
        out.x(controls)
    place(out, part, range(number, out.n), controls)
    return out.x(controls) if on_zero else out


def place(out: Builder, part: Builder, qubits: Sequence[int], controls: tuple[int, ...] = ()) -> None:
    """Add a small circuit on these qubits."""
    if len(out) + len(part) > MOST_STEPS:
        raise QasmError(f"the program unfolds to more than {MOST_STEPS} gates", 1, 1)
    moved = part.copy()
    moved.n = out.n
    moved.operations = [
        o._replace(qubits=tuple(qubits[q] for q in o.qubits), controls=(*controls, *(qubits[q] for q in o.controls)))
        for o in part.operations
    ]
    out._extend(moved)
