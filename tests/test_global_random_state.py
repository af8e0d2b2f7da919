"""Nothing in qad moves NumPy's global generator, nor depends on it."""

import numpy as np
import pytest

import qad
from qad import mps

A = np.random.default_rng(0).standard_normal((12, 12))
POSITIVE = A @ A.T + np.eye(12)
PSI = mps.MPS.random(6, 4, seed=0)
CALLS = {
    "logm": lambda: qad.linalg.logm(POSITIVE),
    "logm_gradient": lambda: qad.grad(lambda a: np.trace(qad.linalg.logm(a) @ A))(POSITIVE),
    "sqrtm": lambda: qad.linalg.sqrtm(POSITIVE),
    "expm": lambda: qad.linalg.expm(A),
    "expm_multiply": lambda: qad.linalg.expm_multiply(A, np.ones(12)),
    "truncated_svd": lambda: qad.linalg.truncated_svd(A, 3),
    "truncated_eigh": lambda: qad.linalg.truncated_eigh(POSITIVE, 3),
    "dominant_eig": lambda: qad.linalg.dominant_eig(lambda x: POSITIVE @ x, np.ones(12)),
    "lowest_eig": lambda: qad.linalg.lowest_eig(lambda x: POSITIVE @ x, np.ones(12)),
    "ground_state": lambda: mps.ground_state(mps.heisenberg(6), 8),
    "ground_state_of_charge": lambda: mps.ground_state(mps.heisenberg(6), 8, conserve="Sz"),
    "evolve": lambda: mps.evolve(PSI, mps.ising(6, 1.0), 0.1, 2),
    "thermal_state": lambda: mps.thermal_state(mps.ising(4, 1.0), 0.2),
    "random": lambda: mps.MPS.random(5, 3),
    "sample": lambda: PSI.sample(5, seed=0),
    "uniform": lambda: mps.uniform.ground_state(mps.uniform.ising(2.0), 4, cell=1),
    "ground_energy": lambda: mps.uniform.ground_energy(mps.uniform.ising(1.5), 4, 1, starts=1),
    "correlation_length": lambda: mps.uniform.correlation_length(mps.uniform.UniformMPS.random(6, seed=0)),
    "circuit": lambda: qad.Circuit(3).h(0).cx(0, 1).sample(20, seed=1),
    "partition_function": lambda: qad.peps.partition_function(np.ones((2,) * 4) + np.eye(4).reshape((2,) * 4), 8),
    "minimize": lambda: qad.optimize.minimize(lambda x: np.sum((x - 1) ** 2), np.zeros(3)),
    "check_grads": lambda: qad.check_grads(np.sin, (np.array([0.3]),)),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_global_generator_stays_where_it_is(name):
    np.random.seed(7)  # noqa: NPY002
    before = np.random.get_state()  # noqa: NPY002
    CALLS[name]()
    after = np.random.get_state()  # noqa: NPY002
    np.testing.assert_array_equal(before[1], after[1])
    assert before[2:] == after[2:]
