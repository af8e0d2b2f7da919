"""Circuits and observables from PennyLane and to it.

Both count qubit 0 as the most significant bit of an index.  PennyLane's wires may have any names:
`from_pennylane` takes their order, `to_pennylane` numbers them.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING

import numpy as np

from qad.installed import require

require("qad.interop.pennylane", "pennylane")

import pennylane as qml

from qad.circuit import Circuit, PauliSum
from qad.circuit.gates.table import GATES
from qad.core.errors import ArgumentError
from qad.extend import Tensor, value_of
from qad.interop.arguments import unitary_gates

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from qad.circuit.program.ir import Operation
    from qad.typing import Value

__all__ = ["from_pennylane", "from_qnode", "observable_from_pennylane", "observable_to_pennylane", "to_pennylane"]

NAMES = {
    "PauliX": "x", "PauliY": "y", "PauliZ": "z", "Hadamard": "h", "S": "s", "T": "t", "SX": "sx",
    "RX": "rx", "RY": "ry", "RZ": "rz", "PhaseShift": "p", "U1": "u1", "U2": "u2", "U3": "u3", "CNOT": "cx", "CY": "cy",
    "CZ": "cz", "CH": "ch", "SWAP": "swap", "ISWAP": "iswap", "CRX": "crx", "CRY": "cry", "CRZ": "crz",
    "ControlledPhaseShift": "cp", "IsingXX": "rxx", "IsingYY": "ryy", "IsingZZ": "rzz", "Toffoli": "ccx", "CCZ": "ccz",
    "CSWAP": "cswap",
}  # fmt: skip
TYPES = {name: getattr(qml, kind) for kind, name in NAMES.items()}
TYPES |= {"id": qml.Identity, "cnot": qml.CNOT, "u": qml.U3, "cu1": qml.ControlledPhaseShift}
DAGGERS = {"sdg": "s", "tdg": "t", "sxdg": "sx"}


def from_pennylane(operations: Any, wires: Sequence[Any] | None = None) -> Circuit:
    """Operations of PennyLane as a `qad.Circuit`.

    Parameters
    ----------
    operations : list of pennylane operations, or a tape
        What a QNode applies: ``qml.tape.make_qscript(f)(*args)`` records it.  Angles that are Tensors stay recorded.
    wires : sequence, optional
        Names of all wires in the order of qubits; by default in the order of numbers, or else of appearance.

    Returns
    -------
    Circuit

    Raises
    ------
    ArgumentError
        For what is no unitary gate, and for wires that are not named in `wires`.

    Examples
    --------
    >>> import pennylane as qml
    >>> from qad.interop.pennylane import from_pennylane
    >>> from_pennylane([qml.PauliX("b"), qml.CNOT(["b", "a"])], wires=["a", "b"]).probabilities()[1, 1]
    np.float64(1.0)
    """
    operations = list(getattr(operations, "operations", operations))
    names = list(dict.fromkeys(wire for operation in operations for wire in operation.wires))
    wires = in_order(names) if wires is None else wires
    places = {wire: q for q, wire in enumerate(wires)}
    if missing := [name for name in names if name not in places]:
        raise ArgumentError(f"wires {missing} of the operations are not among wires={list(wires)}")
    circuit = Circuit(len(places))
    for operation in operations:
        add(circuit, operation, [places[wire] for wire in operation.wires])
    return circuit


def in_order(names: Sequence[Any]) -> Sequence[Any]:
    """Names of wires as qubits: in the order of numbers, or else of appearance."""
    return sorted(names) if all(isinstance(name, int) for name in names) else names


def from_qnode(qnode: Any, wires: Sequence[Any] | None = None) -> Callable[..., Any]:
    """The function of a QNode, computed and differentiated by qad.

    A QNode itself asks what kind of array a Tensor is, and PennyLane 0.45 raises "unknown object".

    Parameters
    ----------
    qnode : pennylane.QNode
        Of gates, as `from_pennylane` takes them.  It is run at each call, on nothing but its function.
    wires : sequence, optional
        Names of all wires in the order of qubits; by default the device's, or else as in `from_pennylane`.

    Returns
    -------
    callable
        Of the same arguments: the expectation values, variances, probabilities and states that the QNode returns.

    Raises
    ------
    ArgumentError
        In a call: another measurement, shots, a transform of the QNode; an observable that is no sum of Pauli words.

    Examples
    --------
    >>> import numpy as np, pennylane as qml, qad
    >>> from qad.interop.pennylane import from_qnode
    >>> @qml.qnode(qml.device("default.qubit", wires=1))
    ... def energy(t):
    ...     qml.RX(t, 0)
    ...     return qml.expval(qml.Z(0))
    >>> np.round(qad.grad(from_qnode(energy))(0.5) + np.sin(0.5), 12)
    np.float64(0.0)
    """

    @wraps(qnode.func)
    def call(*args, **kwargs):
        with qml.queuing.AnnotatedQueue() as queue:
            returned = qnode.func(*args, **kwargs)
        tape = qml.tape.QuantumScript.from_queue(queue)
        transforms = qnode.compile_pipeline if hasattr(qnode, "compile_pipeline") else qnode.transform_program
        if qnode.shots.total_shots is not None or len(transforms):
            raise ArgumentError("from_qnode: qad computes exactly, without shots and the transforms of a QNode")
        names = list(wires if wires is not None else qnode.device.wires or in_order(tape.wires))
        circuit = from_pennylane(tape, names)
        found = [measured(circuit, measurement, names) for measurement in tape.measurements]
        return type(returned)(found) if isinstance(returned, list | tuple) else found[0]

    return call


def measured(circuit: Circuit, measurement: Any, wires: Sequence[Any]) -> Any:
    """What PennyLane's `measurement` gives of the state of a circuit."""
    kind = type(measurement).__name__
    if kind == "StateMP":
        return circuit.state().reshape(-1)
    if kind == "ProbabilityMP" and measurement.obs is None:
        return circuit.probabilities([wires.index(wire) for wire in measurement.wires or wires]).reshape(-1)
    if kind in ("ExpectationMP", "VarianceMP") and measurement.obs is not None:
        observable = observable_from_pennylane(measurement.obs, wires=wires)
        return circuit.expectation(observable) if kind == "ExpectationMP" else circuit.variance(observable)
    raise ArgumentError(f"from_qnode: {measurement} is no expectation value, variance, probability or state")


def real(parameter: Any) -> Any:
    """An angle, as an array; a Tensor as it is."""
    return parameter if type(parameter) is Tensor else np.asarray(parameter, float)


def add(circuit: Circuit, operation: Any, qubits: list[int]) -> None:
    """Add one operation."""
    if operation.name in ("Barrier", "Snapshot", "Identity"):
        return
    if operation.name == "GlobalPhase":  # the same on any qubits, and on none
        phase = np.exp(-1j * real(operation.parameters[0]))
        circuit.unitary(phase[..., None, None] * np.eye(2), qubits[0] if qubits else 0)
        return
    name = NAMES.get(operation.name)
    recorded = any(type(p) is Tensor for p in operation.parameters)
    if name is not None:
        circuit.gate(name, *map(real, operation.parameters), *qubits)
    elif operation.name == "PauliRot":
        circuit.exp_pauli(real(operation.parameters[0])[()], operation.hyperparameters["pauli_word"], qubits)
    elif operation.has_matrix and len(qubits) <= 4 and not (recorded and operation.has_decomposition):
        circuit.unitary(np.asarray(qml.matrix(operation)), *qubits)
    elif operation.has_decomposition:
        places = dict(zip(operation.wires, qubits, strict=True))
        for part in operation.decomposition():
            add(circuit, part, [places[wire] for wire in part.wires])
    else:
        raise ArgumentError(f"{operation.name} of PennyLane is no unitary gate: a circuit of qad has none of its kind")


def to_pennylane(circuit: Circuit) -> list[Any]:
    """A `qad.Circuit` as a list of PennyLane operations, for use within a QNode.

    Parameters
    ----------
    circuit : Circuit
        Recorded angles are written as the numbers that they are; a batch of angles becomes PennyLane's broadcasting.

    Returns
    -------
    list of pennylane operations
        On wires 0 to n-1: ``qml.tape.QuantumScript(operations, [qml.state()])``, or ``qml.apply`` each within a QNode.

    Raises
    ------
    ArgumentError
        For operators that are not unitary, initial states and noisy circuits.

    Examples
    --------
    >>> import qad
    >>> from qad.interop.pennylane import to_pennylane
    >>> to_pennylane(qad.Circuit(2).h(0).ry(0.3, 1))
    [H(0), RY(0.3, wires=[1])]
    """
    operations, theta = unitary_gates(circuit, "to_pennylane"), value_of(circuit.parameters)
    with qml.QueuingManager.stop_recording():
        return [operation_of(o, theta, circuit.matrices) for o in operations]


def operation_of(operation: Operation, theta: Value, matrices: Sequence[Value]) -> Any:
    """One operation of PennyLane."""
    gate, wires = operation.gate, list(operation.qubits)
    angles = [theta[..., slot] for slot in operation.slots]
    angles = [float(angle) if angle.ndim == 0 else angle for angle in angles]
    name, adjoint = DAGGERS.get(gate.name, gate.name), operation.adjoint != (gate.name in DAGGERS)
    if operation.given is not None:
        found = qml.QubitUnitary(value_of(matrices[operation.given]), wires)
    elif gate.letters:
        found = qml.PauliRot(angles[0], gate.letters, wires)
    elif name in TYPES and GATES.get(gate.name) is gate:
        found = TYPES[name](*angles, wires=wires)
    else:
        found = qml.QubitUnitary(np.asarray(gate.matrix(*map(np.asarray, angles))), wires)
    found = qml.adjoint(found) if adjoint else found
    return qml.ctrl(found, list(operation.controls)) if operation.controls else found


def observable_from_pennylane(operator: Any, n: int | None = None, wires: Sequence[Any] | None = None) -> PauliSum:
    """A sum of Pauli words of PennyLane as a `qad.PauliSum` on n qubits.

    Parameters
    ----------
    operator : pennylane operator
        With a Pauli representation: Pauli operators, their products, sums and multiples.
    n : int, optional
        By default as many qubits as there are wires: those that are named, or else 0 to the highest number.
    wires : sequence, optional
        Names of all wires in the order of qubits; by default 0 to n-1, or, if names are no numbers, in the order of
        their appearance.

    Raises
    ------
    ArgumentError
        For an operator without a Pauli representation, and for wires beyond n, or that are not in `wires`.

    Examples
    --------
    >>> import pennylane as qml
    >>> from qad.interop.pennylane import observable_from_pennylane
    >>> observable_from_pennylane(0.5 * qml.X(0) @ qml.Z(2))
    0.5 XIZ
    """
    sentence = operator.pauli_rep
    if sentence is None:
        raise ArgumentError(f"{operator.name} has no Pauli representation: use qad.circuit.Operator with its matrix")
    names = list(operator.wires)
    numbers = all(isinstance(wire, int) for wire in names)
    if wires is None:
        wires = range(max([0 if n is None else n - 1, *names]) + 1) if numbers else names
    n = len(wires) if n is None else n
    places = dict(zip(wires, range(n), strict=False))
    if missing := [wire for wire in names if wire not in places]:
        raise ArgumentError(f"wires {missing} of the operator are not among the {n} qubits of {list(places)}")
    terms = [
        (float(c.real) if c.imag == 0 else complex(c), "".join(word.values()), [places[w] for w in word])
        for word, c in ((word, complex(c)) for word, c in sentence.items())
    ]
    return PauliSum.on_sites(n, terms)


def observable_to_pennylane(observable: PauliSum) -> Any:
    """A `qad.PauliSum` as an operator of PennyLane on wires 0 to n-1.

    Parameters
    ----------
    observable : PauliSum

    Examples
    --------
    >>> import qad
    >>> from qad.interop.pennylane import observable_to_pennylane
    >>> observable_to_pennylane(qad.PauliSum({"XI": 0.5, "ZZ": 1.0})).pauli_rep[qml.pauli.PauliWord({0: "X"})]
    0.5
    """
    words = [
        qml.pauli.PauliWord({q: letter for q, letter in enumerate(string) if letter != "I"})
        for string in observable.strings
    ]
    coefficients = value_of(observable.coefficients).tolist()
    return qml.pauli.PauliSentence(dict(zip(words, coefficients, strict=True))).operation(range(observable.n))
