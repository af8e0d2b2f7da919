"""The example of tensor renormalisation: what it computes is right."""

import numpy as np
import pytest
from scipy import special

import qad
from tests.examples.running import run


@pytest.fixture(scope="module")
def example():
    return run("trg/ising_trg.py")


def test_the_short_form(example):
    assert example.couplings == (0.5,)
    ((f5, u5, c5),) = example.found
    assert np.isclose(f5, 1.0257928584559, rtol=0, atol=1e-12)
    assert np.isclose(u5, -1.7455645753, rtol=0, atol=3e-5)
    assert np.isclose(c5, 0.72487145, rtol=0, atol=2e-4)


@pytest.mark.parametrize("K", [0.38, 0.42, 0.44, 0.5])
def test_derivatives_of_the_exact_solution_are_elliptic_integrals(example, K):
    log_z, u, c = example.thermodynamics(example.onsager, K)
    m, tanh = 2 * np.sinh(2 * K) / np.cosh(2 * K) ** 2, np.tanh(2 * K)
    first, second, swing = special.ellipk(m**2), special.ellipe(m**2), 2 * np.tanh(2 * K) ** 2 - 1
    bracket = first - second - (1 - tanh**2) * (np.pi / 2 + swing * first)
    assert np.isclose(u, -(1 + 2 / np.pi * swing * first) / tanh, rtol=1e-11)
    assert np.isclose(c, 4 / np.pi * (K / tanh) ** 2 * bracket, rtol=1e-9)
    if K == 0.42:
        assert np.isclose(log_z, 0.9026392190962, rtol=0, atol=1e-12)


def test_both_modes_agree_with_differences(example):
    qad.check_grads(lambda K: example.log_z(K, 6, 8), (np.array(0.5),), rtol=1e-6)
