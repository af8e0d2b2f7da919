"""The examples of circuits: what they compute is right."""

import numpy as np
import pytest

import qad
from tests.examples.running import run


def test_vqe_of_the_ising_ring():
    done = run("circuits/01_vqe_ising_ring.py")
    assert done.exact == pytest.approx(np.linalg.eigvalsh(done.H.matrix())[0], abs=1e-12)
    errors = [number - exact for number, exact in done.compared]
    assert errors[0] > errors[1] > 1e-2
    assert abs(errors[2]) < 1e-10


def test_qaoa():
    done = run("circuits/02_qaoa_maxcut.py")
    np.testing.assert_array_equal(np.bincount(done.edges.ravel()), 3)
    neighbours = np.zeros((done.n, done.n), int)
    neighbours[done.edges[0], done.edges[1]] = neighbours[done.edges[1], done.edges[0]] = 1
    assert np.trace(np.linalg.matrix_power(neighbours, 3)) == 0  # no triangles
    assert done.sizes.max() == 12  # of Petersen's graph
    assert done.first == pytest.approx(0.69245 * 15, abs=1e-4)
    assert done.means[0] < done.means[1] < done.means[2] <= 12
    for heights in done.distributions.values():
        assert heights.sum() == pytest.approx(1)


def test_hydrogen():
    done = run("circuits/03_h2_ucc.py")
    for fock, cluster, exact in done.rows:
        assert cluster == pytest.approx(exact, abs=1e-10)
        assert fock > exact + 1e-3
    assert done.rows[1] == pytest.approx((-1.116714, -1.137276, -1.137276), abs=1e-6)  # at 1.4 bohr


def test_fermions_anticommute():
    a, c = run("circuits/03_h2_ucc.py").a, run("circuits/03_h2_ucc.py").c
    for p in range(4):
        for q in range(4):
            x, y, z = a[p].matrix(), c[q].matrix(), a[q].matrix()
            np.testing.assert_allclose(x @ y + y @ x, (p == q) * np.eye(16), atol=1e-15)
            np.testing.assert_allclose(x @ z + z @ x, 0, atol=1e-15)


def test_the_excitation_is_exact_without_trotter_steps():
    G = run("circuits/03_h2_ucc.py").G
    values, vectors = np.linalg.eigh(G.matrix())
    fock = np.zeros(16)
    fock[12] = 1.0
    expected = (vectors * np.exp(-0.7j * values)) @ vectors.conj().T @ fock
    state = qad.Circuit(4).x([0, 1]).evolve(G, 0.7).state()
    np.testing.assert_allclose(state.ravel(), expected, atol=1e-12)


def test_learning_a_unitary():
    done = run("circuits/04_learning_a_unitary.py")
    assert done.enough == 3
    np.testing.assert_allclose(done.U.conj().T @ done.U, np.eye(4), atol=1e-14)
    assert done.curves[1][-1] > done.curves[2][-1] > 1e-3
    assert done.curves[3][-1] < 1e-10


def test_natural_gradient_is_ahead():
    done = run("circuits/05_natural_gradient.py")
    assert done.exact == pytest.approx(np.linalg.eigvalsh(done.H.matrix())[0], abs=1e-12)
    errors = {name: curve[-1] - done.exact for name, curve in done.curves.items()}
    assert 0 < errors["natural gradient"] < min(errors["Adam"], errors["steepest descent"])
