"""Derivatives at spectra with gaps from 1e-14 to 1; see `tests.fuzz.spectra`."""

import numpy as np
import pytest

import qad
from tests.fuzz import nonnormal
from tests.fuzz.spectra import check, draw, modes

pytestmark = pytest.mark.filterwarnings("ignore")  # SciPy's, of the accuracy of a logarithm


@pytest.mark.parametrize("first", range(0, 120, 20))
@pytest.mark.sampled(1)
def test_random_spectra(first):
    assert not {seed: found for seed in range(first, first + 20) if (found := check(seed))}


@pytest.mark.parametrize("first", range(0, 200, 50))
@pytest.mark.sampled(1)
def test_random_matrices_that_are_not_normal(first):
    assert not {seed: found for seed in range(first, first + 50) if (found := nonnormal.check(seed))}


def test_the_generator_would_find_an_error_of_one_part_in_a_million(monkeypatch):
    """Of the gradients of losses that must be right."""
    right = qad.grad
    seeds = [seed for seed in range(40) if draw(seed)[5]][:8]
    assert len(seeds) == 8
    monkeypatch.setattr(qad, "grad", lambda f: lambda a: right(f)(a) * (1 + 1e-6 * (a.dtype.itemsize > 8)) + 1e-6)
    found = [check(seed) for seed in seeds if draw(seed)[2].dtype in (np.float64, np.complex128)]
    assert all(any("grad" in line for line in lines) for lines in found)


def test_modes_are_those_of_users():
    assert {"grad", "jvp", "hvp", "reverse over reverse", "vmap of hvp"} <= set(modes(np.sum, np.eye(2), np.eye(2)))


@pytest.mark.slow
def test_thousands_of_random_spectra():
    assert not {seed: found for seed in range(1000, 11000) if (found := check(seed))}


@pytest.mark.parametrize("seed", [5006180, 5026391, 5067693, 8073052])
def test_programs_that_were_less_right_than_their_bound(seed):
    assert not check(seed)
