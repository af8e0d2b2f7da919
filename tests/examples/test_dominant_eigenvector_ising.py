"""The example of the infinite Ising chain runs, and its numbers are right."""

import numpy as np
import pytest

import qad
from tests.examples.loading import load


@pytest.fixture(scope="module")
def example():
    return load("mps/02_dominant_eigenvector_ising.py")


def test_short_run(example, capsys):
    found = example.main(["--short"])
    assert 0 < found[1.5] + 1.671926221536195 < 1e-6
    assert "-1.67192622153" in capsys.readouterr().out


def test_exact_energies(example):
    assert np.isclose(example.exact(0.5), -1.0635444099733717, rtol=1e-14)
    assert np.isclose(example.exact(1.0), -4 / np.pi, rtol=1e-12)


def test_derivatives_of_a_complex_state(example):
    rng = np.random.default_rng(0)
    state = rng.standard_normal((3, 2, 3)) + 1j * rng.standard_normal((3, 2, 3)) + 2 * np.eye(3)[:, None]
    h = example.bond_hamiltonian(0.7)
    qad.check_grads(lambda a: example.energy(a, h), (state,), rtol=1e-7)
