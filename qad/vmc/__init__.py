"""Variational Monte Carlo: wave functions that are NumPy functions of configurations, sampled and improved."""

from qad.vmc.connections import Connections
from qad.vmc.determinants import slater
from qad.vmc.log_cosh import log_cosh
from qad.vmc.moves import exchanges
from qad.vmc.space import Space
from qad.vmc.spaces import Bosons, Electrons, Fermions, Spins
from qad.vmc.symmetries import convolution, marshall, symmetrized, translations
from qad.vmc.wave_functions import chain, jastrow, mean_field, rbm

__all__ = [
    "Bosons", "Connections", "Electrons", "Fermions", "Space", "Spins", "chain", "convolution", "exchanges", "jastrow",
    "log_cosh", "marshall", "mean_field", "rbm", "slater", "symmetrized", "translations",
]  # fmt: skip
