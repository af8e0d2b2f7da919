"""Operators on a few sites of a state, and exchanges, against dense states."""

import itertools

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, ShapeError
from qad.mps import MPS

RNG = np.random.default_rng(3)
U = np.linalg.qr(RNG.normal(size=(8, 8)) + 1j * RNG.normal(size=(8, 8)))[0]
CNOT = np.eye(4)[[0, 1, 3, 2]]


def on_sites(u, sites, dense):
    """A dense state after an operator on some of its axes."""
    k = len(sites)
    acted = np.tensordot(u.reshape([dense.shape[s] for s in sites] * 2), dense, (range(k, 2 * k), sites))
    return np.moveaxis(acted, range(k), sites)


@pytest.mark.parametrize("sites", [(2,), (0, 1), (3, 1), (4, 0), (4, 1, 2), (0, 2, 1)], ids=str)
def test_operators_act_as_on_dense_states(sites):
    psi, u = MPS.random(5, 4, seed=1), U[: 2 ** len(sites), : 2 ** len(sites)]
    found = psi.apply(u if len(sites) != 2 else u.reshape((2,) * 4), sites)
    np.testing.assert_allclose(found.to_dense(), on_sites(u, sites, psi.to_dense()), atol=1e-13)
    assert found.bond <= 4  # what a chain of five sites needs


def test_names_of_operators_of_spins():
    psi = MPS.random(3, 2, seed=1)
    np.testing.assert_array_equal(psi.apply("Sp", 1).to_dense()[:, 0], psi.to_dense()[:, 1])
    with pytest.raises(ArgumentError, match="acts on one site"):
        psi.apply("Sz", (0, 1))
    with pytest.raises(ArgumentError, match="did you mean 'Sp'"):
        psi.apply("S+", 0)


def test_sites_of_different_dimensions():
    psi = MPS([RNG.normal(size=s) for s in ((1, 2, 3), (3, 3, 2), (2, 2, 1))])
    u = RNG.normal(size=(6, 6))
    np.testing.assert_allclose(psi.apply(u, (2, 1)).to_dense(), on_sites(u, (2, 1), psi.to_dense()), atol=1e-12)
    np.testing.assert_allclose(psi.swap(0, 2).to_dense(), psi.to_dense().swapaxes(0, 2), atol=1e-12)
    with pytest.raises(ShapeError, match="dimensions 2 and 3"):
        psi.swap(0, 1)


def test_what_is_cut_off_is_what_the_norm_lacks():
    psi = MPS.random(6, 3, seed=2)
    small = psi.apply(U[:4, :4] @ U[:4, :4].conj().T + CNOT, (2, 3)).normalized()
    entangled = np.linalg.qr(U[:4, :4])[0]
    whole, cut = small.apply(entangled, (2, 3)), small.apply(entangled, (2, 3), bond=2)
    assert cut.bond == 2
    lost = qad.mps.norm2(whole) - qad.mps.norm2(cut)
    assert whole.norm() == pytest.approx(1)
    assert lost == pytest.approx(np.linalg.norm(whole.to_dense() - cut.to_dense()) ** 2, rel=1e-9)


def test_states_of_definite_charge():
    psi = MPS.random(6, 6, conserve="Sz", seed=4)
    dense = psi.without_symmetry().to_dense()
    exchanged = psi.swap(4, 1)
    assert exchanged.sector == 0
    np.testing.assert_allclose(exchanged.without_symmetry().to_dense(), dense.swapaxes(1, 4), atol=1e-14)
    np.testing.assert_array_equal(psi.conj().without_symmetry().to_dense(), dense.conj())
    turned = psi.apply(np.diag([1j, 1.0]), 3).without_symmetry().to_dense()
    np.testing.assert_allclose(turned, on_sites(np.diag([1j, 1.0]), (3,), dense), atol=1e-15)
    with pytest.raises(ArgumentError, match="does not conserve"):
        psi.apply(CNOT, (0, 1))


@pytest.mark.parametrize("sites", [(1,), (2, 3), (4, 1), (4, 1, 2)], ids=str)
def test_operators_that_keep_the_parity_along_x(sites):
    psi, u = MPS.random(6, 6, conserve="parity x", seed=4), U[: 2 ** len(sites), : 2 ** len(sites)]
    u = u + u[::-1, ::-1]  # what commutes with the flip of all spins
    dense = psi.without_symmetry().to_dense()
    found = psi.apply(u, sites)
    assert found.sector == 0
    np.testing.assert_allclose(found.without_symmetry().to_dense(), on_sites(u, sites, dense), atol=1e-14)


def test_exchanges_along_x():
    for phys in (2, 3):
        psi = MPS.random(5, 6, phys, conserve="parity x", sector=1, seed=4)
        dense = psi.without_symmetry().to_dense()
        for sites in ((1, 2), (4, 1)):
            found = psi.swap(*sites).without_symmetry().to_dense()
            np.testing.assert_allclose(found, dense.swapaxes(*sites), atol=1e-14)
    with pytest.raises(ArgumentError, match="does not conserve 'parity x'"):
        psi.apply(np.diag([1.0, 2.0, 3.0]), 0)


def test_derivatives_by_state_and_operator():
    other = MPS.random(4, 4, seed=7)
    qad.check_grads(lambda psi, u: qad.abs2(psi.apply(u, (2, 0)) @ other), (MPS.random(4, 3, seed=6), U[:4, :4]))


@pytest.mark.parametrize(
    "operator, sites, match",
    [
        (CNOT, (0, 4), "sites are whole numbers from 0 to 3"),
        (CNOT, (1, 1), "each once"),
        (CNOT, (), "one or more"),
        (CNOT, 1, r"shape \(4, 4\) does not fit"),
        (np.eye(2), (0, 1), r"\(4, 4\) or \(2, 2, 2, 2\)"),
        (np.eye(2), 1.5, "whole numbers"),
    ],
    ids=str,
)
def test_bad_input(operator, sites, match):
    with pytest.raises((ArgumentError, ShapeError), match=match):
        MPS.random(4, 2).apply(operator, sites)


def test_a_derivative_that_a_cut_would_miss_is_refused():
    x, turn = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[0.0, -1.0], [1.0, 0.0]])
    both, cnot = np.kron(x, x), np.eye(4)[[0, 1, 3, 2]]
    up, H = MPS.product([0, 0, 0]), qad.mps.OpSum(3).add(1.0, "Y", 0, "X", 1).add(1.0, "X", 0, "X", 1).mpo()

    def entangled(angle):
        return qad.mps.energy(up.apply(np.cos(angle) * np.eye(4) - 1j * np.sin(angle) * both, (0, 1)), H)

    def turned(angle):
        return qad.mps.energy(up.apply(np.cos(angle) * np.eye(2) + np.sin(angle) * turn, 0).apply(cnot, (0, 1)), H)

    for loss in (entangled, turned):
        slope = (loss(0.3 + 1e-5) - loss(0.3 - 1e-5)) / 2e-5
        assert abs(slope) > 0.1
        assert abs(qad.grad(loss)(0.3) - slope) < 1e-8
        with pytest.raises(ArgumentError, match="carry no weight"):
            qad.grad(loss)(0.0)
    state = MPS.random(5, 3, seed=1)  # an operator of one term, but bonds that have room for every one
    found = qad.grad(lambda a: qad.mps.norm(state.apply(np.eye(4) + a * both, (0, 1), bond=3)))(0.0)
    assert found == pytest.approx((state @ state.apply(both, (0, 1))).real, rel=1e-12)


def test_a_derivative_of_more_terms_than_the_operator_has():
    """exp(i a XX) has two terms, its product with exp(i b YY) four: at b = 0 the others have no weight yet."""
    rng, y = np.random.default_rng(3), np.array([[0, -1j], [1j, 0]])
    xx, yy = np.eye(4)[::-1], np.kron(y, y)

    def slopes(bonds):
        psi = MPS([rng.normal(size=(left, 2, right)) for left, right in itertools.pairwise(bonds)]).normalized()
        dense, other = psi.to_dense(), rng.normal(size=(2,) * 6)

        def loss(b, chain):
            gate = (np.cos(0.3) * np.eye(4) + 1j * np.sin(0.3) * xx) @ (np.cos(b) * np.eye(4) + 1j * np.sin(b) * yy)
            if chain:
                return qad.abs2(np.sum(other * psi.apply(gate, (2, 3)).to_dense()))
            return qad.abs2(np.einsum("ab,ibj,iaj->", gate, dense.reshape(4, 4, 4), other.reshape(4, 4, 4)))

        return qad.grad(loss)(0.0, False), qad.grad(loss)(0.0, True)

    one, two = slopes((1, 2, 4, 4, 4, 2, 1))
    assert two == pytest.approx(one, rel=1e-9)
    with pytest.raises(ArgumentError, match="bond 3 has directions that carry no weight"):
        slopes((1, 2, 4, 2, 4, 2, 1))


def test_gates_one_after_the_other_from_the_right():
    """The terms of the gate fill what stands left of a bond, but not what stands right of it."""
    xx, other = np.eye(4)[::-1], np.random.default_rng(3).normal(size=(2, 2, 2))
    tilted = MPS.product([np.array([1.0, 0.2 * k + 0.3]) for k in range(3)], dtype=float)

    def loss(angles, chain):
        psi = tilted if chain else tilted.to_dense()
        for angle, sites in zip(angles, ((1, 2), (0, 1)), strict=True):
            gate = np.cos(angle) * np.eye(4) + 1j * np.sin(angle) * xx
            psi = psi.apply(gate, sites) if chain else on_sites(gate, sites, psi)
        return qad.abs2(np.sum(other * (psi.to_dense() if chain else psi)))

    for derivative in (qad.grad, qad.hessian):
        found, right = (derivative(lambda a, c=chain: loss(a, c))(np.array([0.4, 0.7])) for chain in (True, False))
        np.testing.assert_allclose(found, right, rtol=1e-9)
