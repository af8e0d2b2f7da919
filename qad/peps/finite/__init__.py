"""Finite lattices: energies, expectation values, norms and samples of projected entangled pair states."""

from qad.peps.finite.energies import energy, expectation, local_expectations, norm2
from qad.peps.finite.sampling import sample
from qad.peps.finite.simple_update import simple_update
from qad.peps.finite.state import FinitePEPS
from qad.peps.finite.thermal import thermal_state
from qad.peps.finite.values import log_norm2
from qad.peps.finite.variance import variance

__all__ = [
    "FinitePEPS", "energy", "expectation", "local_expectations", "log_norm2", "norm2", "sample", "simple_update",
    "thermal_state", "variance",
]  # fmt: skip
