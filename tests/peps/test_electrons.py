"""Models of fermions against matrices of their formulas, made of lowering operators with strings, and free fermions."""

import numpy as np
import pytest

import qad
from qad import peps
from tests.peps.fermions import dense, lowering

ACROSS, DOWN, DIAGONAL = [(0, 1), (2, 3)], [(0, 2), (1, 3)], [(0, 3), (1, 2)]  # bonds of 2 x 2 sites, row by row


def hop(c, i, j):
    return c[i].T @ c[j] + c[j].T @ c[i]


def test_hubbard():
    model = peps.hubbard(1.1, 3.0, v=0.7, t2=0.3, mu=0.4, h=0.2)
    up, dn, n, double, sz = (lowering(name, ["electron"] * 4) for name in ("Cup", "Cdn", "N", "NupNdn", "Sz"))
    expected = sum(-1.1 * (hop(up, i, j) + hop(dn, i, j)) + 0.7 * n[i] @ n[j] for i, j in ACROSS + DOWN)
    expected = expected - 0.3 * sum(hop(up, i, j) + hop(dn, i, j) for i, j in DIAGONAL)
    expected = expected + sum(3.0 * double[i] - 0.4 * n[i] - 0.2 * sz[i] for i in range(4))
    np.testing.assert_allclose(dense(model, (2, 2)), expected, atol=1e-12)


def test_tj():
    model = peps.tj(1.1, 0.5, t2=0.3, mu=0.4, h=0.2)
    up, dn, n, sz, raising = (lowering(name, ["t-J"] * 4) for name in ("Cup", "Cdn", "N", "Sz", "Sp"))
    expected = 0.0
    for i, j in ACROSS + DOWN:
        exchange = sz[i] @ sz[j] + (raising[i] @ raising[j].T + raising[j] @ raising[i].T) / 2
        expected = expected - 1.1 * (hop(up, i, j) + hop(dn, i, j)) + 0.5 * (exchange - n[i] @ n[j] / 4)
    expected = expected - 0.3 * sum(hop(up, i, j) + hop(dn, i, j) for i, j in DIAGONAL)
    expected = expected - sum(0.4 * n[i] + 0.2 * sz[i] for i in range(4))
    np.testing.assert_allclose(dense(model, (2, 2)), expected, atol=1e-12)


def test_spinless_fermions():
    c, n = lowering("C", ["fermion"] * 4), lowering("N", ["fermion"] * 4)
    expected = -0.4 * sum(n)
    for bonds, delta in ((ACROSS, 0.9), (DOWN, 0.9j)):
        for i, j in bonds:
            pair = delta * c[i] @ c[j]
            expected = expected - 1.1 * hop(c, i, j) + pair + pair.conj().T + 0.7 * n[i] @ n[j]
    np.testing.assert_allclose(dense(peps.fermions(1.1, delta=0.9, v=0.7, mu=0.4), (2, 2)), expected, atol=1e-12)


@pytest.mark.parametrize("delta", [0.0, 1.0])
def test_free_fermions_have_the_levels_of_their_quadratic_form(delta):
    """H = c^+ A c + (c^+ B c^+ + h.c.) / 2 has the lowest energy (tr A - sum of positive levels of [A, B]) / 2."""
    a, b = -2.0 * np.eye(6, dtype=complex), np.zeros((6, 6), complex)
    sites = [(r, c) for r in range(2) for c in range(3)]
    for i, (r, c) in enumerate(sites):
        for j, other in enumerate(sites):
            if other in ((r, c + 1), (r + 1, c)):
                pairing = delta * (1 if other[0] == r else 1j)
                a[i, j] = a[j, i] = -1.0
                b[j, i] += np.conj(pairing)  # of C_i C_j + h.c.
                b[i, j] -= np.conj(pairing)
    levels = np.linalg.eigvalsh(np.block([[a, b], [b.conj().T, -a.T]]))
    lowest = np.linalg.eigvalsh(dense(peps.fermions(1.0, delta=delta, mu=2.0), (2, 3)))[0]
    np.testing.assert_allclose(lowest, (np.trace(a).real - levels[levels > 0].sum()) / 2, atol=1e-10)


def test_couplings_have_derivatives():
    def sums(x):
        t, u, v, t2, mu, h = x
        models = (peps.hubbard(t, u, v=v, t2=t2, mu=mu, h=h), peps.tj(t, u, mu=mu), peps.fermions(t, delta=u, mu=mu))
        return sum(qad.abs2(term.operator).sum() for model in models for term in model.terms)

    qad.check_grads(sums, (np.array([1.0, 3.0, 0.7, 0.3, 0.4, 0.2]),))


def test_complex_hopping_is_refused():
    with pytest.raises(qad.core.errors.ArgumentError, match="is not Hermitian"):
        peps.fermions(1j)


def test_terms_with_the_number_zero_are_left_out():
    assert len(peps.fermions(1.0).terms) == 2 and peps.fermions(1.0).terms[1].operator.dtype == float
    assert [len(t.sites) for t in peps.hubbard(0.0, 2.0).terms] == [1]
