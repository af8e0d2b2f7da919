"""The examples of two dimensions: what they compute is right."""

import pytest

from tests.examples.running import run


def test_the_heisenberg_model_on_the_square_lattice():
    done = run("peps/01_heisenberg_square.py")
    assert done.found[2].energy == pytest.approx(-0.6602310935, abs=1e-9)  # published for this bond
    assert done.found[2].converged
    assert 0 < done.length < 1
    assert done.exact < done.found[2].energy


def test_classical_ising():
    compared = run("peps/02_classical_ising.py").compared
    assert len(compared) == 2 * 4
    for found, exact in compared:
        assert found == pytest.approx(exact, abs=2e-6)


def test_the_transverse_ising_model():
    done = run("peps/03_transverse_ising.py")
    for found, exact in done.compared:
        assert found == pytest.approx(exact, abs=1e-7)
    assert done.along[0] > 0.7 > 0.01 > done.along[1]  # on both sides of the transition
    assert done.energies[1] == pytest.approx(-3.2834, abs=1e-3)  # J. Jordan et al. 2008


def test_frustration_weakens_the_order():
    done = run("peps/04_j1j2.py")
    assert done.moments[0] == pytest.approx(0.391, abs=1e-3)
    assert done.moments[1] < done.moments[0] - 0.03
    assert done.factors[1] > done.factors[0]


def test_paired_fermions_without_strings():
    (number, exact), (energy, lowest) = run("peps/05_paired_fermions.py").compared
    assert number == pytest.approx(exact, rel=1e-2)
    assert lowest < energy < lowest * (1 - 1e-3)
    assert lowest == pytest.approx(-0.21608948, abs=1e-8)
