"""Typical thermal states: means within five of their own errors, and errors that are those of the samples."""

import numpy as np
import pytest

from qad import mps
from tests.physics import exact

CHAINS = {
    "second neighbours of five": (mps.j1j2(5, 0.0, 1.0), 5, exact.exchange(exact.row(5, 2))),
    "second neighbours": (mps.j1j2(6, 0.0, 1.0), 6, exact.exchange(exact.row(6, 2))),
    "ising": (mps.ising(4, 1.0), 4, exact.transverse(4, 1.0)),
}


@pytest.mark.parametrize(
    "name, samples",
    [
        ("second neighbours of five", 8),
        pytest.param("second neighbours", 40, marks=pytest.mark.slow),
        pytest.param("ising", 40, marks=pytest.mark.slow),
    ],
)
def test_energy(name, samples):
    H, n, terms = CHAINS[name]
    h = exact.dense(["spin-1/2"] * n, terms)
    mean, error = mps.metts(H, 1.0, samples).expectation(H)
    assert abs(mean - exact.thermal(h, 1.0, h)[1]) < 5 * error
    assert 0 < error < 0.5


@pytest.mark.slow
def test_errors_are_those_of_many_runs():
    H, n, terms = CHAINS["ising"]
    h = exact.dense(["spin-1/2"] * n, terms)
    wanted = exact.thermal(h, 1.0, h)[1]
    found = [mps.metts(H, 1.0, 100, seed=seed).expectation(H) for seed in range(20)]
    z = np.array([(mean - wanted) / error for mean, error in found])
    assert 0.6 < np.sqrt(np.mean(z**2)) < 1.5
