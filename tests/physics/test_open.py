"""Open chains at their defaults: a spin that decays in an exchange with another one, beside dense matrices."""

import numpy as np
import pytest
import scipy.linalg

from qad import mps
from tests.physics import exact


def test_a_decay_by_default():
    spins, rate, time = ["spin-1/2"] * 2, 0.6, 1.0
    terms = exact.exchange(exact.row(2), 1.0)
    h, lost = exact.dense(spins, terms).toarray(), np.sqrt(rate) * exact.placed(spins, "Sm", 0).toarray()
    one, square = np.eye(4), lost.T @ lost
    total = -1j * (np.kron(h, one) - np.kron(one, h.T)) + np.kron(lost, lost)
    total = total - (np.kron(square, one) + np.kron(one, square)) / 2
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
