"""Two dimensions: projected entangled pair states on the square lattice, their environments and energies."""

from qad.peps import classical
from qad.peps.classical import partition_function

__all__ = ["classical", "partition_function"]
