"""Operators whose tensors are written into after an energy was computed: energies are those of the present numbers."""

import pickle

import numpy as np
import pytest

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
