"""The examples of chains, in their short forms."""

import numpy as np
import pytest

from tests.examples.loading import load


def test_hundred_sites():
    for result in load("mps/03_heisenberg_hundred_sites.py").main(["--short"]).values():
        assert result.energy == pytest.approx(-6.911737145575, rel=1e-6)


def test_ising_transition():
    rows = load("mps/05_ising_transition.py").main(["--short"])
    np.testing.assert_allclose(rows[:, 1], rows[:, 2], atol=1e-8)
    assert rows[1, 2] == pytest.approx(1 - 1 / np.sin(np.pi / 42))
    assert rows[0, 3] < rows[1, 3]
    assert rows[0, 4] > rows[1, 4] > rows[2, 4]


def test_infinite_heisenberg():
    rows = load("mps/06_infinite_heisenberg.py").main(["--short"])
    errors = [energy - (0.25 - np.log(2)) for _, energy, _, _ in rows]
    assert 0 < errors[1] < errors[0] < 2e-2


def test_quench():
    exact, curves = load("mps/07_quench.py").main(["--short"])
    np.testing.assert_allclose(curves["tebd4"], exact, atol=1e-5)
    np.testing.assert_allclose(curves["tdvp2"], exact, atol=1e-4)


def test_hellmann_feynman():
    for rows in load("mps/08_hellmann_feynman.py").main(["--short"]).values():
        for _, gradient, difference in rows:
            assert gradient == pytest.approx(difference, abs=1e-8)
