"""Searches, evolutions and measurements of chains with charges, beside those without."""

import numpy as np
import pytest

from qad import mps
from tests.physics import exact, free

SPINS = ["spin-1/2"] * 8


def test_converged_means_the_lowest_at_this_bond():
    found = mps.ground_state(mps.heisenberg(20), 16, "dmrg", conserve="Sz")
    assert not found.converged or found.energy <= -8.682468456 + 1e-8


@pytest.mark.parametrize("method", ["lbfgs", "riemannian"])
def test_the_largest_spin_has_a_state_of_every_sector(method):
    """The ferromagnet's multiplet at Sz = 0 has Schmidt rank 5 on eight sites."""
    found = mps.ground_state(-1.0 * mps.heisenberg(8), 16, method, conserve="Sz", sector=0)
    assert not found.converged or found.energy == pytest.approx(-1.75, abs=1e-7)


def test_fermions_of_a_sector_are_levels_filled():
    total = exact.opsum(["fermion"] * 8, exact.hopping(exact.row(8), 1.0))
    for number in (2, 4):
        found = mps.ground_state(total, 16, conserve="N", sector=number)
        assert found.converged and found.energy == pytest.approx(free.filled_energy(free.hops(8), number), abs=1e-8)


def test_sectors_count_states():
    counts = mps.sectors(mps.heisenberg(8), "Sz")
    assert sum(counts.values()) == 256
    assert counts[0] == 70


def test_evolution_of_definite_charge():
    start = mps.ground_state(mps.xxz(8, 3.0), conserve="Sz")
    h = exact.dense(SPINS, exact.exchange(exact.row(8), 1.0, 0.3))
    final = mps.evolve(start.state, mps.xxz(8, 0.3), 0.2, 8).state
    dense = start.state.without_symmetry().to_dense()
    wanted = exact.mean(exact.product(SPINS, "Z", 3, "Z", 4), exact.evolved(h, dense, 0.2))
    assert mps.correlations(final, "Z", "Z")[3, 4].real == pytest.approx(wanted, abs=1e-8)


def test_densities_of_free_fermions_after_a_quench():
    kinds, filling = ["fermion"] * 6, [1, 0, 1, 0, 0, 1]
    total = exact.opsum(kinds, exact.hopping(exact.row(6, 2), 1.0) + exact.hopping(exact.row(6), 0.5))
    single = -(np.eye(6, k=2) + np.eye(6, k=-2)) - 0.5 * (np.eye(6, k=1) + np.eye(6, k=-1))
    plain = mps.MPS.product(filling)
    charged = mps.MPS.product(filling, conserve="N", sites="fermion")
    for start in (plain, charged):
        final = mps.evolve(start, total, 0.15, 10).state
        found = np.real(mps.local_expectations(final, "N", sites="fermion"))
        assert found == pytest.approx(free.densities(single, filling, 0.15), abs=1e-7)
