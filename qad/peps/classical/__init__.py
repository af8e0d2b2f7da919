"""Classical models in two dimensions: partition functions of uniform networks, and what follows from them."""

from qad.peps.classical.models import clock, dimers, hard_squares, ising, potts, six_vertex, spins
from qad.peps.classical.partition import Thermodynamics, partition_function, thermodynamics

__all__ = [
    "Thermodynamics", "clock", "dimers", "hard_squares", "ising", "partition_function", "potts", "six_vertex", "spins",
    "thermodynamics",
]  # fmt: skip
