"""Carrying a site past a state: every leg against einsum, in all directions, kinds and dtypes; derivatives."""

import numpy as np
import pytest

import qad
from qad.mps.chain.canonical import canonical, move_left, move_right
from qad.mps.kernels.environments import past_left, past_right
from tests.cases import normal
from tests.mps.surroundings import Environments

SHAPES = {"ket": (4, 2, 5), "bra": (3, 2, 6), "operator": (2, 3, 2, 2)}


def tensors(dtype):
    """A ket, another bra and an operator of a site."""
    return [normal(*shape, float, seed=k).astype(dtype) + (1j * normal(*shape, float, seed=9 - k)).astype(dtype)
            if np.dtype(dtype).kind == "c" else normal(*shape, float, seed=k).astype(dtype)
            for k, shape in enumerate(SHAPES.values())]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float64, np.complex128, np.float32, np.complex64])
@pytest.mark.parametrize("lead", [(), (2,), (2, 3)])
def test_legs(dtype, lead):
    ket, bra, w = tensors(dtype)
    tolerance = {"rtol": 2e-5, "atol": 2e-5} if np.finfo(dtype).eps > 1e-10 else {"rtol": 1e-12, "atol": 1e-12}
    draw = [normal(*lead, *legs, float, seed=20).astype(dtype) for legs in ((3, 4), (6, 5), (3, 2, 4), (6, 3, 5))]
    cases = [
        (past_left, (draw[0], ket, bra), "...ab,bsc,asd->...dc", (draw[0], ket, bra.conj())),
        (past_right, (draw[1], ket, bra), "...dc,bsc,asd->...ab", (draw[1], ket, bra.conj())),
        (past_left, (draw[2], ket, bra, w), "...awb,bsc,wvts,atd->...dvc", (draw[2], ket, w, bra.conj())),
        (past_right, (draw[3], ket, bra, w), "...dvc,bsc,wvts,atd->...awb", (draw[3], ket, w, bra.conj())),
    ]
    for function, args, text, operands in cases:
        found = function(*args)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, np.einsum(text, *operands), **tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_an_operator_of_more_precision_than_the_state(dtype):
    """A real matrix times complex rows goes through the real view of these, whose width changes then."""
    ket, bra, _ = tensors(dtype)
    w, environment = tensors(float)[2], normal(3, 2, 4, float, seed=20).astype(dtype)
    found = past_left(environment, ket, bra, w)
    assert found.dtype == np.result_type(dtype, float)
    expected = np.einsum("awb,bsc,wvts,atd->dvc", environment, ket, w, bra.conj())
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5)


def test_the_bra_is_the_ket_where_it_is_not_given():
    ket, _, w = tensors(complex)
    left, right = normal(4, 4, complex), normal(5, 5, complex)
    np.testing.assert_array_equal(past_left(left, ket), past_left(left, ket, ket))
    np.testing.assert_array_equal(past_right(right, ket), past_right(right, ket, ket))
    np.testing.assert_array_equal(past_left(left[:, None], ket, None, w[:1]), past_left(left[:, None], ket, ket, w[:1]))


@pytest.mark.parametrize("past, rows", [(past_left, (3, 2, 4)), (past_right, (6, 3, 5))])
def test_derivatives(past, rows):
    ket, bra, w = tensors(complex)

    def loss(*args):
        return np.sum(np.abs(past(*args)) ** 2)

    args = normal(*rows, complex), ket, bra, w
    qad.check_grads(loss, args, order=2)
    expected = [loss(2 * args[0], ket, bra, w), loss(args[0], ket, bra, w)]
    np.testing.assert_allclose(qad.vmap(lambda k: loss(k * args[0], ket, bra, w))(np.array([2.0, 1.0])), expected)


@pytest.mark.parametrize("operator", [qad.mps.heisenberg(5), qad.mps.heisenberg(5) + 1j * qad.mps.ising(5, 0.3)])
def test_both_sides_close_to_the_same_number(operator):
    psi = qad.mps.MPS.random(5, 4, seed=1)
    environments = Environments(operator, psi.tensors, complex)
    expected = qad.mps.expectation(psi, operator) * qad.mps.norm2(psi)
    for site in range(4):
        environments.pass_right(site, psi[site])
        joined = np.sum(environments.left[site + 1] * environments.right[site])
        np.testing.assert_allclose(joined, expected, rtol=1e-12)


def test_moving_the_centre():
    """Earlier lists of tensors stay as they were, and the state does too."""
    psi = qad.mps.MPS.random(5, 4, phys=3, seed=1)
    chain = canonical(psi.tensors, 0)
    before, copies = list(chain), [t.copy() for t in chain]
    for site in range(4):
        move_right(chain, site)
        np.testing.assert_allclose(past_left(np.eye(chain[site].shape[0]), chain[site]), np.eye(chain[site].shape[2]),
                                   atol=1e-13)  # fmt: skip
    for site in range(4, 0, -1):
        move_left(chain, site)
        np.testing.assert_allclose(past_right(np.eye(chain[site].shape[2]), chain[site]), np.eye(chain[site].shape[0]),
                                   atol=1e-13)  # fmt: skip
    np.testing.assert_allclose(psi @ qad.mps.MPS(chain), qad.mps.norm2(psi), rtol=1e-12)
    for tensor, copy in zip(before, copies, strict=True):
        np.testing.assert_array_equal(tensor, copy)


def test_a_cell_of_a_complex_state():
    """The fixed points of both sides, of a state without a symmetry that would hide a leg in the wrong place."""
    psi = qad.mps.uniform.UniformMPS.random(4, 2, 2, seed=3)
    from qad.mps.uniform.transfer import environments

    lefts, rights = environments(psi)
    for i in range(2):
        j = (i + 1) % 2
        for found, expected in ((past_left(lefts[i], psi[i]), lefts[j]), (past_right(rights[j], psi[j]), rights[i])):
            ratio = np.vdot(expected, found) / np.vdot(expected, expected)
            np.testing.assert_allclose(found, ratio * expected, atol=1e-9 * np.abs(found).max())
    h = qad.mps.heisenberg(2).to_dense().reshape(2, 2, 2, 2)
    state, _ = qad.mps.uniform.canonical.uniform_schmidt_form(psi)
    for tensor in state:
        rows = tensor.reshape(len(tensor), -1)
        np.testing.assert_allclose(rows @ rows.conj().T, np.eye(len(rows)), atol=1e-8)
    values = [qad.mps.uniform.energy_density(x, h) for x in (psi, state)]
    np.testing.assert_allclose(*values, rtol=1e-8)
