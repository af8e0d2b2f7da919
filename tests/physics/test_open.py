"""Open chains at their defaults: a spin that decays, and driven spins at rest, beside dense matrices."""

import numpy as np
import pytest
import scipy.linalg

from qad import mps
from tests.physics import exact


def generator(spins, terms, jumps):
    """The Lindblad generator on density matrices, row by row; jumps are real: pairs (rate, name) by site."""
    h, one = exact.dense(spins, terms).toarray(), np.eye(2 ** len(spins))
    total = -1j * (np.kron(h, one) - np.kron(one, h.T))
    for site, (rate, name) in jumps.items():
        jump = np.sqrt(rate) * exact.placed(spins, name, site).toarray()
        square = jump.T @ jump
        total += np.kron(jump, jump) - (np.kron(square, one) + np.kron(one, square)) / 2
    return total


def test_a_decay_by_default():
    spins, rate, time = ["spin-1/2"] * 2, 0.6, 1.0
    terms = exact.exchange(exact.row(2), 1.0)
    total = generator(spins, terms, {0: (rate, "Sm")})
    psi = mps.MPS.random(2, 2)
    v = psi.to_dense().ravel()
    rho = (scipy.linalg.expm(total * time) @ np.outer(v, v.conj()).ravel()).reshape(4, 4)
    G = mps.lindblad(exact.opsum(spins, terms), [(rate, "Sm", 0)])
    final = mps.evolve(mps.density(psi), G, time, 10, hermitian=False)
    wanted = [np.trace(exact.placed(spins, "Sz", i).toarray() @ rho) for i in range(2)]
    assert mps.density_measure(final.state, "Sz") == pytest.approx(np.array(wanted), abs=1e-7)
    sampled = mps.trajectories(psi, exact.opsum(spins, terms), [(rate, "Sm", 0)], time, 20, 30)
    mean, error = sampled.measure("Sz")
    assert np.all(np.abs(mean - np.real(wanted)) < 5 * error + 0.02)  # half a step, and chance
    assert mps.density_trace(final.state) * np.exp(final.log_norm) == pytest.approx(1.0, abs=1e-7)


def test_a_steady_state_by_default():
    spins, terms = ["spin-1/2"] * 3, exact.exchange(exact.row(3), 0.5)
    total = generator(spins, terms, {0: (1.0, "Sp"), 2: (0.7, "Sm")})
    rho = scipy.linalg.null_space(total, 1e-9)[:, 0].reshape(8, 8)
    wanted = [np.trace(exact.placed(spins, "Sz", i).toarray() @ rho) / np.trace(rho) for i in range(3)]
    found = mps.steady_state(mps.lindblad(exact.opsum(spins, terms), [(1.0, "Sp", 0), (0.7, "Sm", 2)]))
    assert found.converged
    assert mps.density_measure(found.state, "Sz") == pytest.approx(np.real(wanted), abs=1e-6)
