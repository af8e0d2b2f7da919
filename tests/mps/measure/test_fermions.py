"""Density matrices of fermions that are not neighbours, beside free fermions: eigenvalues of ``C_ij = <c_i^+ c_j>``."""

import numpy as np
import pytest

from qad.mps import MPS, OpSum, ground_state, measure, mutual_information, reduced_density

C, F = np.array([[0.0, 1.0], [0.0, 0.0]]), np.diag([1.0, -1.0])
HOPS = [(0, 1, 0.7), (1, 2, 1.3), (2, 3, 0.9), (3, 4, 1.1), (4, 5, 0.6), (1, 5, -0.7)]


def free():
    """Three particles on six sites, and their C."""
    H, h = OpSum(6, "fermion"), np.zeros((6, 6))
    for i, j, t in HOPS:
        H.add(-t, "Cdag", i, "C", j).add(-t, "Cdag", j, "C", i)
        h[i, j] = h[j, i] = -t
    lowest = np.linalg.eigh(h)[1][:, :3]
    return ground_state(H, 8, conserve="N", sector=3, tol=1e-14).state, lowest @ lowest.T


STATE, TABLE = free()


def entropy(sites):
    """``-tr rho log rho`` of a Gaussian state."""
    p = np.clip(np.linalg.eigvalsh(TABLE[np.ix_(sites, sites)]), 1e-15, 1 - 1e-15)
    return -(p * np.log(p) + (1 - p) * np.log(1 - p)).sum()


@pytest.mark.parametrize("psi", [STATE, STATE.without_symmetry()], ids=["N", "plain"])
def test_strings_of_sites_between_are_kept(psi):
    """``<c_0^+ c_2>`` came out as that of spins, four times as large."""
    rho = reduced_density(psi, [1, 3, 5])
    assert np.trace(rho @ np.kron(np.kron(C.T @ F, F), C)) == pytest.approx(TABLE[1, 5], abs=1e-9)
    p = np.linalg.eigvalsh(rho)
    assert -(p @ np.log(p)) == pytest.approx(entropy([1, 3, 5]), abs=1e-8)
    assert measure(psi, np.kron(C.T @ F, C), (0, 2)) == pytest.approx(TABLE[0, 2], abs=1e-9)
    assert measure(psi, np.kron(C.T @ F, C), (4, 1)) == pytest.approx(TABLE[4, 1], abs=1e-9)


@pytest.mark.parametrize("one, other", [([0], [2]), ([0, 3], [2, 4]), ([5, 4], [0, 1, 3]), ([2], [1])])
def test_mutual_information_is_that_of_free_fermions(one, other):
    known = entropy(one) + entropy(other) - entropy(one + other)
    for psi in (STATE, STATE.without_symmetry()):
        assert mutual_information(psi, one, other) == pytest.approx(known, abs=1e-8)


def test_fermions_are_created_and_annihilated_with_their_strings():
    """``C_i`` by its name was a matrix on one site: overlaps of such states were those of spins."""
    psi = STATE.without_symmetry()
    removed = [psi.apply("C", i) for i in range(6)]
    overlaps = [[one.overlap(two) for two in removed] for one in removed]
    np.testing.assert_allclose(overlaps, TABLE, atol=1e-9)
    assert psi.apply("C", 3, bond=4).bond == 4


def test_states_that_know_no_fermions_are_spins():
    spins = MPS(STATE.without_symmetry().tensors)
    dense = spins.to_dense().transpose(0, 2, 1, 3, 4, 5).reshape(4, 16)
    np.testing.assert_allclose(reduced_density(spins, [0, 2]), dense @ dense.T, atol=1e-12)
