"""Excited states by exclusion, and their number, beside dense spectra."""

import numpy as np
import pytest

from qad import mps
from tests.physics import exact

CHAINS = {
    "ising": (mps.ising(6, 1.4), "spin-1/2", 6, exact.transverse(6, 1.4)),
    "heisenberg": (mps.heisenberg(6), "spin-1/2", 6, exact.exchange(exact.row(6))),
    "odd": (mps.heisenberg(5), "spin-1/2", 5, exact.exchange(exact.row(5))),
    "hopping": (mps.hubbard(4, 1.0, 0.0), "electron", 4, exact.hopping(exact.row(4), 1.0, ("up", "dn"))),
}


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n == "odd")) for n in CHAINS])
def test_the_lowest_levels_one_after_the_other(name):
    H, kind, n, terms = CHAINS[name]
    levels = exact.lowest(exact.dense([kind] * n, terms), 3)[0]
    states = []
    for level in levels:
        found = mps.ground_state(H, excluded=states)
        assert found.converged and found.energy == pytest.approx(level, abs=1e-8 * abs(levels[0]))
        states.append(found.state)


def test_starting_from_the_state_that_is_excluded():
    H = mps.heisenberg(5)
    first = mps.ground_state(H, 8).state
    levels = exact.lowest(exact.dense(["spin-1/2"] * 5, exact.exchange(exact.row(5))), 2)[0]
    found = mps.ground_state(H, 8, start=first, excluded=[first])
    assert found.converged and found.energy == pytest.approx(levels[1], abs=1e-8)
    assert abs(mps.overlap(first, found.state)) ** 2 < 1e-4


def test_the_middle_of_the_spectrum():
    spins, terms = (
        ["spin-1/2"] * 8,
        [*exact.exchange(exact.row(8)), *((3.0 * (-1.7) ** (i % 5), "Sz", i) for i in range(8))],
    )
    levels = np.linalg.eigvalsh(exact.dense(spins, terms).toarray())
    found = mps.excited_state(exact.opsum(spins, terms), mps.MPS.product([0, 1, 1, 0, 1, 0, 0, 1]))
    assert found.converged and levels[5] < found.energy < levels[-5]
    assert np.abs(levels - found.energy).min() < 1e-8


def test_excited_states_of_a_sector():
    spins, terms = ["spin-1/2"] * 6, exact.exchange(exact.row(6))
    h = exact.dense(spins, terms)
    keep = [i for i in range(64) if i.bit_count() == 3]
    levels = exact.lowest(h[keep][:, keep], 2)[0]
    first = mps.ground_state(mps.heisenberg(6), conserve="Sz")
    second = mps.ground_state(mps.heisenberg(6), conserve="Sz", excluded=[first.state])
    assert [first.energy, second.energy] == pytest.approx(levels.tolist(), abs=1e-8)
    assert first.converged and second.converged
