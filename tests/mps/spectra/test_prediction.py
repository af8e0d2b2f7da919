"""Sums of exponentials are continued exactly; what grows is not."""

import numpy as np
import pytest

from qad.mps.spectra.prediction import continued, transformed


@pytest.mark.parametrize("rates", [[1.0], [0.3, 1.7, -2.0], [0.5 - 0.1j, 1.1 - 0.02j]], ids=["one", "real", "damped"])
def test_few_exponentials(rates):
    times, rates = 0.3 * np.arange(200), np.array(rates)
    exact = np.exp(-1j * times[:, None] * rates) @ (1.0 + np.arange(len(rates)))
    np.testing.assert_allclose(continued(exact[:40], 200, 20), exact, atol=1e-7)


def test_what_grows_is_turned_into_what_decays():
    found = continued(np.exp((0.1 + 1j) * np.arange(40)), 400, 1)
    assert np.abs(found).max() == np.abs(found[:40]).max()
    assert np.abs(found[-1]) < 1e-8


def test_nothing_stays_nothing():
    np.testing.assert_array_equal(continued(np.zeros(10, complex), 20, 5), np.zeros(20))


def test_one_frequency_becomes_a_gaussian():
    times, width, frequencies = 0.1 * np.arange(400), 0.2, np.linspace(0.0, 3.0, 7)
    series = np.exp(-1.3j * times)[None]
    found = transformed(series, series.conj(), 0.1, width, frequencies)
    exact = np.exp(-((frequencies - 1.3) ** 2) / (2 * width**2)) / (np.sqrt(2 * np.pi) * width)
    np.testing.assert_allclose(found[0], exact, atol=1e-12)
