"""Derivatives of evolutions of both kinds of chains, against differences and those of the ordinary states."""

import numpy as np
import pytest

import qad
from qad.mps import MPS, energy, entanglement_entropy, evolve
from qad.mps.evolve import adjoint

KINDS = {  # an operator of a coupling, that of x = 0.7, and how a state is made
    "dense": (lambda x: qad.mps.xxz(6, x), 6, {}),
    "Sz": (lambda x: qad.mps.xxz(6, x), 6, {"conserve": "Sz", "sector": 2}),
    "N, Sz": (
        lambda x: qad.mps.hubbard(4, x, 2.0),
        4,
        {"conserve": ("N", "Sz"), "sector": (3, 1), "kind": "electron"},
    ),
    "parity": (lambda x: qad.mps.blbq(4, x), 4, {"conserve": "parity", "sector": 1, "kind": "spin-1"}),
}
METHODS = ("tebd", "tebd4", "tdvp", "tdvp2")


def loss(x, time, psi, model, method="tebd", steps=2, **how):
    """An energy, an entropy and what the norm gained."""
    final = evolve(psi, model(x), time, steps, method, **how)
    return energy(final.state, model(0.7)) + entanglement_entropy(final.state, len(psi) // 2) + 0.3 * final.log_norm


@pytest.mark.parametrize("imaginary", [False, True])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.sampled(1)
def test_against_differences_and_states_without_charges(kind, method, imaginary):
    """By a coupling, the time and the state, which is not normalised."""
    model, n, how = KINDS[kind]
    psi = 1.5 * MPS.random(n, 6, seed=2, **how)
    args = np.array(0.4), np.array(0.3), psi
    of = {"model": model, "method": method, "imaginary": imaginary}
    qad.check_grads(lambda *args: loss(*args, **of), args, order=1, modes=["rev"])
    value, slopes = qad.value_and_grad(loss, (0, 1))(*args, **of)
    other, expected = qad.value_and_grad(loss, (0, 1))(*args[:2], psi.without_symmetry(), **of)
    assert value == pytest.approx(loss(*args, **of), abs=1e-10) and value == pytest.approx(other, abs=1e-10)
    np.testing.assert_allclose(slopes, expected, rtol=0, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("bond", [5, 64])
@pytest.mark.parametrize("method", ["tebd", "tebd4", "tdvp2"])
def test_sectors_that_open(method, bond):
    """From a product state on, cut and uncut."""
    neel, of = MPS.product([0, 1] * 4, conserve="Sz"), {"model": lambda x: qad.mps.xxz(8, x), "method": method}
    slopes = qad.grad(loss, (0, 1))(0.4, 0.9, neel, steps=6, bond=bond, **of)
    expected = qad.grad(loss, (0, 1))(0.4, 0.9, neel.without_symmetry(), steps=6, bond=bond, **of)
    np.testing.assert_allclose(slopes, expected, rtol=0, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["tdvp", "tdvp2"])
@pytest.mark.parametrize("x", [0.0, 0.4])
@pytest.mark.parametrize("kind", ["dense", "Sz"])
def test_terms_beyond_neighbours(kind, x, method):
    """Their coupling may be zero; bonds get room for what they lead to.

    Of an ordinary state the derivative is that of the exponential, which errs as finer steps do.
    """
    psi = MPS.random(6, 3, seed=2, **KINDS[kind][2])
    args = np.array(x), np.array(0.3), psi
    of = {"model": lambda x: qad.mps.j1j2(6, 1.0, x), "method": method}
    qad.check_grads(lambda *args: loss(*args, psi, **of), args[:2], order=1, modes=["rev"])
    slopes, expected = (qad.grad(loss, (0, 1))(*args[:2], state, **of) for state in (psi, psi.without_symmetry()))
    np.testing.assert_allclose(slopes, expected, rtol=0, atol=1e-5)


def test_states_are_stored_at_distances_that_fit_into_memory(monkeypatch):
    model, n, how = KINDS["Sz"]
    psi = MPS.random(n, 6, seed=2, **how)
    first = qad.grad(loss, (0, 2))(0.4, 0.5, psi, model, steps=6)
    monkeypatch.setattr(adjoint, "MEMORY", 1)
    again = qad.grad(loss, (0, 2))(0.4, 0.5, psi, model, steps=6)
    qad.tree_map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-10), first, again)


def test_a_term_that_breaks_the_symmetry_is_not_seen():
    """To first order the state leaves its sector, where no number that conserves sees it."""
    field = sum((qad.mps.OpSum(6).add(1.0, "X", i) for i in range(6)), qad.mps.OpSum(6)).mpo()
    psi = MPS.random(6, 6, seed=2, conserve="Sz")

    def model(x):
        return qad.mps.xxz(6, 0.7) + (x - 0.7) * field

    found, expected = (qad.grad(loss)(0.7, 0.3, state, model, "tebd") for state in (psi, psi.without_symmetry()))
    assert found == 0.0 and expected == pytest.approx(0.0, abs=1e-9)


def test_a_coupling_that_is_zero_fills_directions_that_carry_no_weight():
    """As of a plain state: an adjoint state has bonds of its own, and the final one gets room for what changes do."""
    psi = MPS.product([0, 1] * 3, conserve="Sz")
    current = qad.mps.OpSum(6).add(1j, "Sp", 2, "Sm", 3).add(-1j, "Sm", 2, "Sp", 3)

    def flow(x, psi, method):
        return energy(evolve(psi, x * qad.mps.xxz(6, 1.0), 0.3, 3, method, bond=8).state, current)

    for method in ("tebd", "tdvp2"):
        found, exact = (qad.grad(flow)(0.0, state, method) for state in (psi, psi.without_symmetry()))
        assert abs(exact) > 0.1 and found == pytest.approx(exact, abs=1e-8)
