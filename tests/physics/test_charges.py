"""Searches, evolutions and measurements of chains with charges, beside those without."""

import numpy as np
import pytest

from qad import mps
from tests.physics import exact, free

SPINS = ["spin-1/2"] * 8


@pytest.mark.parametrize(
    "n, bond, lowest", [(12, 8, -5.142047055), pytest.param(20, 16, -8.682468456, marks=pytest.mark.slow)]
)
def test_converged_means_the_lowest_at_this_bond(n, bond, lowest):
    """The lowest that sweeps of pairs find from many starts."""
    found = mps.ground_state(mps.heisenberg(n), bond, "dmrg", conserve="Sz")
    assert not found.converged or found.energy <= lowest + 1e-8


@pytest.mark.parametrize(
    "method, n",
    [
        ("lbfgs", 6),
        ("riemannian", 4),
        *[pytest.param("riemannian", n, marks=pytest.mark.slow) for n in (6, 12)],
        *[pytest.param("lbfgs", n, marks=pytest.mark.slow) for n in (8, 12)],
    ],
)
def test_the_largest_spin_has_a_state_of_every_sector(method, n):
    """The ferromagnet's multiplet at Sz = 0 has Schmidt rank ``n / 2 + 1``."""
    found = mps.ground_state(-1.0 * mps.heisenberg(n), 16, method, conserve="Sz", sector=0)
    assert not found.converged or found.energy == pytest.approx(-(n - 1) / 4, abs=1e-7)


def test_fermions_of_a_sector_are_levels_filled():
    total = exact.opsum(["fermion"] * 8, exact.hopping(exact.row(8), 1.0))
    found = mps.ground_state(total, 16, conserve="N", sector=3)
    assert found.converged and found.energy == pytest.approx(free.filled_energy(free.hops(8), 3), abs=1e-8)


def test_sectors_count_states():
    counts = mps.sectors(mps.heisenberg(8), "Sz")
    assert sum(counts.values()) == 256
    assert counts[0] == 70


def test_evolution_of_definite_charge():
    start = mps.ground_state(mps.xxz(8, 3.0), conserve="Sz")
    h = exact.dense(SPINS, exact.exchange(exact.row(8), 1.0, 0.3))
    final = mps.evolve(start.state, mps.xxz(8, 0.3), 0.2, 5).state
    dense = start.state.without_symmetry().to_dense()
    wanted = exact.mean(exact.product(SPINS, "Z", 3, "Z", 4), exact.evolved(h, dense, 0.2))
    assert mps.correlations(final, "Z", "Z")[3, 4].real == pytest.approx(wanted, abs=1e-8)


def test_densities_of_free_fermions_after_a_quench():
    kinds, filling = ["fermion"] * 6, [1, 0, 1, 0, 0, 1]
    total = exact.opsum(kinds, exact.hopping(exact.row(6, 2), 1.0) + exact.hopping(exact.row(6), 0.5))
    single = -(np.eye(6, k=2) + np.eye(6, k=-2)) - 0.5 * (np.eye(6, k=1) + np.eye(6, k=-1))
    plain = mps.MPS.product(filling)
    charged = mps.MPS.product(filling, conserve="N", kind="fermion")
    for start in (plain, charged):
        final = mps.evolve(start, total, 0.15, 4).state
        found = np.real(mps.local_expectations(final, "N", kind="fermion"))
        assert found == pytest.approx(free.densities(single, filling, 0.15), abs=1e-7)
