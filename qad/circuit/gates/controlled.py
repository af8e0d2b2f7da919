"""A circuit's gates with controls before them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from qad.circuit.gates.checks import check_qubits
from qad.circuit.gates.table import GATES, find_gate
from qad.core.errors import ArgumentError
from qad.elsewhere import ours_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from qad.circuit.gates.methods import GateMethods
else:
    GateMethods = object

OTHERS = ("gate", "unitary", "operator", "exp_pauli")
NOISY = ("measure", "reset", "if_", "channel", "trajectories")  # of `qad.circuit.NoisyCircuit` alone
OURS = ours_of("Circuit")
C = TypeVar("C")  # the kind of circuit that gates are added to, and that is returned


class Controlled(Generic[C], GateMethods):
    """The methods of a circuit that add gates, each with controls; see `Builder.controlled`."""

    __slots__ = ("_circuit", "_empty", "_controls", "_zeros")

    def __init__(self, circuit: C, empty: Callable[[], Any], controls: tuple[int, ...], zeros: tuple[int, ...]):
        self._circuit, self._empty, self._controls, self._zeros = circuit, empty, controls, zeros

    def __getattr__(self, name: str) -> Callable[..., C]:
        if name not in GATES and name not in OTHERS:
            raise AttributeError(f"there is no gate {name!r}; {unknown(name)}")

        def add(*args):
            """Add what an empty circuit has got, with the controls, between X on those that are to be 0."""
            block, circuit = self._empty(), self._circuit
            getattr(block, name)(*args)
            for o in block.operations:
                check_qubits((*self._controls, *o.qubits), block.n, o.gate.name)
            block.operations = [o._replace(controls=self._controls) for o in block.operations]
            return circuit.x(self._zeros)._extend(block).x(self._zeros) if self._zeros else circuit._extend(block)

        return add


def unknown(name: str) -> str:
    """What to say about a name that is no gate."""
    if name in NOISY:
        return f"qad.circuit.NoisyCircuit(n, bits=...) has {', '.join(NOISY)}; a qad.Circuit is measured at its end"
    if name in OURS:
        return f"write {OURS[name]}"
    try:
        find_gate(name)
    except ArgumentError as error:
        return str(error)
    return ""
