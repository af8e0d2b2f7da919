"""Samples follow |psi|^2 by chi squared, whatever draws them; what cannot be sampled is named."""

import numpy as np
import pytest
from scipy.stats import chisquare

import qad
from qad.vmc import Bosons, Direct, Electrons, Metropolis, Spins, chain, sample

ArgumentError, ShapeError = qad.errors.ArgumentError, qad.errors.ShapeError


def jagged(params, s):
    """A wave function without symmetry, with phases."""
    n = s.shape[1]
    return params * (
        s @ np.cos(1.0 + np.arange(n)) + 0.7 * (s[:, 1:] * s[:, :-1]) @ np.sin(np.arange(1.0, n))
    ) + 1j * s.sum(1)


def p_value(space, found, power=1.0):
    """Of independent samples."""
    weights = np.exp(2 * power * jagged(0.5, space.states()).real)
    counts = np.bincount(space.numbers(found.configurations), minlength=space.size)
    likely = weights / weights.sum() * len(found.configurations)
    few = likely < 8  # in one bin
    merged = [np.append(x[~few], x[few].sum()) for x in (counts, likely)]
    return chisquare(*[x[: len(x) - (not few.any())] for x in merged]).pvalue


SPACES = {
    "flips": Spins(5), "exchanges": Spins(6, total=0), "spin 1": Spins(4, spin=1), "hops": Bosons(4, most=2, total=3),
    "electrons": Electrons(3, up=2, down=1),
}  # fmt: skip


@pytest.mark.parametrize("name", SPACES)
def test_distribution(name):
    space = SPACES[name]
    found = sample(jagged, 0.5, space, 4000, Metropolis(chains=4000), seed=1)
    assert found.configurations.shape == (4000, space.n)
    assert 0 < found.acceptance < 1
    assert np.allclose(found.log_psi, jagged(0.5, found.configurations))
    assert p_value(space, found) > 1e-3


@pytest.mark.parametrize("temperatures", [(1.0,), (1.0, 2.0)])
def test_walks_of_searches_settle_by_few_chains_which_part(temperatures):
    space = SPACES["flips"]
    walk = Metropolis(temperatures=temperatures).begin(space, 1000, np.random.default_rng(8), search=True)
    assert walk.rows.shape == (len(temperatures), 64, 5)
    for _ in range(6):
        found = walk(jagged, 0.5)
        assert found.configurations.shape == (1000, 5)
    assert np.array_equal(walk.rows[0], found.configurations)
    assert p_value(space, found) > 1e-3


def test_replicas_of_each_temperature():
    space = SPACES["flips"]
    found = sample(jagged, 0.5, space, 4000, Metropolis(chains=4000, temperatures=(1.0, 1.5, 3.0)), seed=3)
    assert found.configurations.shape == (4000, 5)
    assert p_value(space, found) > 1e-3


def test_tempering_crosses_what_flips_do_not():
    def magnet(p, s):  # two states, up and down, with a barrier of exp(-p n^2) between them
        return p * s.sum(1) ** 2.0

    space, means = Spins(8), []
    for temperatures in ((1.0,), (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)):
        found = sample(magnet, 0.3, space, 640, Metropolis(chains=16, temperatures=temperatures), seed=5)
        means.append(np.abs(found.configurations.reshape(-1, 16, 8).mean((0, 2))).mean())
    assert means[0] > 0.9
    assert means[1] < 0.5


def test_asymmetric_proposals_are_corrected():
    space = Spins(5)

    def lazy(rows, rng):  # spins up are turned down three times as often as they are turned up
        site, chains = rng.integers(5, size=len(rows)), np.arange(len(rows))
        before = rows[chains, site]
        turned = rng.random(len(rows)) < np.where(before > 0, 0.9, 0.3)
        proposed = rows.copy()
        proposed[chains, site] = np.where(turned, -before, before)
        return proposed, np.where(turned, before * np.log(0.3 / 0.9), 0.0)

    assert p_value(space, sample(jagged, 0.5, space, 4000, Metropolis(lazy, chains=4000), seed=2)) > 1e-3


def test_exact_weights():
    space = Spins(6, total=0)
    found = sample(jagged, 0.5, space, sampler="exact")
    weights = np.exp(2 * jagged(0.5, space.states()).real)
    assert np.allclose(found.weights, weights / weights.sum())
    mean = found.estimate(found.configurations[:, 0])
    assert np.isclose(mean.mean, (found.weights * space.states()[:, 0]).sum())
    assert mean.error == 0


def test_direct_samples_of_a_chain():
    space = Spins(5)
    state = qad.mps.MPS.random(5, 3, seed=0)
    log_psi, params = chain(state, space)
    found = sample(
        log_psi, params, space, 4000, Direct(lambda psi, count, rng: space.of_indices(psi.sample(count, rng))), seed=4
    )
    weights = sample(log_psi, params, space, sampler="exact").weights * 4000
    assert chisquare(np.bincount(space.numbers(found.configurations), minlength=32), weights).pvalue > 1e-3


def test_rows_of_chains_and_seeds():
    space = Spins(4)
    found = sample(jagged, 0.1, space, 10, Metropolis(chains=4), seed=1)
    assert len(found.configurations) == 12  # the next multiple
    assert found.chains == 4
    again = sample(jagged, 0.1, space, 10, Metropolis(chains=4), seed=1)
    assert np.array_equal(found.configurations, again.configurations)
    assert found.configurations.dtype == np.int8


def test_products_of_configurations_do_not_wrap():
    seen = []

    def log_psi(p, s):
        seen.append(s.dtype)
        return p * (s * 100 * s).sum(1)

    sample(log_psi, 0.0, Spins(3), 4)
    assert set(map(str, seen)) == {"int64"}


@pytest.mark.parametrize(
    "log_psi, words",
    [
        (lambda p, s: np.where(s[:, 0] > 0, np.nan, 0.0), r"log_psi is nan for the configuration \[1,"),
        (lambda p, s: np.where(s[:, 0] > 0, np.inf, 0.0), r"log_psi is inf for the configuration \[1,"),
        (lambda p, s: np.full(len(s), -np.inf), "psi is 0"),
        (lambda p, s: np.where(s[:, 0] > 0, 1j * np.nan, 0.0), "log_psi is .*nan.* for the configuration"),
    ],
)
def test_amplitudes_that_are_none(log_psi, words):
    with pytest.raises(ArgumentError, match=words):
        sample(log_psi, 0.0, Spins(3), 64)


def test_zeros_are_avoided():
    found = sample(lambda p, s: np.where(s[:, 0] > 0, 0.0, -np.inf), 0.0, Spins(3), 64)
    assert (found.configurations[:, 0] == 1).all()


def test_wrong_shapes_and_options():
    with pytest.raises(ShapeError, match="one float or complex number for each"):
        sample(lambda p, s: s.astype(float), 0.0, Spins(3), 8)
    with pytest.raises(ArgumentError, match="4 samples of 8 chains"):
        sample(jagged, 0.0, Spins(3), 4, Metropolis(chains=8))
    with pytest.raises(ArgumentError, match="a space is Spins, Bosons, Fermions or Electrons of qad.vmc, but got 3"):
        sample(jagged, 0.0, 3, 4)
    with pytest.raises(ArgumentError, match="temperatures"):
        Metropolis(temperatures=(2.0,))
    with pytest.raises(ArgumentError, match="sampler is"):
        sample(jagged, 0.0, Spins(3), 8, "gibbs")
    with pytest.raises(ArgumentError):
        sample(jagged, 0.0, Spins(3, total=1), 8, Metropolis(lambda rows, rng: -rows))
