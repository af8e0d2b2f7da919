"""A circuit of Qiskit with expressions of its parameters, differentiated by qad beside Qiskit's own numbers."""

import numpy as np
from qiskit import QuantumCircuit
from qiskit.circuit import Parameter
from qiskit.quantum_info import SparsePauliOp, Statevector

import qad
from qad.interop.qiskit import from_qiskit

a, b = Parameter("a"), Parameter("b")
circuit = QuantumCircuit(2)
circuit.rx(2 * a, 0)
circuit.ry(a * b, 1)
circuit.cx(0, 1)
z, observable = SparsePauliOp("ZI"), qad.PauliSum({"IZ": 1.0})  # qubit 0 is the last letter there, the first here


def energy(x):
    return from_qiskit(circuit, {a: x[0], b: x[1]}).expectation(observable)


def theirs(x):
    return Statevector(circuit.assign_parameters({a: x[0], b: x[1]})).expectation_value(z).real


x, h = np.array([0.3, 0.8]), 1e-5
gradient = qad.grad(energy)(x)
for i, step in enumerate(h * np.eye(2)):
    print(f"slope {gradient[i]:.8f}   exact {(theirs(x + step) - theirs(x - step)) / (2 * h):.8f}")
