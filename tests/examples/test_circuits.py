"""The examples of circuits, small, as a user runs them."""

import numpy as np
import pytest

from tests.examples.loading import load


def test_vqe_of_the_ising_ring(capsys):
    example = load("circuits/01_vqe_ising_ring.py")
    energy, exact = example.main(["--short"])
    assert exact == pytest.approx(np.linalg.eigvalsh(example.hamiltonian(6, 1.0).matrix())[0])
    assert energy == pytest.approx(exact, abs=1e-10)
    assert "exact" in capsys.readouterr().out


def test_qaoa(capsys):
    example = load("circuits/02_qaoa_maxcut.py")
    edges = example.random_regular_graph(10, 3, seed=4)
    np.testing.assert_array_equal(np.bincount(edges.ravel()), 3)
    means, largest = example.main(["--short"])
    assert 0.6924 * largest < means[0] < means[1] < means[2] <= largest
    assert f"largest cut {largest}" in capsys.readouterr().out


def test_hydrogen(capsys):
    example = load("circuits/03_h2_ucc.py")
    rows = example.main(["--short"])
    for _, fock, ucc, exact in rows:
        assert ucc == pytest.approx(exact, abs=1e-10)
        assert fock > exact + 1e-3
    assert rows[1][1:] == pytest.approx((-1.116714, -1.137276, -1.137276), abs=1e-6)  # at 1.4 bohr
    assert "full CI" in capsys.readouterr().out


def test_the_excitation_is_exact_without_trotter_steps():
    example = load("circuits/03_h2_ucc.py")
    values, vectors = np.linalg.eigh(example.excitation().matrix())
    fock = np.zeros(16)
    fock[12] = 1.0
    expected = (vectors * np.exp(-0.7j * values)) @ vectors.conj().T @ fock
    np.testing.assert_allclose(example.ansatz(0.7).state().ravel(), expected, atol=1e-12)


def test_learning_a_unitary(capsys):
    losses = load("circuits/04_learning_a_unitary.py").main(["--short"])
    assert losses[0] > 1e-3
    assert losses[-1] < 1e-10
    assert "exact" in capsys.readouterr().out


def test_natural_gradient_is_ahead(capsys):
    errors = load("circuits/05_natural_gradient.py").main(["--short"])
    assert 0 < errors["natural gradient"] < min(errors["Adam"], errors["gradient descent"])
    assert "exact" in capsys.readouterr().out
