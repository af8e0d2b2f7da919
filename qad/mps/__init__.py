"""Chains: matrix product states and operators, their energies and ground states."""

from qad.mps import uniform
from qad.mps.conserving.quantities import sectors
from qad.mps.conserving.state import SymmetricMPS
from qad.mps.electron_models import hubbard, tj
from qad.mps.entanglement import entanglement_entropy, schmidt_values
from qad.mps.evolve.evolution import Evolution, evolve
from qad.mps.evolve.thermal import Metts, ThermalState, metts, thermal_state
from qad.mps.local import Site, site
from qad.mps.measures import correlations, local_expectations, reduced_density
from qad.mps.models import aklt, blbq, heisenberg, ising, j1j2, long_range_ising, xxz
from qad.mps.observables import energy, expectation, log_norm2, norm, norm2, overlap, variance
from qad.mps.operator import MPO
from qad.mps.opsum import OpSum
from qad.mps.search.ground import ground_state
from qad.mps.search.result import GroundState
from qad.mps.state import MPS
from qad.mps.transfer import Transfer, transfer

__all__ = [
    "MPO", "MPS", "Evolution", "GroundState", "Metts", "OpSum", "Site", "SymmetricMPS", "ThermalState", "Transfer",
    "aklt", "blbq",
    "correlations", "energy", "entanglement_entropy", "evolve", "expectation", "ground_state", "heisenberg", "hubbard",
    "ising", "j1j2", "local_expectations", "log_norm2", "long_range_ising", "metts", "norm", "norm2", "overlap",
    "reduced_density", "schmidt_values", "sectors", "site", "thermal_state", "tj", "transfer", "uniform",
    "variance", "xxz",
]  # fmt: skip
