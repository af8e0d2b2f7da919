"""Two dimensions: projected entangled pair states, infinite and finite, and classical models on the square lattice."""

from qad.elsewhere import names_told as _names_told
from qad.peps import classical, finite
from qad.peps.classical.partition import partition_function
from qad.peps.electrons import fermions, hubbard, tj
from qad.peps.infinite.correlations import correlation_length
from qad.peps.infinite.density import reduced_density
from qad.peps.infinite.environment import Environment, environment
from qad.peps.infinite.half_cylinder import entanglement_spectrum
from qad.peps.infinite.observables import energy, expectation, local_expectations
from qad.peps.infinite.state import PEPS
from qad.peps.infinite.structure import structure_factor
from qad.peps.lattices import honeycomb, kagome, kitaev, triangular
from qad.peps.models import Model, Term, term
from qad.peps.search.cluster_update import cluster_update
from qad.peps.search.ground import ground_state
from qad.peps.search.result import GroundState
from qad.peps.search.simple_update import simple_update
from qad.peps.spins import heisenberg, ising, j1j2, spin_spin, xxz

__all__ = [
    "PEPS", "Environment", "GroundState", "Model", "Term", "classical", "cluster_update", "correlation_length",
    "energy", "entanglement_spectrum", "environment", "expectation", "fermions", "finite", "ground_state", "heisenberg",
    "honeycomb", "hubbard", "ising", "j1j2", "kagome", "kitaev", "local_expectations", "partition_function",
    "reduced_density", "simple_update", "spin_spin", "structure_factor", "term", "tj", "triangular", "xxz",
]  # fmt: skip

_names_told(__name__)
