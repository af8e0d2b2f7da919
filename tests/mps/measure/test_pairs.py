"""Pair correlations against vectors of all amplitudes, and states whose pairs are known."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, ShapeError
from qad.mps import MPS, Lattice, pair_correlations

LADDER = Lattice.ladder(4)
BONDS = [*LADDER.bonds("nearest"), (3, 3), (5, 2)]
MODES = {"up": 0, "dn": 1}
R = np.sqrt(0.5)


def amplitudes(psi):
    """The vector of a state of eight electrons on the modes (0, up), (0, down), (1, up), ..., an axis each."""
    vector = psi.without_symmetry().normalized().to_dense().reshape((4,) * 8)
    for axis in range(8):  # empty, up, down, both: there the number of up spins is the more significant digit
        vector = np.take(vector, [0, 2, 1, 3], axis=axis)
    return vector.reshape((2,) * 16)


def without(vector, site, spin):
    """An annihilator, with the sign of all modes before its own."""
    mode, signs = 2 * site + MODES[spin], np.ones(())
    for _ in range(mode):
        signs = np.multiply.outer(signs, [1.0, -1.0])
    signed = vector * signs.reshape(signs.shape + (1,) * (16 - mode))
    found = np.zeros_like(vector)
    where = (slice(None),) * mode
    found[(*where, 0)] = signed[(*where, 1)]
    return found


def table(psi, bonds, pair):
    found = np.stack([pair(amplitudes(psi), i, j).ravel() for i, j in bonds])
    return found.conj() @ found.T


def singlet(v, i, j, sign=-1):
    return R * (without(without(v, j, "dn"), i, "up") + sign * without(without(v, j, "up"), i, "dn"))


PAIRS = {
    "singlet": singlet,
    "triplet": lambda v, i, j: singlet(v, i, j, 1),
    "triplet up": lambda v, i, j: without(without(v, j, "up"), i, "up"),
    "triplet down": lambda v, i, j: without(without(v, j, "dn"), i, "dn"),
}
STATES = {
    "plain": MPS.random(8, 5, kind="electron", seed=1),
    "charges": MPS.random(8, 5, kind="electron", conserve=("N", "Sz"), sector=(6, 0), seed=2),
}


@pytest.mark.parametrize("pairing", PAIRS)
@pytest.mark.parametrize("state", STATES)
def test_pairs_of_a_ladder(state, pairing):
    exact = table(STATES[state], BONDS, PAIRS[pairing])
    assert np.abs(exact).max() > 1e-2
    np.testing.assert_allclose(pair_correlations(STATES[state], BONDS, pairing=pairing), exact, atol=1e-13)


def test_a_pair_that_is_shared_by_two_rungs():
    """Of ``(one singlet on the left rung + i one on the right) / sqrt(2)`` half of a pair is on each of them."""
    up, dn = "up", "dn"
    terms = [(1, (up, dn, 0, 0)), (-1, (dn, up, 0, 0)), (1j, (0, 0, up, dn)), (-1j, (0, 0, dn, up))]
    psi = sum(
        (0.5 * weight * MPS.product([x or "empty" for x in row], kind="t-J") for weight, row in terms[1:]),
        0.5 * MPS.product([x or "empty" for x in terms[0][1]], kind="t-J"),
    )
    rungs = [(0, 1), (2, 3)]
    np.testing.assert_allclose(pair_correlations(psi, rungs), [[0.5, 0.5j], [-0.5j, 0.5]], atol=1e-14)
    np.testing.assert_allclose(pair_correlations(psi, [(1, 0)], rungs), [[0.5, 0.5j]], atol=1e-14)  # singlets are even
    for pairing in ("triplet", "triplet up", "triplet down"):
        np.testing.assert_allclose(pair_correlations(psi, rungs, pairing=pairing), 0.0, atol=1e-14)


def test_pairs_of_one_direction_and_of_fermions_without_spin():
    polarised = MPS.product(["up", "up", "empty"], kind="electron")
    found = pair_correlations(polarised, [(0, 1)], [(0, 1), (1, 0), (0, 2)], pairing="triplet up")
    np.testing.assert_array_equal(found, [[1, -1, 0]])
    both = MPS.product(["updown", "empty"], kind="electron")
    assert pair_correlations(both, [(0, 0)])[0, 0] == pytest.approx(2.0)  # sqrt(2) Cup Cdn on one site
    chain = MPS.product(["full", "full", "empty"], kind="fermion")
    np.testing.assert_array_equal(pair_correlations(chain, [(1, 0)], [(0, 1), (1, 2)], pairing="spinless"), [[-1, 0]])


def test_slopes():
    psi = MPS.random(4, 3, kind="t-J", seed=3)
    qad.check_grads(lambda psi: pair_correlations(psi, [(0, 1)], [(2, 3)]), (psi,), order=1)


@pytest.mark.parametrize(
    "wrong, error, match",
    [
        (lambda psi: pair_correlations(psi, [(0, 1)], pairing="d"), ArgumentError, "'singlet', 'triplet'"),
        (lambda psi: pair_correlations(psi, [0, 1]), ShapeError, "pairs of sites"),
        (lambda psi: pair_correlations(psi, [(0.5, 1.5)]), ShapeError, "int array"),
        (lambda psi: pair_correlations(psi, [(0, 1)], [(0, 9)]), ArgumentError, "out of range"),
        (lambda psi: pair_correlations(MPS.random(4, 2), [(0, 1)]), ArgumentError, "kind='electron' has"),
    ],
)
def test_refusals(wrong, error, match):
    with pytest.raises(error, match=match):
        wrong(STATES["plain"])
