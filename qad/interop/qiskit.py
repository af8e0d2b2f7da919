"""Circuits, states and observables from Qiskit and to it.

Gates act on qubits of the same number in both.  But Qiskit counts qubit 0 as the least significant bit of an index, and
the rightmost letter of a Pauli string, qad as the most significant and the leftmost: states, matrices and strings are
reversed here, and nowhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.installed import require

require("qad.interop.qiskit", "qiskit")

from qiskit import QuantumCircuit
from qiskit.circuit import Gate, Parameter, ParameterExpression, ParameterVector, library
from qiskit.quantum_info import Operator, SparsePauliOp

from qad.circuit import Circuit, PauliSum
from qad.circuit.gates.table import GATES, pauli_matrix
from qad.core.errors import ArgumentError
from qad.extend import defvjp, primitive, value_of
from qad.interop.arguments import unitary_gates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from qad.circuit.program.ir import Operation
    from qad.typing import Array, ArrayLike, Value

__all__ = ["from_qiskit", "observable_from_qiskit", "observable_to_qiskit", "reversed_qubits", "to_qiskit"]

FROM = {"u": "u3", "rcccx": "rc3x", "c3sx": "c3sqrtx"}  # names that differ; all others are those of OpenQASM
TO = {"u3": "u", "u1": "p", "cu1": "cp", "cnot": "cx", "phase": "p", "cphase": "cp", "rc3x": "rcccx"}
KNOWN = {
    "id", "x", "y", "z", "h", "s", "sdg", "t", "tdg", "sx", "sxdg", "rx", "ry", "rz", "p", "u", "cx", "cy", "cz", "ch",
    "csx", "swap", "iswap", "crx", "cry", "crz", "cp", "cu", "rxx", "ryy", "rzz", "ccx", "ccz", "cswap", "rccx",
    "rcccx",
}  # fmt: skip


def reversed_qubits(array: ArrayLike, n: int) -> Array:
    """A state (2**n,) or matrix (2**n, 2**n) with the order of its qubits reversed: from Qiskit's to qad's, or back.

    Parameters
    ----------
    array : array
        Every axis of 2**n entries is an index over n qubits.
    n : int

    Examples
    --------
    >>> import numpy as np
    >>> from qad.interop.qiskit import reversed_qubits
    >>> reversed_qubits(np.array([0, 1, 0, 0]), 2)
    array([0, 0, 1, 0])
    """
    axes = np.ndim(array)
    split = array.reshape((2,) * (n * axes))
    order = [axis * n + q for axis in range(axes) for q in reversed(range(n))]
    return split.transpose(order).reshape((2**n,) * axes)


def from_qiskit(circuit: QuantumCircuit, values: Mapping[Any, Any] | ArrayLike | None = None) -> Circuit:
    """A Qiskit circuit as a `qad.Circuit`; qubits keep their numbers.

    Parameters
    ----------
    circuit : qiskit.QuantumCircuit
        Gates that qad does not know are taken by their definitions, or by their matrices.  Barriers, and measurements
        at the end, are passed over.
    values : dict or sequence, optional
        Of the circuit's parameters, numbers or Tensors: by Parameter or by name, an array by ParameterVector, or all in
        the order of ``circuit.parameters``.  The angles of gates are expressions of them, which are differentiated.

    Returns
    -------
    Circuit
        Exact but for the global phase of the circuit.

    Raises
    ------
    ArgumentError
        For parameters that are not bound, values of none, resets, conditions and gates after a measurement.

    Examples
    --------
    >>> from qiskit import QuantumCircuit
    >>> from qad.interop.qiskit import from_qiskit
    >>> given = QuantumCircuit(2)
    >>> _ = given.x(1)
    >>> from_qiskit(given).probabilities()[0, 1]
    np.float64(1.0)

    A gradient by a parameter, of <Z> = cos 2t:

    >>> import qad
    >>> from qiskit.circuit import Parameter
    >>> t, given = Parameter("t"), QuantumCircuit(1)
    >>> _ = given.rx(2 * t, 0)
    >>> z = qad.PauliSum({"Z": 1.0})
    >>> round(float(qad.grad(lambda x: from_qiskit(given, {t: x}).expectation(z))(np.pi / 4)), 12)
    -2.0
    """
    out = Circuit(circuit.num_qubits)
    add_all(out, circuit, range(circuit.num_qubits), bound(circuit, {} if values is None else values))
    return out


def bound(circuit: QuantumCircuit, values: Mapping[Any, Any] | ArrayLike) -> dict[Any, Any]:
    """The values of a circuit's parameters, by Parameter."""
    parameters = list(circuit.parameters)
    if not hasattr(values, "items"):
        if len(values) != len(parameters):
            raise ArgumentError(f"from_qiskit: {len(values)} values for the parameters {[p.name for p in parameters]}")
        return {p: values[i] for i, p in enumerate(parameters)}
    found = {}
    for key, value in values.items():
        if isinstance(key, ParameterVector):
            own = {p: value[i] for i, p in enumerate(key)}
        else:
            own = {p: value for p in parameters if key in (p, p.name)}
        if not own.keys() & set(parameters):
            raise ArgumentError(f"from_qiskit: no parameter {key!s} among {[p.name for p in parameters]}")
        found |= own
    return found


@primitive(name="angle of Qiskit")
def angle(*values: Any, expression: ParameterExpression, parameters: tuple[Any, ...]) -> Any:
    """The value of an expression of Qiskit's."""
    numbers = {p: float(v) for p, v in zip(parameters, values, strict=True)}
    return np.float64(expression.bind(numbers).numeric())


def _slopes(needed, g, ans, *values, expression, parameters):
    """Qiskit's derivatives, which are expressions again."""
    return [g * _value(expression.gradient(parameters[i]), values, parameters) for i in needed]


def _value(expression, values, parameters):
    own = [i for i, p in enumerate(parameters) if p in getattr(expression, "parameters", ())]
    if not own:
        return float(expression.numeric() if isinstance(expression, ParameterExpression) else expression)
    if isinstance(expression, Parameter):
        return values[own[0]]
    return angle(*(values[i] for i in own), expression=expression, parameters=tuple(parameters[i] for i in own))


defvjp(angle, shared=_slopes)


def add_all(out: Circuit, circuit: QuantumCircuit, places: Sequence[int], values: dict[Any, Any]) -> None:
    """Add the gates of a Qiskit circuit, whose qubits are at `places`."""
    measured = set()
    for instruction in circuit.data:
        gate = instruction.operation
        qubits = [places[circuit.find_bit(q).index] for q in instruction.qubits]
        if gate.name == "measure":
            measured |= set(qubits)
        if gate.name in ("barrier", "measure"):
            continue
        if measured & set(qubits):
            raise ArgumentError(f"{gate.name} acts on a measured qubit: a circuit of qad measures at its end alone")
        add(out, gate, qubits, values)


def add(out: Circuit, gate: Any, qubits: list[int], values: dict[Any, Any]) -> None:
    """Add one gate of Qiskit."""
    expressions = [p for p in gate.params if isinstance(p, ParameterExpression) and p.parameters]
    if missing := {p.name for e in expressions for p in e.parameters if p not in values}:
        raise ArgumentError(
            f"the angles {gate.params} of {gate.name} are not numbers: give values for {sorted(missing)}, or bind them "
            "by assign_parameters"
        )
    if not qubits and isinstance(gate, Gate):
        return  # a global phase
    name = FROM.get(gate.name, gate.name)
    known = GATES.get(name)
    standard = gate.name in KNOWN or gate.name in ("u1", "u2", "u3", "cu1", "cu3")
    controls = 2 ** getattr(gate, "num_ctrl_qubits", 0) - 1  # all 1, as qad's gates have them
    if standard and known.qubits == len(qubits) and getattr(gate, "ctrl_state", None) in (None, controls):
        out.gate(name, *(_value(p, list(values.values()), list(values)) for p in gate.params), *qubits)
    elif not isinstance(gate, Gate):
        raise ArgumentError(f"{gate.name} of Qiskit is no unitary gate: a circuit of qad has none of its kind")
    elif (expressions or len(qubits) > 4) and gate.definition is not None:
        add_all(out, gate.definition, qubits, values)
    else:
        out.unitary(Operator(gate).data, *reversed(qubits))


def to_qiskit(circuit: Circuit) -> QuantumCircuit:
    """A `qad.Circuit` as a Qiskit circuit; qubits keep their numbers.

    Parameters
    ----------
    circuit : Circuit
        Recorded angles are written as the numbers that they are.

    Returns
    -------
    qiskit.QuantumCircuit

    Raises
    ------
    ArgumentError
        For operators that are not unitary, initial states, batches and noisy circuits.

    Examples
    --------
    >>> import qad
    >>> from qad.interop.qiskit import to_qiskit
    >>> to_qiskit(qad.Circuit(2).h(0).cx(0, 1)).count_ops()["cx"]
    1
    """
    operations, theta = unitary_gates(circuit, "to_qiskit"), value_of(circuit.parameters)
    if theta.ndim > 1 or any(u.ndim > 2 for u in circuit.matrices):
        raise ArgumentError("a Qiskit circuit has no batches: convert one circuit for each set of parameters")
    out = QuantumCircuit(circuit.n)
    for operation in operations:
        gate, reverse = gate_of(operation, theta, circuit.matrices)
        gate = gate.inverse() if operation.adjoint else gate
        qubits = operation.qubits[::-1] if reverse else operation.qubits
        gate = gate.control(len(operation.controls), annotated=False) if operation.controls else gate
        out.append(gate, [*operation.controls, *qubits])
    return out


def gate_of(operation: Operation, theta: Value, matrices: Sequence[Value]) -> tuple[Any, bool]:
    """The gate of Qiskit, and whether its qubits stand in reversed order."""
    angles = [float(theta[slot]) for slot in operation.slots]
    name = TO.get(operation.gate.name, operation.gate.name)
    if operation.given is not None:
        return library.UnitaryGate(value_of(matrices[operation.given])), True
    if name in KNOWN and GATES.get(operation.gate.name) is operation.gate:
        part = QuantumCircuit(operation.gate.qubits)
        getattr(part, name)(*angles, *range(operation.gate.qubits))
        return part.data[0].operation, False
    if operation.gate.letters:
        half, u = angles[0] / 2, pauli_matrix(operation.gate.letters)
        return library.UnitaryGate(np.cos(half) * np.eye(len(u)) - 1j * np.sin(half) * u), True
    return library.UnitaryGate(np.asarray(operation.gate.matrix(*map(np.asarray, angles)))), True


def observable_from_qiskit(operator: SparsePauliOp) -> PauliSum:
    """A SparsePauliOp as a `qad.PauliSum`: letters are reversed.

    Parameters
    ----------
    operator : qiskit.quantum_info.SparsePauliOp

    Examples
    --------
    >>> from qiskit.quantum_info import SparsePauliOp
    >>> from qad.interop.qiskit import observable_from_qiskit
    >>> observable_from_qiskit(SparsePauliOp(["XZI"], [0.5]))
    0.5 IZX
    """
    coefficients = np.asarray(operator.coeffs, complex)
    coefficients = coefficients if coefficients.imag.any() else coefficients.real
    return PauliSum(zip((label[::-1] for label in operator.paulis.to_labels()), coefficients, strict=True))


def observable_to_qiskit(observable: PauliSum) -> SparsePauliOp:
    """A `qad.PauliSum` as a SparsePauliOp: letters are reversed.

    Parameters
    ----------
    observable : PauliSum

    Examples
    --------
    >>> import qad
    >>> from qad.interop.qiskit import observable_to_qiskit
    >>> observable_to_qiskit(qad.PauliSum({"XZI": 0.5})).paulis.to_labels()
    ['IZX']
    """
    return SparsePauliOp([string[::-1] for string in observable.strings], value_of(observable.coefficients))
