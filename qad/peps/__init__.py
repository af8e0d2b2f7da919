"""Two dimensions: projected entangled pair states on the square lattice, their environments and energies."""

from qad.peps.models import Model, Term, heisenberg, ising, j1j2, term, xxz
from qad.peps.state import PEPS

__all__ = ["PEPS", "Model", "Term", "heisenberg", "ising", "j1j2", "term", "xxz"]
