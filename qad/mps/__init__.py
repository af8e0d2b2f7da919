"""Chains: matrix product states and operators, their energies and ground states."""

from qad.mps import uniform
from qad.mps.evolve.evolution import Evolution, evolve
from qad.mps.local import Site, site
from qad.mps.models import aklt, blbq, heisenberg, ising, j1j2, long_range_ising, xxz
from qad.mps.observables import energy, expectation, norm, overlap, variance
from qad.mps.operator import MPO
from qad.mps.opsum import OpSum
from qad.mps.search.ground import ground_state
from qad.mps.search.result import GroundState
from qad.mps.state import MPS

__all__ = [
    "MPO", "MPS", "Evolution", "GroundState", "OpSum", "Site", "aklt", "blbq", "energy", "evolve", "expectation",
    "ground_state", "heisenberg", "ising", "j1j2", "long_range_ising", "norm", "overlap", "site", "uniform", "variance",
    "xxz",
]  # fmt: skip
