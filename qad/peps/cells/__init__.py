"""Any cell: corners and edges of all four directions, by simultaneous moves."""

from qad.peps.cells.lattice import CLOCKWISE, Cell, cell_of
from qad.peps.cells.moves import double_layer
from qad.peps.cells.solve import solved

__all__ = ["CLOCKWISE", "Cell", "cell_of", "double_layer", "solved"]
