"""Samples of thermal states: their means, and whether their errors are as large as they say."""

import numpy as np
import pytest

import qad
from qad.mps.thermal.samples import standard_error


def energy_of(H, beta):
    """The thermal energy by exact diagonalisation."""
    levels = np.linalg.eigvalsh(H.to_dense())
    weights = np.exp(-beta * (levels - levels[0]))
    return levels @ weights / weights.sum()


@pytest.mark.parametrize("correlation, samples", [(0.0, 20), (0.0, 100), (0.3, 100), (0.6, 400)])
def test_errors_count_correlated_samples(correlation, samples):
    """An autoregressive series of mean 0: the mean over its error is of size 1."""
    ratios = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        series = [rng.normal() / np.sqrt(1 - correlation**2)]
        for _ in range(samples - 1):
            series.append(correlation * series[-1] + rng.normal())
        ratios.append(np.mean(series) / standard_error(np.array(series)))
    assert 0.8 < np.sqrt(np.mean(np.square(ratios))) < 1.15


def test_errors_of_few_samples():
    assert standard_error(np.array([1.0])) == np.inf
    assert standard_error(np.ones(5)) == 0.0


@pytest.mark.slow
def test_second_neighbours_alone():
    """Product states do not stand still: 0.017 was found for -0.8565."""
    H = qad.mps.j1j2(6, 0.0, 1.0)
    mean, error = qad.mps.metts(H, 1.0, 20, warm_up=3).expectation(H)
    assert abs(mean - energy_of(H, 1.0)) < 3 * error < 0.8


@pytest.mark.slow
@pytest.mark.parametrize("beta", [0.7, 1.0])
def test_means_lie_within_their_errors(beta):
    """Of 16 seeds the root of the mean square of deviations over errors is 1 within three of its own deviations."""
    H, ratios = qad.mps.j1j2(4, 1.0, 0.5), []
    for seed in range(16):
        mean, error = qad.mps.metts(H, beta, 40, seed=seed).expectation(H)
        ratios.append((mean - energy_of(H, beta)) / error)
    assert 0.5 < np.sqrt(np.mean(np.square(ratios))) < 1.5
