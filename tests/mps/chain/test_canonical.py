"""Canonical forms, truncation and Schmidt vectors of chains without a symmetry and with one."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, ShapeError
from qad.mps import MPS
from qad.mps.chain.canonical import move_left, move_right, schmidt_form
from qad.symmetric.generic import join
from tests.mps.charges.chains import KINDS, random

DTYPES = pytest.mark.parametrize("dtype", [float, complex, np.float32, np.complex64])
ROWS, COLUMNS = ((0, 1), (0, 1)), ((1, 2), (1, 2))


def amplitudes(psi):
    return psi.to_dense()


def dense(tensor):
    return tensor.to_dense() if hasattr(tensor, "to_dense") else tensor


def assert_isometry(tensor, axes, tol=1e-13):
    unit = dense(join(tensor.conj(), tensor, axes))
    np.testing.assert_allclose(unit, np.eye(len(unit)), atol=tol)


@DTYPES
@pytest.mark.parametrize("kind", KINDS)
def test_canonical_forms_keep_the_state(kind, dtype):
    psi = 2.0 * random(kind, dtype)[0]
    tol = 1e-13 if np.dtype(dtype).name in ("float64", "complex128") else 1e-5
    for center in (0, 2, -1):
        found = psi.canonicalize(center)
        assert found.dtype == psi.dtype and repr(found).split(",")[:2] == repr(psi).split(",")[:2]
        np.testing.assert_allclose(amplitudes(found), amplitudes(psi), atol=tol)
        for site, tensor in enumerate(found):
            if site != center % len(psi):
                assert_isometry(tensor, ROWS if site < center % len(psi) else COLUMNS, tol)


@pytest.mark.parametrize("kind", KINDS)
def test_the_centre_moves(kind):
    psi = random(kind)[0]
    tensors = psi.canonicalize(2).tensors
    there = list(tensors)
    move_right(there, 2)
    assert_isometry(there[2], ROWS)
    move_left(there, 3)
    assert_isometry(there[3], COLUMNS)
    np.testing.assert_allclose(amplitudes(psi._made_of(there)), amplitudes(psi), atol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_truncation_is_the_nearest_state_bond_by_bond(kind):
    psi = random(kind)[0] + 0.3 * random(kind, seed=2)[0]
    for options in ({"bond": 5}, {"cutoff": 0.2}, {}):
        small, error = psi.truncate(**options)
        expected, distance = psi.without_symmetry().truncate(**options)
        assert small.bonds == expected.bonds
        np.testing.assert_allclose(amplitudes(small), expected.to_dense(), atol=1e-12)
        np.testing.assert_allclose(error, distance, atol=1e-12)
        np.testing.assert_allclose(np.linalg.norm(amplitudes(psi) - amplitudes(small)), error, rtol=1e-6, atol=1e-13)


@pytest.mark.parametrize("dtype", [float, complex, np.complex64])
@pytest.mark.parametrize("kind", KINDS)
def test_schmidt_forms(kind, dtype):
    psi = 3.0 * random(kind, dtype)[0]
    tensors, weights = schmidt_form(psi.tensors)
    state = psi._made_of(tensors)
    assert state.dtype == psi.dtype
    tol = 1e-5 if dtype is np.complex64 else 1e-13
    np.testing.assert_allclose(amplitudes(state), amplitudes(psi) / 3.0, atol=tol)
    left = None
    for site, (tensor, values) in enumerate(zip(tensors, weights, strict=True)):
        assert_isometry(tensor, COLUMNS, tol)
        exact = np.linalg.svdvals(amplitudes(state).reshape(int(np.prod(state.phys[:site])), -1))
        np.testing.assert_allclose(np.sort(values)[::-1], exact[: len(values)], atol=tol)
        if left is not None:
            np.testing.assert_allclose(dense(left), np.diag(values**2), atol=tol)
        half = tensor if left is None else join(left, tensor)
        left = join(tensor.conj(), half, ROWS)


@pytest.mark.parametrize("kind", KINDS)
def test_what_carries_no_weight_is_dropped(kind):
    psi = random(kind, bond=3)[0]
    more = psi + 0.0 * random(kind, seed=3, bond=3)[0]
    assert more.bond > psi.bond
    found = more.canonicalize(-1)
    assert found.bonds == psi.canonicalize(-1).bonds
    np.testing.assert_allclose(amplitudes(found), amplitudes(psi), atol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_need_no_gaps_and_no_full_rank(kind):
    """Padding that leads nowhere does not change the gradient; what could gain weight is refused."""
    psi, H = random(kind, float, bond=3)
    more = psi + 0.0 * random(kind, float, seed=3, bond=3)[0]
    with pytest.raises(ArgumentError, match="carry no weight yet but could"):
        qad.grad(lambda x: qad.mps.expectation(x.canonicalize(2), H))(more)
    small = more.truncate(cutoff=1e-12)[0]
    qad.check_grads(lambda x: qad.mps.expectation(x.canonicalize(2), H), (small,), order=1)


def test_states_without_norm_have_no_form():
    for psi in (random("dense")[0], random("ring")[0]):
        with pytest.raises(ArgumentError, match="it cannot be normalised"):
            schmidt_form((0.0 * psi).tensors)
    with pytest.raises(ShapeError, match="the chain is periodic"):
        schmidt_form(MPS.random(4, 2, periodic=True).tensors)
