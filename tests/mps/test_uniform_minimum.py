"""Derivatives of the lowest energy of an infinite chain by its couplings, of every order, against exact ones."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, BatchError, ConvergenceError
from qad.mps import uniform
from qad.mps.uniform import UniformOpSum

K = (np.arange(2000) + 0.5) * np.pi / 2000


def exact(g, j):
    """Free fermions: P. Pfeuty 1970."""
    return -np.sqrt(j * j + g * g - 2 * g * j * np.cos(K)).mean()


def lowest(g, j=1.0):
    return uniform.ground_energy(uniform.ising(g, j), 4, cell=1, starts=1, tol=1e-13)


def test_three_derivatives_of_the_ising_chain():
    second = qad.grad(qad.grad(exact))
    assert lowest(1.5) == pytest.approx(exact(1.5, 1.0), abs=1e-6)
    assert qad.grad(lowest)(1.5) == pytest.approx(qad.grad(exact)(1.5, 1.0), abs=5e-6)
    assert qad.grad(qad.grad(lowest))(1.5) == pytest.approx(second(1.5, 1.0), abs=5e-5)
    assert qad.grad(qad.grad(qad.grad(lowest)))(1.5) == pytest.approx(qad.grad(second)(1.5, 1.0), abs=5e-4)
    assert qad.grad(qad.grad(lowest))(0.5) == pytest.approx(second(0.5, 1.0), abs=5e-5)  # ordered


def test_mixed_derivatives_forward_and_backward():
    points, along = (np.array([1.5, 1.0]),), (np.array([0.3, -1.0]),)
    both = qad.hessian(lambda p: exact(p[0], p[1]))(*points)
    found = qad.hvp(lambda p: lowest(p[0], p[1]), points, along)[0]
    np.testing.assert_allclose(found, both @ along[0], atol=5e-5)
    jvp = qad.jvp(qad.grad(lambda p: lowest(p[0], p[1])), points, along)[1]
    np.testing.assert_allclose(jvp, both @ along[0], atol=5e-5)


def test_complex_states_and_charges():
    def chiral(p):
        H = UniformOpSum().add(-1.0, "Z", 0, "Z", 1).add(-1.5, "X", 0)
        H = H.add(p, "X", 0, "Y", 1, "Z", 2).add(0.5 * p, "Y", 0, "Z", 2)
        return uniform.ground_energy(H, 3, cell=1, starts=1, tol=1e-13)

    def charged(delta):
        return uniform.ground_energy(uniform.xxz(delta), 4, conserve="Sz", starts=1, tol=1e-13)

    for energy, x in ((chiral, 0.3), (charged, 4.0)):
        step = 2e-3
        below, here, above = (energy(x + k * step) for k in (-1, 0, 1))
        assert qad.grad(energy)(x) == pytest.approx((above - below) / (2 * step), abs=1e-5)
        assert qad.grad(qad.grad(energy))(x) == pytest.approx((above - 2 * here + below) / step**2, abs=1e-4)


def test_what_has_no_derivative_is_refused():
    with pytest.raises(BatchError):
        qad.vmap(lowest)(np.array([1.5, 2.0]))
    H = uniform.ising(1.5)
    with pytest.raises(ArgumentError, match="outside of qad.freeze"):
        qad.freeze(lambda w: uniform.ground_energy(uniform.UniformMPO([w]), 2, 1))(H[0])
    with pytest.raises(ConvergenceError, match="maxiter"):
        uniform.ground_energy(uniform.ising(1.0), 8, 1, maxiter=2, starts=1)
    with pytest.raises(ArgumentError, match="sum of several"):
        uniform.ground_energy(uniform.j1j2(1.0, 0.5), 4, 1, starts=1)
    with pytest.raises(ArgumentError, match="UniformOpSum"):
        uniform.ground_energy(np.zeros((2,) * 4))
