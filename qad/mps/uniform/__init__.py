"""Infinite chains: uniform matrix product states, whose cell of tensors repeats without end."""

from qad.elsewhere import names_told as _names_told
from qad.mps.models.uniform import heisenberg, hubbard, ising, j1j2, tj, xxz
from qad.mps.operators.uniform_mpo import UniformMPO
from qad.mps.operators.uniform_opsum import UniformOpSum
from qad.mps.uniform.canonical import uniform_schmidt_form
from qad.mps.uniform.correlations import correlations, structure_factor
from qad.mps.uniform.entanglement import entanglement_entropy, entanglement_spectrum, schmidt_values
from qad.mps.uniform.evolution import evolve
from qad.mps.uniform.excitations import excitations
from qad.mps.uniform.lengths import correlation_length, correlation_lengths
from qad.mps.uniform.measures import energy_density, expectation, fidelity, local_expectations
from qad.mps.uniform.minimum import ground_energy
from qad.mps.uniform.search import ground_state
from qad.mps.uniform.state import SymmetricUniformMPS, UniformGroundState, UniformMPS

__all__ = [
    "SymmetricUniformMPS", "UniformGroundState", "UniformMPO", "UniformMPS", "UniformOpSum", "correlation_length",
    "correlation_lengths", "correlations", "energy_density", "entanglement_entropy", "entanglement_spectrum", "evolve",
    "excitations", "expectation", "fidelity", "ground_energy", "ground_state", "heisenberg", "hubbard", "ising",
    "j1j2", "local_expectations", "schmidt_values", "structure_factor", "tj", "uniform_schmidt_form", "xxz",
]  # fmt: skip

_names_told(__name__)


def __dir__() -> list[str]:
    """What is public, and nothing else."""
    return sorted(__all__)
