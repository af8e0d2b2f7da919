"""What chains, operators and sums of terms become of one another, beside dense arrays."""

import numpy as np
import pytest

from qad import mps
from tests.physics import exact

RNG = np.random.default_rng(3)
SPINS = ["spin-1/2"] * 6
PSI = RNG.normal(size=(2,) * 6) + 1j * RNG.normal(size=(2,) * 6)


def test_states_from_dense_ones_and_back():
    chain = mps.MPS.from_dense(PSI)
    unit = PSI / np.linalg.norm(PSI)
    assert chain.to_dense() == pytest.approx(PSI, abs=1e-12)
    assert chain.normalized().to_dense() == pytest.approx(unit, abs=1e-12)
    turned = chain.canonicalize(2)
    assert turned.to_dense() == pytest.approx(PSI, abs=1e-12)
    left = turned[1].reshape(-1, turned[1].shape[2])
    assert left.conj().T @ left == pytest.approx(np.eye(left.shape[1]), abs=1e-12)


def test_rings_are_opened():
    ring = mps.MPS.random(5, 2, periodic=True, seed=1)
    assert ring.opened().to_dense() == pytest.approx(ring.to_dense(), abs=1e-12)


def test_states_of_definite_charge():
    found = mps.ground_state(mps.heisenberg(6), conserve="Sz").state
    levels, states = exact.lowest(exact.dense(SPINS, exact.exchange(exact.row(6))))
    assert levels[0] == pytest.approx(mps.energy(found, mps.heisenberg(6)), abs=1e-9)
    for chain in (found.normalized(), found.canonicalize(3)):
        dense = chain.without_symmetry().to_dense().reshape(-1)
        assert abs(dense @ states[:, 0]) == pytest.approx(1.0, abs=1e-9)


def test_operators():
    matrix = RNG.normal(size=(16, 16)) + 1j * RNG.normal(size=(16, 16))
    chain = mps.MPO.from_dense(matrix)
    assert chain.to_dense() == pytest.approx(matrix, abs=1e-12)
    assert chain.dagger().to_dense() == pytest.approx(matrix.conj().T, abs=1e-12)
    assert mps.MPO.identity(4).to_dense() == pytest.approx(np.eye(16), abs=1e-14)


def test_sums_of_terms_of_all_ranges():
    total = mps.OpSum(6).add_exponential(0.7, 0.5, "Z", "Z").add(0.2j, "Sp", 0, "Sm", 3)
    tail = [(0.7 * 0.5 ** (k - i), "Z", i, "Z", k) for i in range(6) for k in range(i + 1, 6)]
    wanted = exact.dense(SPINS, [*tail, (0.2j, "Sp", 0, "Sm", 3)]).toarray()
    assert total.mpo().to_dense() == pytest.approx(wanted, abs=1e-12)
    assert total.dagger().mpo().to_dense() == pytest.approx(wanted.conj().T, abs=1e-12)


def test_distances_on_a_cylinder():
    cylinder = mps.Lattice.cylinder(4, 3)
    places = cylinder.positions
    for one, other in [(0, 3), (1, 10), (5, 6)]:
        step = abs(places[one] - places[other])
        around = min(step[1], 3 - step[1])
        assert tuple(cylinder.position(one)) == tuple(places[one])
        assert cylinder.distance2(one, other) == step[0] ** 2 + around**2
