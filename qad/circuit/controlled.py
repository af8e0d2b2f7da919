"""A circuit's gates with controls before them."""

from qad.circuit.gates import GATES, find_gate
from qad.core.errors import ArgumentError


class Controlled:
    """The methods of a circuit that add gates, each with controls; see `Builder.controlled`."""

    __slots__ = ("_circuit", "_controls")

    def __init__(self, circuit, controls):
        self._circuit, self._controls = circuit, controls

    def gate(self, name, *args):
        """See `Builder.gate`."""
        return self._circuit._add(find_gate(name), args, self._controls)

    def unitary(self, u, *qubits):
        """See `Builder.unitary`."""
        return self._circuit._apply_given(u, qubits, self._controls, True)

    def operator(self, matrix, *qubits):
        """See `Builder.operator`."""
        return self._circuit._apply_given(matrix, qubits, self._controls, False)

    def exp_pauli(self, theta, paulis, qubits):
        """See `Builder.exp_pauli`."""
        return self._circuit._exp_pauli(theta, paulis, qubits, self._controls)

    def __getattr__(self, name):
        gate = GATES.get(name)
        if gate is None:
            raise AttributeError(f"there is no gate {name!r}; {unknown(name)}")
        return lambda *args: self._circuit._add(gate, args, self._controls)


def unknown(name):
    """What to say about a name that is no gate."""
    try:
        find_gate(name)
    except ArgumentError as error:
        return str(error)
    return ""
