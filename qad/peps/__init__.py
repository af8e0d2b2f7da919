"""Two dimensions: projected entangled pair states on the square lattice, their environments and energies."""

from qad.peps.density import reduced_density
from qad.peps.environment import Environment, environment
from qad.peps.models import Model, Term, heisenberg, ising, j1j2, term, xxz
from qad.peps.observables import energy, expectation, local_expectations
from qad.peps.state import PEPS

__all__ = [
    "PEPS", "Environment", "Model", "Term", "energy", "environment", "expectation", "heisenberg", "ising", "j1j2",
    "local_expectations", "reduced_density", "term", "xxz",
]  # fmt: skip
