"""A QNode of PennyLane on qad's engine: its gradient beside that of the parameter-shift rule."""

import numpy as np
import pennylane as qml

import qad
from qad.interop.pennylane import from_qnode


@qml.qnode(qml.device("default.qubit", wires=3))
def energy(t):
    for i in range(3):
        qml.RY(t[i], i)
    qml.CNOT([0, 1])
    qml.CNOT([1, 2])
    return qml.expval(qml.Z(1) @ qml.X(2))


t = np.array([0.3, 0.5, 0.7])
gradient = qad.grad(from_qnode(energy))(t)
for i, shift in enumerate(np.pi / 2 * np.eye(3)):
    print(f"slope {gradient[i]:.10f}   exact {(energy(t + shift) - energy(t - shift)) / 2:.10f}")
