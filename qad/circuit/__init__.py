"""Quantum circuits: gates on qubits, observables, and derivatives of everything at the speed of the state vector."""

from qad.circuit.gates.table import Gate, matrix, register_gate
from qad.circuit.noise.channels import amplitude_damping, depolarizing, flip, mixed_unitary
from qad.circuit.noise.noisy import NoisyCircuit
from qad.circuit.observables.fermions import (
    bravyi_kitaev,
    cluster_excitations,
    coupled_cluster,
    hardware_efficient,
    jordan_wigner,
)
from qad.circuit.observables.operators import Operator, Projector
from qad.circuit.observables.pauli import PauliSum
from qad.circuit.program.circuit import Circuit
from qad.circuit.program.cone import pruned
from qad.circuit.program.geometry import fisher, geometric_tensor, metric, natural_gradient
from qad.circuit.program.information import bracket, entropy, overlap, reduced_density
from qad.circuit.program.shift import estimate, parameter_shift
from qad.elsewhere import names_told as _names_told

__all__ = [
    "Circuit", "Gate", "NoisyCircuit", "Operator", "PauliSum", "Projector", "amplitude_damping", "bracket",
    "bravyi_kitaev", "cluster_excitations", "coupled_cluster", "depolarizing", "entropy", "estimate", "fisher", "flip",
    "geometric_tensor", "hardware_efficient", "jordan_wigner", "matrix", "metric", "mixed_unitary", "natural_gradient",
    "overlap", "parameter_shift", "pruned", "reduced_density", "register_gate",
]  # fmt: skip

_names_told(__name__)
