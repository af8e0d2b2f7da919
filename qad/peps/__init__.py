"""Two dimensions: projected entangled pair states on the square lattice, their environments and energies."""

from qad.peps.correlations import correlation_length
from qad.peps.density import reduced_density
from qad.peps.environment import Environment, environment
from qad.peps.models import Model, Term, heisenberg, ising, j1j2, term, xxz
from qad.peps.observables import energy, expectation, local_expectations
from qad.peps.search.ground import ground_state
from qad.peps.search.result import GroundState
from qad.peps.state import PEPS

__all__ = [
    "PEPS", "Environment", "GroundState", "Model", "Term", "correlation_length", "energy", "environment", "expectation",
    "ground_state", "heisenberg", "ising", "j1j2", "local_expectations", "reduced_density", "term", "xxz",
]  # fmt: skip
