"""Sampled wave functions: expectation values and ground states that are known exactly."""

import numpy as np

import qad
from qad.vmc import Spins


def in_a_field(p, s):
    """Every spin in the state (e^p, e^-p), of magnetisation tanh(2p)."""
    return p * s.sum(1)


def test_samples_of_independent_spins():
    found = qad.vmc.sample(in_a_field, 0.3, Spins(10))
    mean = qad.vmc.average(found.configurations.mean(1).reshape(-1, found.chains).T)
    assert abs(mean.mean - np.tanh(0.6)) < 5 * mean.error


def test_magnetisation_and_its_susceptibility():
    magnet = qad.mps.OpSum(10).add(1.0, "Z", 3)
    found = qad.vmc.expect(in_a_field, 0.3, magnet, Spins(10))
    assert abs(found.mean - np.tanh(0.6)) < 5 * found.error
    slope = qad.grad(lambda p: qad.vmc.expect(in_a_field, p, magnet, Spins(10), sampler="exact").mean)(0.3)
    assert abs(slope - 2 / np.cosh(0.6) ** 2) < 1e-12


def test_an_eigenstate_has_no_variance():
    log_psi, _ = qad.vmc.jastrow(4)  # of the ring of four, turned: -2, without noise
    J = np.array([-np.log(2) / 4 * ((j - i) % 2) for i in range(4) for j in range(i + 1, 4)])
    found = qad.vmc.expect(
        log_psi, {"v": np.zeros(4), "J": J}, qad.mps.xxz(4, -1.0, j=-1.0, periodic=True), Spins(4, total=0)
    )
    assert abs(found.mean + 2) < 1e-12
    assert found.variance < 1e-24
    assert qad.vmc.v_score(found, 4) < 1e-24


def test_a_spin_in_a_tilted_field():
    H = qad.mps.OpSum(1).add(-1.0, "X", 0).add(-0.75, "Z", 0)
    found = qad.vmc.ground_state(lambda p, s: p * s[:, 0], np.array(0.0), H, Spins(1), steps=100, rate=0.1)
    assert abs(found.energy.mean + 1.25) < 1e-6


def test_a_spin_goes_around_a_field():
    H = qad.mps.OpSum(1).add(1.0, "Sx", 0)  # from the state (cos a, sin a) to one that is turned by time / 2
    angles = []
    qad.vmc.evolve(
        lambda p, s: np.where(s[:, 0] > 0, p[0], p[1]), np.log([np.cos(0.5), np.sin(0.5) + 0j]), H, Spins(1), 1.0, 20,
        sampler="exact", callback=lambda time, p, energy: angles.append((time, abs(np.exp(2 * (p[0] - p[1]))))),
    )  # fmt: skip
    times, ratios = np.array(angles).T
    sz = (ratios - 1) / (ratios + 1)
    assert np.allclose(sz, np.cos(1.0) * np.cos(times), atol=1e-5)
