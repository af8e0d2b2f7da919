"""Chains: matrix product states and operators, their energies and ground states."""

from qad.elsewhere import names_told as _names_told
from qad.mps import uniform
from qad.mps.chain.gates import apply, swap
from qad.mps.chain.state import MPS
from qad.mps.charges.quantities import sectors
from qad.mps.evolve.evolution import Evolution, evolve
from qad.mps.measure.blocks import mutual_information, negativity
from qad.mps.measure.correlators import correlations, structure_factor
from qad.mps.measure.entanglement import entanglement_entropy, entanglement_spectrum, schmidt_values
from qad.mps.measure.measures import local_expectations, measure, reduced_density
from qad.mps.measure.multipoint import multipoint
from qad.mps.measure.observables import energy, expectation, log_norm2, norm, norm2, overlap, variance
from qad.mps.measure.pairs import pair_correlations
from qad.mps.measure.transfer import Transfer, transfer
from qad.mps.models.bosons import bose_hubbard
from qad.mps.models.electrons import hubbard, kitaev_chain, tj
from qad.mps.models.lattice import Lattice
from qad.mps.models.spins import aklt, blbq, heisenberg, ising, j1j2, long_range_ising, xxz
from qad.mps.models.xyz import xyz
from qad.mps.open.density import density, density_measure, density_trace
from qad.mps.open.generator import lindblad
from qad.mps.open.steady import SteadyState, steady_state
from qad.mps.open.trajectories import StateTrajectories, trajectories
from qad.mps.operators.application import apply_mpo
from qad.mps.operators.exponential import mpo_exp
from qad.mps.operators.local import Site, site
from qad.mps.operators.mpo import MPO
from qad.mps.operators.opsum import OpSum
from qad.mps.search.excited import ExcitedState, excited_state
from qad.mps.search.ground import ground_state
from qad.mps.search.result import GroundState
from qad.mps.spectra.function import SpectralFunction, spectral_function
from qad.mps.thermal.curve import ThermalCurve, thermal_curve
from qad.mps.thermal.samples import Metts, metts
from qad.mps.thermal.state import ThermalState, thermal_state

SymmetricMPS = MPS  # its name where states with charges had a class of their own

__all__ = [
    "Evolution", "ExcitedState", "GroundState", "Lattice", "MPO", "MPS", "Metts", "OpSum", "Site", "SpectralFunction",
    "StateTrajectories", "SteadyState", "SymmetricMPS", "ThermalCurve", "ThermalState", "Transfer", "aklt", "apply",
    "apply_mpo", "blbq", "bose_hubbard", "correlations", "density", "density_measure", "density_trace", "energy",
    "entanglement_entropy", "entanglement_spectrum", "evolve", "excited_state", "expectation", "ground_state",
    "heisenberg", "hubbard", "ising", "j1j2", "kitaev_chain", "lindblad", "local_expectations", "log_norm2",
    "long_range_ising", "measure", "metts", "mpo_exp", "multipoint", "mutual_information", "negativity", "norm",
    "norm2", "overlap", "pair_correlations", "reduced_density", "schmidt_values", "sectors", "site",
    "spectral_function", "steady_state", "structure_factor", "swap", "thermal_curve", "thermal_state", "tj",
    "trajectories", "transfer", "uniform", "variance", "xxz", "xyz",
]  # fmt: skip

_names_told(__name__)


def __dir__() -> list[str]:
    """What is public, and nothing else."""
    return sorted(__all__)
