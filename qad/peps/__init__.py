"""Two dimensions: projected entangled pair states on the square lattice, their environments and energies."""

from qad.peps import classical, finite
from qad.peps.classical import partition_function

__all__ = ["classical", "finite", "partition_function"]
