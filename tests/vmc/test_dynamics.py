"""Evolution in time: exact where the wave function can be everything, and close where it can be much."""

import numpy as np
import pytest
from scipy.linalg import expm

import qad
from qad.vmc import Connections, Metropolis, Spins, evolve, rbm

SPACE, H = Spins(5), qad.mps.ising(5, 0.6)
MATRIX = Connections(H, SPACE).matrix().toarray()


def overlap(log_psi, params, start, time):
    """|<psi(time)|exp(-i H time)|psi(0)>|, normalised."""
    exact = expm(-1j * MATRIX * time) @ np.exp(log_psi(start, SPACE.states()))
    psi = np.exp(log_psi(params, SPACE.states()))
    return abs(np.vdot(psi, exact)) / np.linalg.norm(psi) / np.linalg.norm(exact)


def table(p, s):
    return p[((s + 1) // 2) @ (1 << np.arange(5))]


def test_a_table_of_all_amplitudes_follows_exactly():
    rng = np.random.default_rng(0)
    start = 0.3 * (rng.normal(size=32) + 1j * rng.normal(size=32))
    found = evolve(table, start, H, SPACE, time=0.5, steps=20, sampler="exact", cutoff=1e-12)
    assert abs(overlap(table, found.params, start, 0.5) - 1) < 1e-8
    assert np.allclose(found.history, found.history[0], atol=1e-6)
    assert np.allclose(found.times, np.linspace(0, 0.5, 21))


def test_real_parameters_of_a_complex_function():
    def split(p, s):
        return table(p["size"], s) + 1j * table(p["phase"], s)

    rng = np.random.default_rng(1)
    start = {name: 0.3 * rng.normal(size=32) for name in ("size", "phase")}
    found = evolve(split, start, H, SPACE, time=0.5, steps=20, sampler="exact", cutoff=1e-12)
    assert abs(overlap(split, found.params, start, 0.5) - 1) < 1e-8


def test_boltzmann_machine_by_samples():
    log_psi, start = rbm(5, 3, seed=1, scale=0.1)
    seen = []
    found = evolve(
        log_psi, start, H, SPACE, 0.3, 5, 800, sampler=Metropolis(sweep=7), cutoff=1e-4,
        callback=lambda time, params, energy: seen.append((time, energy.error)),
    )  # fmt: skip
    assert overlap(log_psi, start, start, 0.3) < 0.95  # it has moved
    assert overlap(log_psi, found.params, start, 0.3) > 0.99
    assert len(seen) == 5
    assert seen[1][0] == pytest.approx(0.06)


def test_ends_and_refusals():
    def stop(time, params, energy):
        if time > 0.15:
            raise StopIteration

    found = evolve(table, np.zeros(32, complex), H, SPACE, 1.0, 10, sampler="exact", callback=stop)
    assert (found.message, len(found.times)) == ("stopped by the callback", 3)
    with pytest.raises(qad.errors.ArgumentError, match="log_psi is real"):
        evolve(table, np.zeros(32), H, SPACE, 1.0, 10, sampler="exact")
