"""Gates of ``qelib1.inc`` that the table of gates lacks, and what others are written as."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.circuit.gates.table import GATES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from qad.circuit.program.builder import Builder

# name -> how many parameters and qubits, and how a circuit applies it
EXTRA: dict[str, tuple[int, int, Callable[[Builder, Sequence[float], Sequence[int]], Any]]] = {
    "U": (3, 1, lambda c, p, q: c.u3(*p, *q)),
    "CX": (0, 2, lambda c, p, q: c.cx(*q)),
    "u0": (1, 1, lambda c, p, q: c.id(*q)),
}
WITHOUT_INCLUDE = ("U", "CX")
QELIB = {
    "id", "x", "y", "z", "h", "s", "sdg", "t", "tdg", "sx", "sxdg", "rx", "ry", "rz", "p", "u", "u1", "u2", "u3", "cx",
    "cy", "cz", "ch", "csx", "swap", "crx", "cry", "crz", "cp", "cu1", "cu3", "cu", "rxx", "rzz", "ccx", "cswap",
    "rccx", "rc3x", "c3x", "c3sqrtx", "c4x",
}  # fmt: skip

# gates of the table that qelib1.inc lacks, as definitions in OpenQASM; exact up to a global phase
DEFINITIONS = {
    "iswap": "gate iswap a,b { s a; s b; h a; cx a,b; cx b,a; h b; }",
    "iswapdg": "gate iswapdg a,b { h b; cx b,a; cx a,b; h a; sdg b; sdg a; }",
    "ryy": "gate ryy(t) a,b { rx(pi/2) a; rx(pi/2) b; cx a,b; rz(t) b; cx a,b; rx(-pi/2) a; rx(-pi/2) b; }",
    "c3sqrtxdg": "gate c3sqrtxdg a,b,c,d { c3x a,b,c,d; c3sqrtx a,b,c,d; }",
    "rc3xdg": "gate rc3xdg a,b,c,d { rc3x a,b,c,d; rc3x a,b,c,d; rc3x a,b,c,d; }",
    "ccz": "gate ccz a,b,c { h c; ccx a,b,c; h c; }",
}


def signature(name: str) -> tuple[int, int] | None:
    """How many parameters and qubits a gate takes, or None where there is none of this name."""
    if name in EXTRA:
        return EXTRA[name][:2]
    gate = GATES.get(name)
    return None if gate is None else (gate.params, gate.qubits)


def apply(circuit: Builder, name: str, params: Sequence[float], qubits: Sequence[int]) -> None:
    """Add a gate of the library to a circuit."""
    if name in EXTRA:
        EXTRA[name][2](circuit, params, qubits)
    else:
        circuit.gate(name, *params, *qubits)
