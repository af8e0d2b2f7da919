"""Optimisers at their defaults, on energies whose minima are known."""

import numpy as np
import pytest

import qad
from qad import mps, optimize
from tests.physics import exact, free

H = exact.dense(["spin-1/2"] * 6, exact.transverse(6, 0.8)).toarray()
LOW = np.linalg.eigvalsh(H)[:3]


def quotient(v):
    """The energy of a vector of any norm."""
    return np.vdot(v, H @ v).real / np.vdot(v, v).real


START = np.random.default_rng(0).normal(size=64) + 1j * np.random.default_rng(1).normal(size=64)


def test_minimize():
    found = optimize.minimize(quotient, START)
    assert found.success and found.fun == pytest.approx(LOW[0], abs=1e-8)


def test_minimize_a_chain():
    """Its gauge is free, so that the search is a slow one."""
    ising = mps.ising(4, 0.8)
    found = optimize.minimize(lambda p: mps.energy(p, ising), mps.MPS.random(4, 4, seed=1))
    assert found.fun == pytest.approx(free.ising_energy(4, 0.8), abs=1e-6)


def test_adam():
    found = optimize.adam(lambda x: quotient(x), START / np.linalg.norm(START), 0.03)
    assert found.fun == pytest.approx(LOW[0], abs=1e-8)


def test_adam_steps():
    """A step of the default rate against each component of the gradient, which is ``2 (H - E) x`` of a unit vector."""
    init, update = optimize.adam_steps()
    x = START.real / np.linalg.norm(START.real)
    updates, _ = update(qad.grad(quotient)(x), init(x))
    np.testing.assert_allclose(updates, -0.01 * np.sign(H @ x - quotient(x) * x), atol=1e-5)


@pytest.mark.parametrize("manifold", [optimize.Stiefel(), optimize.Grassmann()])
def test_lowest_levels_together(manifold):
    frame = np.linalg.qr(np.random.default_rng(2).normal(size=(64, 3)))[0]
    found = optimize.minimize_on(lambda x: qad.tr(x.mT, H, x), frame, manifold=manifold)
    assert found.fun == pytest.approx(LOW.sum(), abs=1e-8)


def test_sphere_and_unitary():
    found = optimize.minimize_on(
        lambda v: (v @ H) @ v, START.real / np.linalg.norm(START.real), manifold=optimize.Sphere()
    )
    assert found.fun == pytest.approx(LOW[0], abs=1e-8)
    target = np.linalg.qr(START[:16].reshape(4, 4))[0]
    found = optimize.minimize_on(lambda u: qad.abs2(u - target).sum(), np.eye(4) + 0j, manifold=optimize.Unitary())
    assert found.fun == pytest.approx(0.0, abs=1e-9)


def test_natural_descent():
    ansatz = lambda t: qad.Circuit(1).ry(t[0], 0).rz(t[1], 0)
    energy = lambda t: ansatz(t).expectation(qad.PauliSum({"X": 0.6, "Z": 0.8}))
    found = optimize.natural_descent(energy, np.array([0.4, 0.3]), qad.circuit.metric(ansatz))
    assert found.fun == pytest.approx(-1.0, abs=1e-6)


def test_equations_and_fits():
    root = lambda a: optimize.root(lambda m: m - np.tanh(a * m), np.array(0.9))  # the mean field of Ising
    m = root(1.5)
    assert m == pytest.approx(np.tanh(1.5 * m), abs=1e-10) and m > 0.5
    slope = m * (1 - m * m) / (1 - 1.5 * (1 - m * m))
    assert qad.grad(root)(1.5) == pytest.approx(slope, abs=1e-8)
    t = np.linspace(0.0, 2.0, 9)
    data = 1.3 * np.exp(-0.7 * t)
    fit = optimize.least_squares(lambda p: p[0] * np.exp(-p[1] * t) - data, np.array([1.0, 1.0]))
    assert fit.params == pytest.approx([1.3, 0.7], abs=1e-7)
