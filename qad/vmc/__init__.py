"""Variational Monte Carlo: wave functions that are NumPy functions of configurations, sampled and improved."""

from qad.vmc.connections import Connections
from qad.vmc.moves import exchanges
from qad.vmc.space import Space
from qad.vmc.spaces import Bosons, Electrons, Fermions, Spins

__all__ = ["Bosons", "Connections", "Electrons", "Fermions", "Space", "Spins", "exchanges"]
