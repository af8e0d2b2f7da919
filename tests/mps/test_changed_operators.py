"""Operators whose tensors are written into after an energy was computed: energies are those of the present numbers."""

import pickle

import numpy as np
import pytest
import scipy.sparse

import qad
from qad.mps import MPO, MPS, energy, heisenberg


def changeable(H):
    return MPO([t.astype(complex) for t in H])


@pytest.mark.parametrize("periodic", [False, True])
def test_an_operator_may_be_changed_in_place(periodic):
    psi, H = MPS.random(5, 3, seed=1), changeable(heisenberg(5, periodic=periodic))
    slope = qad.grad(energy)
    first, slopes = energy(psi, H), slope(psi, H)
    H.tensors[1][...] *= 2
    fresh = changeable(H)
    assert abs(energy(psi, H) - first) > 1e-3
    assert energy(psi, H) == energy(psi, fresh)
    for ours, theirs, before in zip(slope(psi, H), slope(psi, fresh), slopes, strict=True):
        np.testing.assert_array_equal(ours, theirs)
        assert np.abs(ours - before).max() > 1e-3


def test_an_operator_that_is_hermitian_no_longer_is_refused():
    psi, H = MPS.random(4, 2, seed=1), changeable(heisenberg(4))
    energy(psi, H)
    H.tensors[1][...] *= 1j
    with pytest.raises(qad.errors.ArgumentError, match="not Hermitian"):
        energy(psi, H)


def test_derivatives_are_by_the_operator_that_the_energy_was_computed_with():
    psi, H = MPS.random(4, 2, seed=1), changeable(heisenberg(4))
    tangent = MPS.random(4, 2, seed=2)

    def product(change):
        operator = changeable(H)
        _, pullback = qad.vjp(lambda psi: qad.grad(energy)(psi, operator), psi)
        if change:
            operator.tensors[1][...] *= 2.0
        return pullback(tangent)[0]

    for ours, theirs in zip(product(True), product(False), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_an_operator_can_be_pickled_after_an_energy():
    psi, H = MPS.random(4, 2, seed=1), heisenberg(4)
    value = energy(psi, H)
    assert energy(psi, pickle.loads(pickle.dumps(H))) == value


@pytest.mark.parametrize("kind", [scipy.sparse.csr_array, scipy.sparse.coo_array, scipy.sparse.csc_array])
def test_a_sparse_observable_is_the_one_of_the_call(kind):
    matrix = kind(np.diag([1.0, 2.0, 3.0, 5.0]))

    def f(t, change):
        value = qad.Circuit(2).ry(t, [0, 1]).expectation(matrix)
        if change:
            matrix.data[:] = 0.0
        return value

    t = np.array([0.3, 0.7])
    expected = qad.grad(f)(t, False)
    np.testing.assert_array_equal(qad.grad(f)(t, True), expected)
    assert np.abs(expected).max() > 0.1


FUNCTIONS_OF_MATRICES = [qad.linalg.funm_herm, qad.linalg.funm_svd, qad.linalg.funm]


@pytest.mark.parametrize("at", [np.diag([1.0, 2.0]), np.zeros((2, 2))], ids=["regular", "zero"])
@pytest.mark.parametrize("funm", FUNCTIONS_OF_MATRICES, ids=lambda f: f.__name__)
def test_a_function_of_a_matrix_that_changes_before_its_derivative_is_refused(funm, at):
    rate = np.array([1.0])

    def f(a, change):
        value = np.sum(funm(lambda w: np.sin(rate[0] * w), a)).real
        if change:
            rate[0] += 1.0
        return value

    assert np.isfinite(qad.grad(f)(at, False)).all()
    with pytest.raises(qad.errors.ArgumentError, match="has changed since its value was computed"):
        qad.grad(f)(at, True)
    with pytest.raises(qad.errors.ArgumentError, match="has changed since its value was computed"):
        qad.hvp(lambda a: f(a, True), (at,), (at + 1,))
