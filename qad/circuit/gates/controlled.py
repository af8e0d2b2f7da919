"""A circuit's gates with controls before them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from qad.circuit.gates.table import GATES, find_gate
from qad.core.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from qad.circuit.gates.methods import GateMethods
    from qad.typing import ArrayLike, RealNumber
else:
    GateMethods = object

NOISY = ("measure", "reset", "if_", "channel", "trajectories")  # of `qad.circuit.NoisyCircuit` alone
C = TypeVar("C")  # the kind of circuit that gates are added to, and that is returned


class Controlled(Generic[C], GateMethods):
    """The methods of a circuit that add gates, each with controls; see `Builder.controlled`."""

    __slots__ = ("_circuit", "_controls", "_zeros")

    def __init__(self, circuit: C, controls: tuple[int, ...], zeros: tuple[int, ...] = ()):
        self._circuit, self._controls, self._zeros = circuit, controls, zeros

    def _between(self, add: Callable[..., Any], *args: Any) -> C:
        """Add a gate with the controls, between X on those that are to be 0; nothing, where it is refused."""
        count = len(self._circuit.operations)
        add(*args)
        if self._zeros:
            added = self._circuit.operations[count:]
            del self._circuit.operations[count:]
            self._circuit.x(self._zeros)
            self._circuit.operations += added
            self._circuit.x(self._zeros)
        return self._circuit

    def gate(self, name: str, *args: Any) -> C:
        """See `Builder.gate`."""
        return self._between(self._circuit._add, find_gate(name), args, self._controls)

    def unitary(self, u: ArrayLike, *qubits: int) -> C:
        """See `Builder.unitary`."""
        return self._between(self._given, u, qubits, True)

    def operator(self, matrix: ArrayLike, *qubits: int) -> C:
        """See `Builder.operator`."""
        return self._between(self._given, matrix, qubits, False)

    def exp_pauli(self, theta: RealNumber, paulis: str, qubits: Sequence[int]) -> C:
        """See `Builder.exp_pauli`."""
        return self._between(self._circuit._exp_pauli, theta, paulis, qubits, self._controls)

    def _given(self, u, qubits, unitary):
        self._circuit._apply_given(u, qubits, self._controls, unitary)

    def __getattr__(self, name: str) -> Callable[..., C]:
        gate = GATES.get(name)
        if gate is None:
            raise AttributeError(f"there is no gate {name!r}; {unknown(name)}")
        return lambda *args: self._between(self._circuit._add, gate, args, self._controls)


def unknown(name: str) -> str:
    """What to say about a name that is no gate."""
    if name in NOISY:
        return f"qad.circuit.NoisyCircuit(n, bits=...) has {', '.join(NOISY)}; a qad.Circuit is measured at its end"
    try:
        find_gate(name)
    except ArgumentError as error:
        return str(error)
    return ""
