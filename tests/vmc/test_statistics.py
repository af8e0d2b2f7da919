"""Means, errors, autocorrelation times and R-hat of chains whose statistics are known."""

import numpy as np
import pytest

import qad
from qad.vmc import Estimate, Samples, average, v_score


def autoregressive(chains, steps, rho, rng):
    """Chains of variance 1 whose correlations are rho^t, so that tau = (1 + rho) / (1 - rho)."""
    out = np.empty((chains, steps))
    out[:, 0] = rng.normal(size=chains)
    for k in range(1, steps):
        out[:, k] = rho * out[:, k - 1] + np.sqrt(1 - rho**2) * rng.normal(size=chains)
    return out


@pytest.mark.parametrize("chains", [4, 64])
def test_error_counts_correlations(chains):
    rng, rho = np.random.default_rng(0), 0.8
    found = [average(autoregressive(chains, 500, rho, rng)) for _ in range(60)]
    true = np.sqrt(9 / (chains * 500))  # tau = 1.8 / 0.2
    assert np.isclose(np.mean([x.error for x in found]), true, rtol=0.1)
    assert np.isclose(np.std([x.mean for x in found]), true, rtol=0.3)
    assert np.isclose(np.mean([x.autocorrelation for x in found]), 9.0, rtol=0.15)


def test_complex_values_and_constants():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(32, 40)) + 1j * rng.normal(size=(32, 40)) + 3
    found = average(values)
    assert abs(found.mean - 3) < 5 * found.error
    assert np.isclose(found.variance, 2.0, rtol=0.1)
    same = average(np.full((3, 50), 2.0))
    assert (same.mean, same.error, same.variance, same.r_hat) == (2.0, 0.0, 0.0, 1.0)
    assert average([[5.0]]).error == np.inf


def test_weights_are_exact_sums():
    weights = np.array([0.5, 0.25, 0.25])
    found = Samples(np.zeros((3, 1), int), np.log(weights) / 2, 3, weights).estimate([1.0, 2.0, 4.0])
    assert (found.mean, found.error, found.variance) == (2.0, 0.0, 1.5)


def test_r_hat_sees_chains_that_disagree():
    rng = np.random.default_rng(2)
    good = rng.normal(size=(8, 200))
    assert average(good).r_hat < 1.02
    bad = good + (np.arange(8) % 2)[:, None] * 2.0
    assert average(bad).r_hat > 1.3
    assert np.isnan(average(good[:, :20]).r_hat)


def test_printing():
    assert repr(Estimate(-8.45789, 0.0012, 0.3, 1.2, 1.003)) == "-8.4579 ± 0.0012 (variance 0.3, tau 1.2, R-hat 1)"
    assert repr(Estimate(-0.5, 0.0, 0.25)) == "-0.5 (variance 0.25, tau 1)"
    assert repr(Estimate(1234.5, 20.0, 4.0)) == "1234 ± 20 (variance 4, tau 1)"


def test_v_score():
    assert v_score(Estimate(-4.0, 0.1, 2.0), 8) == 1.0
    assert v_score(Estimate(-4.0, 0.1, 2.0), 8, zero=-2.0) == 4.0
    with pytest.raises(qad.errors.ArgumentError, match="infinite temperature"):
        v_score(Estimate(0.0, 0.1, 2.0), 8)


def test_bad_shapes():
    with pytest.raises(qad.errors.ShapeError, match="chains, samples of each"):
        average([1.0, 2.0])
