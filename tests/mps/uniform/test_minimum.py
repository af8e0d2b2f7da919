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
    return uniform.ground_energy(uniform.ising(g, j=j), 4, cell=1, starts=1, tol=1e-13)


@pytest.mark.slow
def test_three_derivatives_of_the_ising_chain():
    second = qad.grad(qad.grad(exact))
    assert lowest(1.5) == pytest.approx(exact(1.5, 1.0), abs=1e-6)
    assert qad.grad(lowest)(1.5) == pytest.approx(qad.grad(exact)(1.5, 1.0), abs=5e-6)
    assert qad.grad(qad.grad(lowest))(1.5) == pytest.approx(second(1.5, 1.0), abs=5e-5)
    assert qad.grad(qad.grad(qad.grad(lowest)))(1.5) == pytest.approx(qad.grad(second)(1.5, 1.0), abs=5e-4)
    assert qad.grad(qad.grad(lowest))(0.5) == pytest.approx(second(0.5, 1.0), abs=5e-5)  # ordered


@pytest.mark.slow
def test_mixed_derivatives_forward_and_backward():
    points, along = (np.array([1.5, 1.0]),), (np.array([0.3, -1.0]),)
    both = qad.hessian(lambda p: exact(p[0], p[1]))(*points)
    found = qad.hvp(lambda p: lowest(p[0], p[1]), points, along)[0]
    np.testing.assert_allclose(found, both @ along[0], atol=5e-5)
    jvp = qad.jvp(qad.grad(lambda p: lowest(p[0], p[1])), points, along)[1]
    np.testing.assert_allclose(jvp, both @ along[0], atol=5e-5)


@pytest.mark.slow
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


def default(g, j=1.0):
    """The energy per site of the Ising chain, by the default search."""
    return uniform.ground_energy(uniform.ising(g, j=j))


@pytest.mark.parametrize("g", [0.0, 1e-3, 0.1, 0.3, 0.5, 0.8, 1.5, 2.0, 5.0, 20.0])
@pytest.mark.sampled(1)
def test_bonds_that_have_no_weight_are_left_out(g):
    """By default, where a state needs fewer directions than its bonds have: value and slope."""
    value, slope = qad.value_and_grad(default)(g)
    assert value == pytest.approx(exact(g, 1.0), abs=2e-9)
    assert slope == pytest.approx(qad.grad(exact)(g, 1.0), abs=5e-8)


def aklt(p):
    """S.S + p (S.S)^2 / 3 of spins 1, solved at p = 1: I. Affleck, T. Kennedy, E. H. Lieb, H. Tasaki 1987."""
    H, site = UniformOpSum(1, "spin-1"), qad.mps.site("spin-1")
    for one in ("Sx", "Sy", "Sz"):
        H = H.add(1.0, one, 0, one, 1)
        for two in ("Sx", "Sy", "Sz"):
            both = site.matrix(one) @ site.matrix(two)
            H = H.add(p / 3, both, 0, both, 1)
    return H


@pytest.mark.parametrize(
    "model, x, value, slope",
    [
        (aklt, 1.0, -2 / 3, 2 / 3),  # all pairs have spin 0 or 1, in shares of 1/3 and 2/3: (S.S)^2 is 4 or 1
        (lambda p: uniform.j1j2(1.0, p), 0.5, -0.375, 0.0),
        (lambda p: uniform.j1j2(p, 0.5), 1.0, -0.375, -0.375),
        (uniform.xxz, -3.0, -0.75, 0.25),
        (lambda j: uniform.ising(1.0, j=j), 0.0, -1.0, 0.0),
    ],
)
@pytest.mark.sampled(2)
def test_exact_ground_states_of_small_bonds(model, x, value, slope):
    found = qad.value_and_grad(lambda x: uniform.ground_energy(model(x)))(x)
    assert found == (pytest.approx(value, abs=1e-9), pytest.approx(slope, abs=1e-6))


@pytest.mark.slow
def test_second_derivatives_where_bonds_were_cut():
    """Tails of small weights are cut without harm; where a state has none, new directions open, and are refused."""
    for g in (0.3, 5.0):
        assert qad.grad(qad.grad(default))(g) == pytest.approx(qad.grad(qad.grad(exact))(g, 1.0), abs=1e-6)
    for second in (
        qad.grad(qad.grad(lambda j: default(1.0, j))),
        lambda j: qad.jvp(qad.grad(lambda j: default(1.0, j)), (j,), (1.0,)),
        lambda j: qad.jvp(lambda j: qad.jvp(lambda j: default(1.0, j), (j,), (1.0,))[1], (j,), (1.0,)),
    ):
        with pytest.raises(ArgumentError, match="second derivatives"):
            second(0.0)
