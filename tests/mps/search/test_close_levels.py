"""Searches that ended in a superposition of two close levels, half a gap too high, and were said to have converged."""

import numpy as np
import pytest

import qad
from qad.mps.search.local import lowest_of_two


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
@pytest.mark.parametrize("method", ["dmrg", "dmrg2"])
@pytest.mark.sampled(2)
def test_two_levels_of_the_ising_chain(method, seed):
    H = qad.mps.ising(8, 0.2)
    exact = np.linalg.eigvalsh(H.to_dense())
    assert 4e-6 < exact[1] - exact[0] < 6e-6
    found = qad.mps.ground_state(H, bond=16, method=method, seed=seed)
    assert found.converged
    assert found.energy == pytest.approx(exact[0], abs=1e-8)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.sampled(1)
def test_two_levels_of_definite_charge(seed):
    """In two configurations of bosons that are reflections of each other."""
    H = qad.mps.bose_hubbard(6, t=0.0128, u=2.5, mu=[0.7, 0.3, 0.5, 0.5, 0.3, 0.7], most=2)
    number = sum(np.unravel_index(np.arange(3**6), (3,) * 6))
    exact = np.linalg.eigvalsh(H.to_dense()[np.ix_(number == 7, number == 7)])
    assert 4e-6 < exact[1] - exact[0] < 5e-6
    found = qad.mps.ground_state(H, 27, conserve="N", sector=7, seed=seed)
    assert found.energy == pytest.approx(exact[0], abs=1e-9)


def test_an_exhausted_space_leads_nowhere():
    """Rounding led to the state itself, which then seemed to lie below the lowest level."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        turn = np.linalg.qr(rng.standard_normal((6, 6))).Q
        h = turn @ np.diag([0.0, 0.0, 1.0, 1.0, 1.0, 1.0 + 1e-8]) @ turn.T
        centre = turn[:, 0] + 1e-7 * rng.standard_normal(6)
        centre /= np.linalg.norm(centre)
        vector = lowest_of_two(lambda x, h=h: h @ x, centre, rng.standard_normal(6), 1e-9)
        assert vector is centre
