"""Chains: matrix product states and operators, their energies and ground states."""

from qad.mps.models import heisenberg, ising, xxz
from qad.mps.observables import energy, expectation, norm, overlap, variance
from qad.mps.operator import MPO
from qad.mps.search import GroundState, ground_state
from qad.mps.state import MPS

__all__ = [
    "MPO", "MPS", "GroundState", "energy", "expectation", "ground_state", "heisenberg", "ising", "norm", "overlap",
    "variance", "xxz",
]  # fmt: skip
