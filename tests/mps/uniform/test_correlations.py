"""Correlations of infinite chains by distance and by momentum, beside exact ones and those of long rings."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, BatchError, ShapeError
from qad.mps import uniform
from qad.mps.uniform import UniformMPS

UP, ZERO, DOWN = np.array([[0, 2**0.5], [0, 0]]), np.diag([-1.0, 1.0]), np.array([[0, 0], [-(2**0.5), 0]])
SITE = np.stack([UP, ZERO, DOWN], axis=1)
AKLT = UniformMPS([SITE], kind="spin-1")
TURN = np.diag(np.exp(1j * np.pi * np.array([1, 0, -1])))
SZ = np.diag([0.5, -0.5])


def test_aklt_by_distance():
    """I. Affleck, T. Kennedy, E. H. Lieb, H. Tasaki, Commun. Math. Phys. 115, 477 (1988)."""
    found = uniform.correlations(AKLT, "Sz", "Sz", 6)[0]
    np.testing.assert_allclose(found, [2 / 3, *(4 / 3 * (-1 / 3) ** np.arange(1, 7))], atol=1e-14)
    np.testing.assert_allclose(uniform.correlations(AKLT, "Sp", "Sm", 6)[0, 1:], 2 * found[1:], atol=1e-14)
    hidden = uniform.correlations(AKLT, "Sz", "Sz", 40, string=TURN)[0]
    np.testing.assert_allclose(hidden[1:], -4 / 9, atol=1e-12)


@pytest.mark.parametrize("cell", [1, 2])
def test_aklt_by_momentum(cell):
    """``2/3 + 8/3 sum_r (-1/3)**r cos(q r)``, at all momenta, those of the cell too."""
    psi, q = UniformMPS([3.0 * SITE] * cell, kind="spin-1"), np.array([0.0, 0.4, np.pi / 2, -2.0, np.pi, 2 * np.pi, 9])
    found = uniform.structure_factor(psi, "Sz", "Sz", q)
    np.testing.assert_allclose(found, 2 * (1 - np.cos(q)) / (5 + 3 * np.cos(q)), atol=1e-12)


def random_state(cell=2):
    rng = np.random.default_rng(3)
    bonds, phys = [3, 2, 3][:cell], [2, 3, 2][:cell]
    shapes = zip(bonds, phys, [*bonds[1:], bonds[0]], strict=True)
    return UniformMPS([rng.normal(size=s) + 1j * rng.normal(size=s) for s in shapes])


@pytest.mark.parametrize("cell", [1, 2, 3])
def test_against_a_long_ring(cell):
    """Any operators on sites of unequal dimension, and any momenta: nothing of the sum is left out."""
    psi, rng, n = random_state(cell), np.random.default_rng(1), 90
    one, other, string = ([rng.normal(size=(d, d)) + 1j * rng.normal(size=(d, d)) for d in psi.phys] for _ in range(3))
    ring = qad.mps.MPS(psi.tensors * (n // cell)).opened()
    every = [[m for _ in range(n // cell) for m in x] for x in (one, other, string)]
    middle = n // 2 - n // 2 % cell
    table = qad.mps.correlations(ring, every[0], every[1], string=every[2])
    found = uniform.correlations(psi, one, other, 7, string=string)
    np.testing.assert_allclose(found, [table[i, i : i + 8] for i in range(middle, middle + cell)], atol=1e-7)
    means = [qad.mps.local_expectations(ring, x) for x in every[:2]]
    table = qad.mps.correlations(ring, every[0], every[1]) - np.outer(*means)
    q, places = np.array([0.0, 0.7, 2 * np.pi / cell, np.pi, -2.0]), np.arange(n)
    rows = range(middle, middle + cell)
    sums = [sum((np.exp(1j * k * (i - places)) * table[i]).sum() for i in rows) / cell for k in q]
    found = uniform.structure_factor(psi, one, other, q, connected=True)
    np.testing.assert_allclose(found, sums, atol=1e-6)
    inside = np.abs(np.exp(1j * q * cell) - 1) > 1e-9
    np.testing.assert_allclose(uniform.structure_factor(psi, one, other, q[inside]), found[inside], atol=1e-12)


def test_strings_of_fermions():
    """An orbital on both sides of a filled site: ``<c_0^+ c_2> = 1/2``, ``n(q) = (2 + cos 2q) / 3``."""
    amplitudes = np.zeros((2, 2, 2))
    amplitudes[1, 1, 0], amplitudes[0, 1, 1] = -(2**-0.5), 2**-0.5
    psi = UniformMPS(qad.mps.MPS.from_dense(amplitudes).tensors, kind="fermion")
    found = uniform.correlations(psi, "Cdag", "C", 4)
    np.testing.assert_allclose(found, [[0.5, 0, 0.5, 0, 0], [1, 0, 0, 0, 0], [0.5, 0, 0, 0, 0]], atol=1e-12)
    np.testing.assert_allclose(uniform.correlations(psi, "C", "Cdag", 2)[0], [0.5, 0, -0.5], atol=1e-12)
    q = np.array([0.0, 0.5, 2 * np.pi / 3, np.pi, -2.0])
    np.testing.assert_allclose(uniform.structure_factor(psi, "Cdag", "C", q), (2 + np.cos(2 * q)) / 3, atol=1e-12)


@pytest.mark.slow
def test_fermions_on_a_bond_with_a_flux():
    """Strings, momentum distributions, and the wave number of what carries a charge; free fermions."""
    t, u, phase = 1.0, 0.1, 0.4
    H = uniform.UniformOpSum(2, "fermion")
    H = H.add(-t * np.exp(1j * phase), "Cdag", 0, "C", 1).add(-u * np.exp(1j * phase), "Cdag", 1, "C", 2)
    state = uniform.ground_state(H + H.dagger(), 8, 2, conserve="N", sector=1, starts=1).state
    k = 2 * np.pi * np.arange(200) / 200
    hop = -t * np.exp(1j * phase) - u * np.exp(-1j * (phase + k))  # from the second site of a cell to the first
    filled = np.stack([hop / abs(hop), -np.ones(200)]) / 2**0.5

    def exact(i, j):
        return np.mean(filled[i % 2].conj() * filled[j % 2] * np.exp(1j * k * (j // 2 - i // 2)))

    found = uniform.correlations(state, "Cdag", "C", 3)
    np.testing.assert_allclose(found, [[exact(i, i + r) for r in range(4)] for i in range(2)], atol=1e-5)
    q, far = np.array([0.3, np.pi, -2.0]), range(-60, 61)
    sums = [sum(np.exp(-1j * p * r) * exact(i, i + r) for i in range(2) for r in far) / 2 for p in q]
    for psi in (state, state.without_symmetry()):
        np.testing.assert_allclose(uniform.structure_factor(psi, "Cdag", "C", q), sums, atol=1e-5)
    np.testing.assert_allclose(uniform.correlation_lengths(state, 1, charge=-1)[1], -phase, atol=1e-6)
    np.testing.assert_allclose(uniform.correlation_lengths(state, 1, charge=1)[1], phase, atol=1e-6)


def test_ferromagnets_and_products():
    up = UniformMPS([np.array([1.0, 0.0]).reshape(1, 2, 1)])
    np.testing.assert_array_equal(uniform.correlations(up, "Sz", "Sz", 2), [[0.25] * 3])
    assert uniform.structure_factor(up, "Sz", "Sz", [1.0]) == 0
    assert uniform.structure_factor(up, "Sz", "Sz", [0.0], connected=True) == 0
    assert uniform.structure_factor(up, "Sz", "Sz", []).shape == (0,)
    for q in (0.0, 2 * np.pi):
        with pytest.raises(ArgumentError, match=f"at momentum {q:.6g} .* connected=True"):
            uniform.structure_factor(up, "Sz", "Sz", [1.0, q])
    np.testing.assert_allclose(uniform.structure_factor(up, "Sx", "Sx", [0.0, 2.0]), 0.25)


@pytest.mark.sampled(1)
def test_derivatives():
    psi, m = UniformMPS.random(2, cell=2, seed=2), np.random.default_rng(1).normal(size=(2, 2))
    qad.check_grads(lambda psi: uniform.correlations(psi, "C", "Cdag", 2, kind="fermion"), (psi,), order=1)
    qad.check_grads(lambda m: uniform.correlations(psi, m, m.T, 2, string=m), (m,), order=1)
    qad.check_grads(lambda psi, m: uniform.structure_factor(psi, m, m.T, [0.0], connected=True), (psi, m), order=1)
    qad.check_grads(lambda m: uniform.structure_factor(psi, m, m.T, [0.3]), (m,), order=1)


@pytest.mark.slow
def test_second_derivatives():
    psi, m = UniformMPS.random(2, cell=2, seed=2), np.random.default_rng(1).normal(size=(2, 2))
    qad.check_grads(lambda psi: uniform.correlations(psi, m, m.T, 3), (psi,), order=2)
    qad.check_grads(lambda psi: uniform.structure_factor(psi, m, m.T, [0.3]), (psi,), order=2)


@pytest.mark.parametrize("wrong, match", [
    (lambda psi: uniform.correlations(psi, "Cdag", "N", 2, kind="fermion"), "not both fermionic"),
    (lambda psi: uniform.correlations(psi, "Sz+", "Sz", 2), "did you mean"),
    (lambda psi: uniform.correlations(psi, "Sz", "Sz", -1), "distance must be a whole number"),
    (lambda psi: uniform.correlations(psi, "Sz", "Sz", 2, string=np.eye(3)), "does not fit"),
    (lambda psi: uniform.structure_factor(psi, "Sz", "Sz", 0.3), "a row of real numbers"),
    (lambda psi: uniform.structure_factor(psi, "Sz", "Sz", [0.3j]), "a row of real numbers"),
    (lambda psi: uniform.structure_factor(psi, "Sz", "Sz", [0.3, np.inf]), "momenta.*is inf"),
    (lambda psi: uniform.correlations(qad.mps.MPS(psi.tensors), "Sz", "Sz", 1), "a UniformMPS is needed"),
])  # fmt: skip
def test_bad_input(wrong, match):
    with pytest.raises((ArgumentError, ShapeError), match=match):
        wrong(UniformMPS.random(2, cell=2))


def test_sums_of_states_and_batches_are_refused():
    both = UniformMPS([np.stack([np.diag([1.0, 0.0]), np.diag([0.0, 1.0])], axis=1)])
    with pytest.raises(ArgumentError, match="sum of several"):
        uniform.correlations(both, SZ, SZ, 1)
    with pytest.raises(BatchError, match="loop over the examples"):
        qad.vmap(lambda t: uniform.correlations(UniformMPS([t]), SZ, SZ, 1))(np.ones((2, 2, 2, 2)))
