"""Models of the square lattice against dense matrices of the same formulas."""

import numpy as np
import pytest

import qad
from qad import peps
from qad.core.errors import ArgumentError, ShapeError
from qad.peps.infinite.orbits import orbits

X = np.array([[0, 1], [1, 0]]) / 2
Y = np.array([[0, -1j], [1j, 0]]) / 2
Z = np.diag([1.0, -1.0]) / 2


def bond(x, y, z):
    return (x * np.kron(X, X) + y * np.kron(Y, Y) + z * np.kron(Z, Z)).real.reshape(2, 2, 2, 2)


def test_heisenberg_and_xxz():
    for model, delta in ((peps.heisenberg(), 1.0), (peps.xxz(0.3), 0.3)):
        assert [t.sites for t in model.terms] == [((0, 0), (0, 1)), ((0, 0), (1, 0))]
        for t in model.terms:
            np.testing.assert_allclose(t.operator, bond(1, 1, delta), atol=1e-15)


def test_the_rotated_antiferromagnet_fits_one_site():
    for t in peps.heisenberg().rotated().terms:
        np.testing.assert_allclose(t.operator, bond(-1, 1, -1), atol=1e-15)
        assert t.operator.dtype == float
    near, _, far, _ = peps.j1j2(1.0, 0.4).rotated().terms
    np.testing.assert_allclose(near.operator, bond(-1, 1, -1), atol=1e-15)
    np.testing.assert_allclose(far.operator, 0.4 * bond(1, 1, 1), atol=1e-15)  # one sublattice


def test_another_rotation():
    u = np.diag([1, -1j])
    turned = peps.xxz(0.5).rotated(np.diag([1.0, -1.0])).terms[0].operator
    np.testing.assert_allclose(turned, bond(-1, -1, 0.5), atol=1e-15)
    with pytest.raises(ArgumentError, match="not the same on both sublattices"):
        peps.Model([peps.term(np.kron(X + Z, X) + np.kron(X, X + Z), [(0, 0), (0, 1)])]).rotated(u @ (X + Z) * 2**0.5)
    with pytest.raises(ArgumentError, match="unitary"):
        peps.heisenberg().rotated(2 * np.eye(2))


def test_ising():
    near, _, field = peps.ising(3.1).terms
    np.testing.assert_allclose(near.operator, -4 * np.kron(Z, Z).reshape(2, 2, 2, 2))
    np.testing.assert_allclose(field.operator, -6.2 * X)


@pytest.mark.parametrize(
    "operator, sites, error",
    [
        (np.eye(4), [(0, 0)] * 2, ArgumentError),
        (np.eye(3), [(0, 0), (0, 1)], ShapeError),
        (np.ones((2, 2, 2)), [(0, 0)], ShapeError),
        (np.triu(np.ones((2, 2))), [(0, 0)], ArgumentError),
        (np.eye(2), [], ArgumentError),
    ],
)
def test_terms_that_make_no_sense(operator, sites, error):
    with pytest.raises(error):
        peps.term(operator, sites)


def test_saturated_magnets():
    """All spins up: two bonds a site of energy ``J / 4`` (and two diagonals), and half of the field."""
    up = peps.PEPS([np.eye(2)[0].reshape(2, 1, 1, 1, 1)])
    assert peps.energy(up, peps.heisenberg(j=2.0, h=5.0), 2) == pytest.approx(2 / 2 - 5 / 2, abs=1e-12)
    assert peps.energy(up, peps.xxz(0.5, j=2.0, h=5.0), 2) == pytest.approx(1 / 2 - 5 / 2, abs=1e-12)
    assert peps.energy(up, peps.j1j2(2.0, 1.0, h=5.0), 2) == pytest.approx(3 / 2 - 5 / 2, abs=1e-12)
    assert len(peps.heisenberg(h=0).terms) == len(peps.heisenberg().terms) == 2
    turned = qad.grad(lambda h: peps.energy(up, peps.heisenberg(spin=0.5, h=h), 2))(0.0)
    assert turned == pytest.approx(-0.5, abs=1e-12)


def test_symmetric_terms_are_measured_once():
    (pair,) = orbits(peps.heisenberg().rotated(), "c4v", False)
    assert pair[0] == 2.0
    assert sorted(weight for weight, _ in orbits(peps.j1j2(1.0, 0.4).rotated(), "c4v", True)) == [2.0, 2.0]
    assert sum(weight for weight, _ in orbits(peps.ising(1.0), "c2v", False)) == 3.0
    assert len(list(orbits(peps.ising(1.0), None, False))) == 3


def test_a_model_without_the_symmetry_is_refused():
    model = peps.Model(peps.heisenberg().terms[:1])
    state = peps.PEPS.random(2, symmetry="c4v")
    with pytest.raises(ArgumentError, match="not the symmetry 'c4v'"):
        peps.energy(state, model, 12)
    with pytest.raises(ArgumentError, match="not the symmetry 'c4v'"):
        peps.ground_state(model, 2, 12, "c4v")


def test_couplings_may_be_recorded():
    state = peps.PEPS.random(2, symmetry="c4v", seed=0)
    env = peps.environment(state, 12)
    slope = qad.grad(lambda g: peps.expectation(state, peps.ising(g), env))(1.3)
    x = peps.local_expectations(state, "X", env)[0, 0]
    assert slope == pytest.approx(-x, abs=1e-12)


def test_a_model_has_terms():
    with pytest.raises(ArgumentError, match="one term at least"):
        peps.Model([])
