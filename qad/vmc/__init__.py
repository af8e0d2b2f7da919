"""Variational Monte Carlo: wave functions that are NumPy functions of configurations, sampled and improved."""

from qad.vmc.connections import Connections
from qad.vmc.dynamics import Evolved, evolve
from qad.vmc.expectation import expect
from qad.vmc.ground import VMCResult, ground_state
from qad.vmc.log_cosh import log_cosh
from qad.vmc.moves import exchanges
from qad.vmc.samplers import Direct, Metropolis, sample
from qad.vmc.space import Space
from qad.vmc.spaces import Bosons, Electrons, Fermions, Spins
from qad.vmc.states import chain, mean_field, slater
from qad.vmc.statistics import Estimate, Samples, average, v_score
from qad.vmc.symmetries import convolution, marshall, symmetrized, translations
from qad.vmc.wave_functions import jastrow, rbm

__all__ = [
    "Bosons", "Connections", "Direct", "Electrons", "Estimate", "Evolved", "Fermions", "Metropolis", "Samples",
    "Space", "Spins", "VMCResult", "average", "chain", "convolution", "evolve", "exchanges", "expect", "ground_state",
    "jastrow", "log_cosh", "marshall", "mean_field", "rbm", "sample", "slater", "symmetrized", "translations",
    "v_score",
]  # fmt: skip
