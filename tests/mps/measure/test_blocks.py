"""Mutual information and negativity of blocks, against dense states."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from qad.mps import MPS, mutual_information, negativity

BLOCKS = [([0], [5]), ([0, 1, 2], [4, 5]), ([1, 2, 3], [4, 5]), ([0, 2, 5], [4, 1]), ([3, 1], [0, 2, 4, 5])]


def density(dense, sites):
    rest = [i for i in range(dense.ndim) if i not in sites]
    rows = dense.transpose(*sites, *rest).reshape(2 ** len(sites), -1)
    return rows @ rows.conj().T


def entropy(rho, order):
    p = np.linalg.eigvalsh(rho)
    p = p[p > 1e-14]
    return -(p * np.log(p)).sum() if order == 1 else np.log((p**order).sum()) / (1 - order)


@pytest.mark.parametrize("one, other", BLOCKS, ids=str)
def test_blocks_of_a_random_state(one, other):
    psi = MPS.random(6, 3, seed=1)
    dense, (a, b) = psi.to_dense(), (2 ** len(one), 2 ** len(other))
    rho = density(dense, one + other)
    turned = rho.reshape(a, b, a, b).transpose(0, 3, 2, 1).reshape(a * b, a * b)
    size = np.abs(np.linalg.eigvalsh(turned)).sum()
    assert negativity(2 * psi, one, other) == pytest.approx((size - 1) / 2, abs=1e-13)
    assert negativity(psi, other, one, logarithmic=True) == pytest.approx(np.log(size), abs=1e-13)
    for order in (1, 2):
        expected = entropy(density(dense, one), order) + entropy(density(dense, other), order) - entropy(rho, order)
        assert mutual_information(psi, one, other, order=order) == pytest.approx(expected, abs=1e-12)


def test_long_blocks_of_the_cat_state():
    """Blocks of 30 sites each; one of two basis states is seen by all."""
    n = 90
    ghz = MPS.product([0] * n) / np.sqrt(2) + MPS.product([1] * n) / np.sqrt(2)
    assert mutual_information(ghz, range(30), range(40, 70)) == pytest.approx(np.log(2))
    assert negativity(ghz, range(30), range(40, 70)) == pytest.approx(0, abs=1e-14)
    assert negativity(ghz, range(30), range(30, 90)) == pytest.approx(0.5)


def test_other_kinds_of_states():
    psi = MPS.random(6, 6, conserve="Sz", seed=1)
    found = mutual_information(psi, [0, 1], [4]), negativity(psi, [0, 1], [4])
    plain = psi.without_symmetry()
    np.testing.assert_allclose(found, (mutual_information(plain, [0, 1], [4]), negativity(plain, [0, 1], [4])))
    ring = MPS.random(4, 2, seed=3, periodic=True)
    opened = MPS.from_dense(ring.to_dense())
    assert mutual_information(ring, [0], [2]) == pytest.approx(mutual_information(opened, [0], [2]))


def test_derivatives():
    psi = MPS.random(4, 2, seed=2)
    qad.check_grads(lambda psi: mutual_information(psi, [0], [2, 3]), (psi,), order=1)
    qad.check_grads(lambda psi: mutual_information(psi, [0], [2], order=2), (psi,))
    qad.check_grads(lambda psi: negativity(psi, [1], [2]), (psi,), order=1)


def test_bad_input():
    psi = MPS.random(6, 2)
    with pytest.raises(ArgumentError, match=r"sites in common"):
        mutual_information(psi, [0, 1], [1])
    with pytest.raises(ArgumentError, match="from 0 to 5"):
        negativity(psi, [0], [6])
    with pytest.raises(ArgumentError, match="1/2 to infinity"):
        mutual_information(psi, 0, 1, order=0.25)


def test_second_derivatives_by_one_tensor_of_a_cat_state():
    """They were refused for ranks that only changes of the other tensors fill."""
    site = np.zeros((2, 2, 2))
    site[0, 0, 0] = site[1, 1, 1] = 1
    first, last = site[:1] + site[1:], site[:, :, :1] + site[:, :, 1:]

    def information(angle):
        turn = np.array([[1.0, 0], [0, 1]]) * np.cos(angle) + np.array([[0, -1.0], [1, 0]]) * np.sin(angle)
        return mutual_information(MPS([np.einsum("ij,ajb->aib", turn, first), *[site] * 4, last]), [0], [4])

    assert qad.hessian(information)(0.3) == pytest.approx(0.0, abs=1e-12)  # a rotation of one site changes nothing
