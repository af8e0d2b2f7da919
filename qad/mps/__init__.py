"""Chains: matrix product states and operators, their energies and ground states."""

from qad.mps import uniform
from qad.mps.blocks import mutual_information, negativity
from qad.mps.conserving.quantities import sectors
from qad.mps.conserving.state import SymmetricMPS
from qad.mps.correlators import correlations, multipoint, structure_factor
from qad.mps.electron_models import hubbard, kitaev_chain, tj
from qad.mps.entanglement import entanglement_entropy, entanglement_spectrum, schmidt_values
from qad.mps.evolve.evolution import Evolution, evolve
from qad.mps.exponential import mpo_exp
from qad.mps.gates import apply, swap
from qad.mps.lattice import Lattice
from qad.mps.local import Site, site
from qad.mps.measures import local_expectations, measure, reduced_density
from qad.mps.models import aklt, blbq, heisenberg, ising, j1j2, long_range_ising, xxz
from qad.mps.more_models import bose_hubbard, xyz
from qad.mps.observables import energy, expectation, log_norm2, norm, norm2, overlap, variance
from qad.mps.operator import MPO
from qad.mps.opsum import OpSum
from qad.mps.search.ground import ground_state
from qad.mps.search.result import GroundState
from qad.mps.state import MPS
from qad.mps.thermal.samples import Metts, metts
from qad.mps.thermal.state import ThermalState, thermal_state
from qad.mps.transfer import Transfer, transfer

__all__ = [
    "Evolution", "GroundState", "Lattice", "MPO", "MPS", "Metts", "OpSum", "Site", "SymmetricMPS", "ThermalState",
    "Transfer", "aklt", "apply", "blbq", "bose_hubbard", "correlations", "energy", "entanglement_entropy",
    "entanglement_spectrum", "evolve", "expectation", "ground_state", "heisenberg", "hubbard", "ising", "j1j2",
    "kitaev_chain", "local_expectations", "log_norm2", "long_range_ising", "measure", "metts", "mpo_exp",
    "multipoint", "mutual_information", "negativity", "norm", "norm2", "overlap", "reduced_density",
    "schmidt_values", "sectors", "site", "structure_factor", "swap", "thermal_state", "tj", "transfer", "uniform",
    "variance", "xxz", "xyz",
]  # fmt: skip
