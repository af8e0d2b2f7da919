"""Symmetric states against the plain ones that they are: numbers, derivatives, effective operators."""

import pickle

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, ShapeError
from qad.mps import MPS, energy, entanglement_entropy, expectation, log_norm2, norm, norm2, overlap
from qad.mps.charges.make import bond_sectors
from qad.mps.kernels.environments import past_left, past_right
from qad.mps.kernels.operators import operator_for
from qad.symmetric.tensor import bare
from tests.mps.charges.chains import CHAINS, random


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("name", CHAINS)
def test_numbers(name, dtype):
    psi, H = random(name, dtype)
    other = random(name, dtype, seed=2)[0]
    plain, beside = psi.without_symmetry(), other.without_symmetry()
    assert psi.dtype == dtype and psi.bond <= 7 and psi.phys == plain.phys
    assert norm(psi) == pytest.approx(1.0)
    np.testing.assert_allclose(overlap(psi, 3.0 * other), 3.0 * overlap(plain, beside), atol=1e-14)
    np.testing.assert_allclose(expectation(psi, H), expectation(plain, H), atol=1e-13)
    np.testing.assert_allclose(energy(2.0 * psi, H), energy(plain, H), atol=1e-13)
    np.testing.assert_allclose(norm2(2.0 * psi), 4.0)
    np.testing.assert_allclose(log_norm2(2.0 * psi), np.log(4.0))
    np.testing.assert_allclose(entanglement_entropy(psi), entanglement_entropy(plain), atol=1e-12)
    np.testing.assert_allclose(entanglement_entropy(psi, 2), entanglement_entropy(plain, 2), atol=1e-12)


@pytest.mark.parametrize("name", CHAINS)
def test_the_charge_is_what_the_sites_carry(name):
    psi = random(name)[0]
    dense, conserved = psi.without_symmetry().to_dense(), psi.conserved
    for place in np.argwhere(np.abs(dense) > 1e-14):
        total = conserved.symmetry.neutral
        for site, state in enumerate(place):
            total = conserved.symmetry.plus(total, conserved.charges[site][state])
        assert conserved.symmetry.shown(total) == CHAINS[name][2] == psi.sector


@pytest.mark.parametrize("name", CHAINS)
def test_gradient_of_the_energy(name):
    """It is that of the ordinary state, whose gradient has the same blocks."""
    psi, H = random(name)
    value, gradient = qad.value_and_grad(energy)(psi, H)
    expected = qad.value_and_grad(energy)(psi.without_symmetry(), H)
    np.testing.assert_allclose(value, expected[0], atol=1e-13)
    for one, two in zip(gradient.without_symmetry(), expected[1], strict=True):
        np.testing.assert_allclose(one, two, atol=1e-13)


@pytest.mark.slow
def test_second_order():
    psi, H = random("second neighbours")
    qad.check_grads(lambda x: energy(x, H), (psi,), order=2)


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.sampled(4)
def test_effective_operators(name, size):
    """Every matrix element between centres is that of the whole states."""
    psi, H = random(name)
    operator, tensors = operator_for(psi, H), list(psi.normalized().canonicalize(0))
    left, right = operator.edges(tensors)
    rights = [right]
    for tensor, w in zip(reversed(tensors), reversed(operator.sites), strict=True):
        rights.insert(0, past_right(rights[0], tensor, tensor, w))
    rng = np.random.default_rng(0)
    for site in range(len(H) - size + 1):
        centre = tensors[site] if size == 1 else qad.symmetric.tensordot(*tensors[site : site + 2], 1)
        apply, centre = operator.effective(site, size, left, rights[site + size], centre)
        x, y = (bare(centre.layout, rng.normal(size=centre.layout.size) + 0j) for _ in range(2))
        found = np.vdot(x.data, apply(y.data))
        expected = by_environments(left, operator.sites[site : site + size], rights[site + size], x, y)
        np.testing.assert_allclose(found, expected, atol=1e-11)
        isometry, rest = qad.symmetric.qr(tensors[site], 2)
        tensors[site] = isometry
        if site + 1 < len(H):
            tensors[site + 1] = qad.symmetric.tensordot(rest, tensors[site + 1], 1)
        left = past_left(left, isometry, isometry, operator.sites[site])


def by_environments(left, sites, right, bra, ket):
    """``<bra| left sites right |ket>`` by dense arrays."""
    left, right, bra, ket = (x.to_dense() for x in (left, right, bra, ket))
    sites = [w.to_dense() for w in sites]
    if len(sites) == 1:
        return np.einsum("xuy,xsb,uvst,ytc,bvc->", left, bra.conj(), sites[0], ket, right, optimize=True)
    return np.einsum("xuy,xskb,uvst,vwkl,ytlc,bwc->", left, bra.conj(), *sites, ket, right, optimize=True)


def test_products_and_bonds():
    neel = MPS.product([0, 1, 0, 1], conserve="Sz", dtype=float)
    assert neel.sector == 0 and neel.bonds == (1,) * 5 and "Sz = 0" in repr(neel)
    full = MPS.product([3, 1, 2, 0], conserve=("N", "Sz"), kind="electron")
    assert full.sector == (4, 0)
    np.testing.assert_array_equal(full.without_symmetry().to_dense(), MPS.product([3, 1, 2, 0], 4).to_dense())
    for bond in (1, 3, 8, 100):
        sizes = [sum(b.values()) for b in bond_sectors(neel.conserved, (0,), bond)]
        assert max(sizes) <= bond and sizes[0] == sizes[-1] == 1
    assert pickle.loads(pickle.dumps(neel)).sector == 0


@pytest.mark.parametrize("bond", [1, 8])
def test_random_states_have_the_charges_that_most_basis_states_have(bond):
    """Counts were capped at the bond: all charges seemed alike, and the lowest were taken, of chains half turned."""
    conserved = MPS.product([0, 1] * 30, conserve="Sz").conserved
    for site, sizes in enumerate(bond_sectors(conserved, (0,), bond)):
        assert max(abs(charge) for (charge,) in sizes) <= 8
        assert abs(sum(charge * size for (charge,), size in sizes.items())) <= sum(sizes.values()), site


def test_random_states_of_the_smallest_bond():
    """Charges of neighbouring bonds did not join, where both were those that most basis states have."""
    state = MPS.random(32, 1, conserve=("N", "Sz"), sector=(28, 0), kind="electron", dtype=float)
    assert state.sector == (28, 0) and set(state.bonds) == {1}
    np.testing.assert_allclose(state.norm(), 1.0)


def test_charges_nearest_to_an_even_spread():
    conserved = MPS.product([1, 2] * 14 + [0] * 4, conserve=("N", "Sz"), kind="electron").conserved
    sizes = bond_sectors(conserved, (28, 0), 8, near=4)
    assert sizes[16].keys() == {(14, 0), (13, 1), (13, -1), (15, 1), (15, -1)}  # 14 of N, 0 of Sz, and what is next
    assert sizes[8].keys() == {(7, 1), (7, -1), (6, 0), (8, 0)}
    assert all(sum(found.values()) == 8 for found in sizes[3:-3]) and sizes[32] == {(28, 0): 1}
    parity = MPS.product([0] * 8, conserve="parity", kind="spin-1/2").conserved
    assert bond_sectors(parity, (0,), 8, near=1) == bond_sectors(parity, (0,), 8)  # what counts modulo 2 has no mean


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: MPS.random(4, 4, conserve="Sz", sector=1), "no state of these sites has Sz = 1"),
        (lambda: MPS.random(4, 4, conserve="Sz", sector=6), "no state of these sites has Sz = 6"),
        (lambda: MPS.random(4, 4, conserve="Sz", sector=0.5), "no charge"),
        (lambda: MPS.random(4, 4, conserve="N"), "knows no charges 'N'"),
        (lambda: MPS.random(4, 4, conserve="Sz", periodic=True), "open chains"),
        (lambda: MPS.product([0, 2], conserve="Sz"), "site 1: .* one of the 2 basis states, not 2"),
        (lambda: MPS.product([0, np.ones(2)], conserve="Sz"), "site 1"),
        (lambda: MPS.product([0, 1], conserve="Sz", kind=["electron"]), "1 kinds of site were given for 2"),
        (lambda: overlap(random("ring")[0], random("ring")[0].without_symmetry()), "without_symmetry"),
        (lambda: qad.mps.transfer(random("ring")[0]), "without_symmetry"),
        (lambda: energy(random("ring")[0], qad.mps.ising(6, 1.0)), "does not conserve 'Sz'"),
        (lambda: entanglement_entropy(random("ring")[0], 6), "bonds are 1 to 5"),
    ],
)
def test_refusals(call, message):
    with pytest.raises((ArgumentError, ShapeError), match=message):
        call()


def test_states_of_different_charge_are_orthogonal():
    one, two = (MPS.random(6, 4, conserve="Sz", sector=sector) for sector in (0, 2))
    assert overlap(one, two) == 0


def test_an_operator_that_is_not_hermitian():
    psi = MPS.random(4, 4, conserve="Sz", seed=3)
    H = qad.mps.OpSum(4).add(1.0, "Sp", 0, "Sm", 2).mpo()
    np.testing.assert_allclose(expectation(psi, H), expectation(psi.without_symmetry(), H), atol=1e-14)
    with pytest.raises(ArgumentError, match="not Hermitian"):
        energy(psi, H)


def test_an_operator_that_was_written_into_is_looked_at_again():
    psi, H = MPS.random(4, 4, conserve="Sz", sector=0, seed=0), qad.mps.heisenberg(4)
    before = qad.mps.energy(psi, H)
    for w in H:
        w *= 2.0
    assert np.isclose(qad.mps.energy(psi, H), qad.mps.energy(psi.without_symmetry(), H))
    assert not np.isclose(qad.mps.energy(psi, H), before)
