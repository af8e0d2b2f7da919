"""Corners with equal values, or hardly any: numbers or refusals, never NaN."""

import numpy as np
import pytest

import qad
from qad import peps
from qad.core.errors import ConvergenceError
from tests.peps.states import aklt_like, product_state, toric_code


def model(d):
    """A bond of some Hermitian matrix on either side."""
    h = np.random.default_rng(0).standard_normal((d, d))
    pair = np.kron(h + h.T, h + h.T)
    return peps.Model([peps.term(pair, [(0, 0), (0, 1)]), peps.term(pair, [(0, 0), (1, 0)])])


@pytest.mark.parametrize("symmetry", ["c4v", None])
@pytest.mark.parametrize("bond", [1, 2])
def test_product_states(symmetry, bond):
    state = peps.PEPS([product_state(bond)], symmetry=symmetry)
    value, gradient = qad.value_and_grad(lambda state: peps.energy(state, model(2), bond**2))(state)
    spin = np.array([0.6, 0.8])
    h = np.einsum("stuv,s,t,u,v->", model(2).terms[0].operator, spin, spin, spin, spin)
    assert value == pytest.approx(2 * h, abs=1e-13)
    assert np.isfinite(gradient.tensors[0]).all()
    env = peps.environment(state, 4)
    assert env.chi == 1
    assert peps.correlation_length(env) == 0.0


@pytest.mark.parametrize("symmetry", ["c4v", None])
def test_multiplets_are_kept_whole(symmetry):
    state = peps.PEPS([aklt_like()], symmetry=symmetry)
    env = peps.environment(state, 12)
    values = np.linalg.svd(env.corners[0], compute_uv=False)
    np.testing.assert_allclose(values[1:4], values[1], rtol=1e-6)
    value, gradient = qad.value_and_grad(lambda state: peps.energy(state, model(5), 12, env))(state)
    assert np.isfinite(gradient.tensors[0]).all()
    assert np.isfinite(value)


def test_the_toric_code():
    state = peps.PEPS([toric_code()])
    env = peps.environment(state, 8)
    flips = np.kron(np.kron([[0, 1], [1, 0]], np.eye(2)), np.eye(4))
    star = np.diag([(-1.0) ** bin(s).count("1") for s in range(16)])  # the product of Z at a vertex
    assert peps.expectation(state, peps.term(star, [(0, 0)]), env) == pytest.approx(1.0, abs=1e-12)
    assert peps.expectation(state, peps.term(flips, [(0, 0)]), env) == pytest.approx(0.0, abs=1e-12)
    gradient = qad.grad(lambda state: peps.energy(state, model(16), 8))(state)
    assert np.isfinite(gradient.tensors[0]).all()


@pytest.mark.parametrize("symmetry", ["c4v", None])
def test_a_superposition_of_two_phases_has_values_and_no_derivative(symmetry):
    site = np.zeros((2, 2, 2, 2, 2))
    site[0, 0, 0, 0, 0] = site[1, 1, 1, 1, 1] = 1
    state = peps.PEPS([site], symmetry=symmetry)
    env = peps.environment(state, 4)
    assert peps.local_expectations(state, "Z", env)[0, 0] == pytest.approx(0.0, abs=1e-14)
    assert peps.correlation_length(env) == np.inf
    with pytest.raises(ConvergenceError, match="adjoint equation"):
        qad.grad(lambda state: peps.energy(state, model(2), 4))(state)
