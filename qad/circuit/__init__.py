"""Quantum circuits: gates on qubits, observables, and derivatives of everything at the speed of the state vector."""

from qad.circuit.circuit import Circuit
from qad.circuit.gates import Gate, matrix, register_gate
from qad.circuit.observables import Operator, Projector
from qad.circuit.pauli import PauliSum

__all__ = ["Circuit", "Gate", "Operator", "PauliSum", "Projector", "matrix", "register_gate"]
