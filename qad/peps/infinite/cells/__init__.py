"""Any cell: corners and edges of all four directions, by simultaneous moves."""

from qad.peps.infinite.cells.lattice import CLOCKWISE, Cell, cell_of
from qad.peps.infinite.cells.moves import double_layer
from qad.peps.infinite.cells.solve import solved

__all__ = ["CLOCKWISE", "Cell", "cell_of", "double_layer", "solved"]
