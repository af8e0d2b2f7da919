"""Finite lattices with charges and fermions against matrices of Jordan and Wigner: energies, gradients, searches."""

import numpy as np
import pytest

import qad
from qad import peps
from qad.core.errors import ArgumentError, ShapeError
from qad.peps import finite
from qad.peps.models import DIAGONALS
from tests.peps.fermions import dense, lowest_of_hubbard

SPINLESS = peps.fermions(1.0, delta=0.7, v=0.5, mu=0.8)
ELECTRONS = peps.hubbard(1.0, 4.0, v=0.3, t2=0.2, mu=0.5, h=0.3)
TJ = peps.tj(1.0, 0.5, t2=0.2, mu=0.5, h=0.3)
XXZ = peps.Model(peps.xxz(0.6, h=0.2).terms, "spin-1/2")
ISING = peps.Model(peps.ising(1.3).terms, "spin-1/2")
LATTICES = {
    "fermions, even": (SPINLESS, None, [["empty"] * 3] * 2, False),
    "fermions, odd": (SPINLESS, None, [["full", "empty", "full"], ["empty", "full", "empty"]], False),
    "nine fermions, odd": (SPINLESS, None, [["full", "empty", "full"]] * 2 + [["full", "empty", "empty"]], False),
    "fermions on a cylinder": (SPINLESS, None, [["full", "empty", "full"], ["empty", "full", "full"]], True),
    "fermions that are counted": (
        peps.fermions(1.0, v=1.0),
        "N",
        [["full", "empty"], ["empty", "full"], ["full"] * 2],
        False,
    ),
    "electrons": (ELECTRONS, ("N", "Sz"), [["up", "down"], ["down", "up"]], False),
    "electrons, odd": (ELECTRONS, ("N", "Sz"), [["up", "full"], ["down", "up"]], False),
    "electrons by their parity": (ELECTRONS, "parity", [["up", "down"], ["empty", "up"]], False),
    "electrons on a ring": (ELECTRONS, ("Sz", "N"), [["up", "down", "up"]], True),
    "t-J": (TJ, ("N", "Sz"), [["up", "down"], ["empty", "up"]], False),
    "spins": (XXZ, "Sz", [["up", "down", "up"], ["down", "up", "down"]], False),
    "spins on a cylinder": (XXZ, "Sz", [["up", "down", "up"], ["down", "up", "up"]], True),
    "spins along x": (ISING, "parity x", [[0, 1, 0], [0, 0, 0]], False),
}


def made(name, bond, dtype=complex, seed=0):
    model, conserve, states, cylinder = LATTICES[name]
    shape = len(states), len(states[0])
    return finite.FinitePEPS.random(
        *shape, bond, dtype=dtype, seed=seed, cylinder=cylinder, kind=model.kind, conserve=conserve, states=states
    )


def mean(h, psi):
    psi = psi.reshape(-1)
    return np.sum(psi.conj() * (h @ psi)).real / np.sum(psi.conj() * psi).real


@pytest.mark.parametrize("name", LATTICES)
@pytest.mark.sampled(4)
def test_energies_and_gradients_are_those_of_matrices_with_strings(name):
    model, _, states, cylinder = LATTICES[name]
    state, h = made(name, 3), dense(model, (len(states), len(states[0])), cylinder)
    assert finite.energy(state, model, 256) == pytest.approx(mean(h, state.to_dense()), abs=1e-12)
    value, slope = qad.value_and_grad(lambda s: mean(h, s.to_dense()))(state)
    found, gradient = qad.value_and_grad(finite.energy)(state, model, 256)
    assert found == pytest.approx(value, abs=1e-12)
    for x, y in zip(sum(slope.tensors, ()), sum(gradient.tensors, ()), strict=True):
        np.testing.assert_allclose(x.data, y.data, atol=1e-11 * max(1.0, np.abs(x.data).max()))


@pytest.mark.parametrize("name", ["electrons", "t-J"])
@pytest.mark.sampled(1)
def test_variances_are_those_of_matrices(name):
    model, _, states, cylinder = LATTICES[name]
    model = peps.Model([t for t in model.terms if t.sites not in DIAGONALS], model.kind)
    state, h = made(name, 2), dense(model, (len(states), len(states[0])), cylinder)
    psi = state.to_dense().reshape(-1)
    expected = mean(h @ h, psi) - mean(h, psi) ** 2
    assert finite.variance(state, model, 256) == pytest.approx(expected, rel=1e-10)


def test_variances_where_a_sector_of_the_boundary_vanishes():
    filled = [[1, 0], [0, 1]]
    state = finite.FinitePEPS.random(
        2, 2, 3, kind="fermion", conserve="N", states=filled, dtype=float, seed=4, cylinder=True
    )
    model = peps.fermions(1.0, v=0.7)
    h, psi = dense(model, (2, 2), True), state.to_dense().reshape(-1)
    expected = mean(h @ h, psi) - mean(h, psi) ** 2
    assert finite.variance(state, model, 64) == pytest.approx(expected, rel=1e-10)


def test_states_have_the_totals_of_their_product():
    n, sz = (np.array(qad.mps.site("electron").charges[name]) for name in ("N", "Sz"))
    psi = made("electrons, odd", 4).to_dense()
    for numbers, total in ((n, 5), (sz, 1)):
        sums = sum(numbers.reshape([-1 if k == axis else 1 for k in range(4)]) for axis in range(4))
        assert np.abs(psi[sums != total]).max() == 0 and np.abs(psi[sums == total]).max() > 0
    product = made("electrons, odd", 1).to_dense()
    assert np.flatnonzero(product).tolist() == [np.ravel_multi_index((1, 3, 2, 1), (4,) * 4)]


def test_cut_boundaries_are_near_and_have_the_gradient_of_what_they_compute():
    states = [["full", "empty", "full"], ["empty", "full", "empty"], ["full", "full", "empty"]]
    at = [
        finite.FinitePEPS.random(3, 3, 2, dtype=float, seed=seed, kind="fermion", conserve="N", states=states)
        for seed in (0, 1)
    ]
    model = peps.fermions(1.0, v=1.0)

    def along(x):
        moved = [[a + 0.1 * x * b for a, b in zip(*rows, strict=True)] for rows in zip(*at, strict=True)]
        return finite.energy(finite.FinitePEPS(moved, at[0].conserved, "fermion"), model, chi=12)

    assert along(0.0) == pytest.approx(finite.energy(at[0], model, 64), abs=1e-2)
    h = 1e-3
    assert qad.grad(along)(0.0) == pytest.approx((along(h) - along(-h)) / (2 * h), rel=1e-5)


def test_operators_have_the_names_of_the_kind_of_site():
    state = made("electrons, odd", 3)
    assert np.sum(finite.local_expectations(state, "N", 81)) == pytest.approx(5)
    number = qad.mps.site("electron").operators["N"]
    assert finite.expectation(state, "N", [(0, 1)], 81) == pytest.approx(finite.energy(state, [(number, [(0, 1)])], 81))
    assert np.sum(finite.local_expectations(state, "Sz", 81)) == pytest.approx(0.5)
    plain = made("spins on a cylinder", 3, float)
    np.testing.assert_allclose(plain.without_symmetry().to_dense(), plain.to_dense(), atol=1e-14)
    assert (np.sum(1 - 2 * finite.sample(plain, 50, 81), axis=(1, 2)) == 2).all()


def test_samples_of_fermions_have_the_probabilities_of_the_state():
    state = made("t-J", 2)
    exact = np.abs(state.to_dense().reshape(-1)) ** 2
    exact /= exact.sum()
    shots = finite.sample(state, 150, 16, seed=1)
    counts = np.bincount(np.ravel_multi_index(shots.reshape(-1, 4).T, (3,) * 4), minlength=81)
    there = exact > 1e-12
    assert counts[~there].sum() == 0 and there.sum() > 5
    chi_squared = np.sum((counts - 150 * exact)[there] ** 2 / (150 * exact)[there])
    assert chi_squared < there.sum() - 1 + 5 * np.sqrt(2 * there.sum())


def test_couplings_have_derivatives_and_all_have_second_ones():
    state, double = made("electrons, odd", 3), qad.mps.site("electron").operators["NupNdn"]
    slope = qad.grad(lambda u: finite.energy(state, peps.hubbard(1.0, u), 81))(2.0)
    assert slope == pytest.approx(np.sum(finite.local_expectations(state, double, 81)), abs=1e-10)
    row = finite.FinitePEPS.random(1, 3, 2, kind="fermion", states=[["full", "empty", "full"]])

    def loss(tensors, delta):
        moved = finite.FinitePEPS([tensors], row.conserved, "fermion")
        return finite.energy(moved, peps.fermions(1.0, delta=delta, v=0.5, mu=0.3))

    qad.check_grads(loss, (list(row.tensors[0]), 0.7))


@pytest.mark.slow
def test_the_ground_state_of_four_electrons_is_found():
    model = peps.hubbard(1.0, 8.0)
    start = finite.FinitePEPS.random(
        2, 2, 6, dtype=float, kind="electron", conserve=("N", "Sz"), states=[["up", "down"], ["down", "up"]]
    )
    found = qad.optimize.minimize(lambda state: finite.energy(state, model, 36), start, maxiter=300)
    assert found.fun == pytest.approx(lowest_of_hubbard(2, 2, (2, 2), 8.0), abs=1e-8)


def test_the_ground_state_of_pairing_fermions_is_found():
    model = peps.fermions(1.0, delta=1.0, mu=2.0)
    start = finite.FinitePEPS.random(2, 2, 4, kind="fermion", states=[["full"] * 2] * 2)
    found = qad.optimize.minimize(lambda state: finite.energy(state, model, 16), start, maxiter=200)
    assert found.fun == pytest.approx(np.linalg.eigvalsh(dense(model, (2, 2)))[0], abs=1e-8)


def test_what_does_not_fit_is_refused():
    state = made("electrons", 2)
    with pytest.raises(ArgumentError, match=r"the term on \(\(0, 0\),\) changes Sz by -?1"):
        finite.expectation(state, qad.mps.site("electron").operators["Sx"], [(0, 0)])
    with pytest.raises(ArgumentError, match="has no operator 'C'"):
        finite.local_expectations(state, "C")
    with pytest.raises(ArgumentError, match="give states=, 2 rows of 2"):
        finite.FinitePEPS.random(2, 2, 2, kind="electron")
    with pytest.raises(ArgumentError, match="numbers 0 to 2"):
        finite.FinitePEPS.random(1, 1, 2, kind="t-J", states=[[3]])
    with pytest.raises(ArgumentError, match="fermions on a lattice are no arrays"):
        state.without_symmetry()
    with pytest.raises(ArgumentError, match=r"site \(0, 0\) is no neutral SymTensor"):
        finite.FinitePEPS(made("spins", 1).without_symmetry(), made("spins", 1).conserved)
    with pytest.raises(ArgumentError, match="physical leg"):
        finite.FinitePEPS(made("electrons", 2).tensors, made("electrons, odd", 2).conserved, "electron")
    with pytest.raises(ShapeError, match="do not fit"):
        finite.FinitePEPS([state.tensors[0][::-1], state.tensors[1]], made("electrons", 2).conserved, "electron")
