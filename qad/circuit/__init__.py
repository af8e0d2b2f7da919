"""Quantum circuits: gates on qubits, observables, and derivatives of everything at the speed of the state vector."""

from qad.circuit.channels import amplitude_damping, depolarizing, flip, mixed_unitary
from qad.circuit.circuit import Circuit
from qad.circuit.cone import pruned
from qad.circuit.fermions import (
    bravyi_kitaev,
    coupled_cluster,
    excitations,
    hardware_efficient,
    jordan_wigner,
)
from qad.circuit.gates import Gate, matrix, register_gate
from qad.circuit.geometry import fisher, geometric_tensor, metric, natural_gradient
from qad.circuit.information import bracket, entropy, overlap, reduced_density
from qad.circuit.noise import NoisyCircuit
from qad.circuit.observables import Operator, Projector
from qad.circuit.pauli import PauliSum
from qad.circuit.shift import estimate, parameter_shift

__all__ = [
    "Circuit", "Gate", "NoisyCircuit", "Operator", "PauliSum", "Projector", "amplitude_damping", "bracket",
    "bravyi_kitaev", "coupled_cluster", "depolarizing", "entropy", "estimate", "excitations", "fisher", "flip",
    "geometric_tensor", "hardware_efficient", "jordan_wigner", "matrix", "metric", "mixed_unitary", "natural_gradient",
    "overlap", "parameter_shift", "pruned", "reduced_density", "register_gate",
]  # fmt: skip
