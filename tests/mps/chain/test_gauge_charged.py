"""Sums of symmetric states, and derivatives of their canonical forms, against those of plain ones."""

from operator import add, matmul, sub

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from qad.mps import MPS, norm, overlap
from tests.mps.charges.chains import CHAINS, random


def dense(psi):
    return psi.without_symmetry().to_dense()


@pytest.mark.parametrize("name", CHAINS)
def test_sums_and_operators(name):
    psi, H = random(name)
    phi = random(name, seed=5, bond=3)[0]
    np.testing.assert_allclose(dense(psi + 2j * phi), dense(psi) + 2j * dense(phi), atol=1e-14)
    np.testing.assert_allclose(dense(-psi / 2 - phi), -dense(psi) / 2 - dense(phi), atol=1e-14)
    np.testing.assert_allclose(psi @ phi, np.vdot(dense(psi), dense(phi)), atol=1e-14)
    np.testing.assert_allclose(dense(H @ psi), (H @ psi.without_symmetry()).to_dense(), atol=1e-12)
    assert (H @ psi).sector == psi.sector
    assert norm((300.0 * psi).normalized()) == pytest.approx(1.0)


def test_the_sum_on_one_site():
    one = MPS.product([1], conserve="Sz")
    np.testing.assert_array_equal(dense(one + one), [0, 2])


def test_long_chains_are_normalised():
    psi = MPS.random(150, 2, conserve="Sz", seed=1)
    huge = MPS([t * 1e3 for t in psi], psi.conserved)
    assert norm(huge.normalized()) == pytest.approx(1.0)


LOSSES = {
    "truncation": lambda psi, H: qad.mps.energy(psi.truncate(3)[0], H),
    "error": lambda psi, H: psi.truncate(3)[1],
    "canonical": lambda psi, H: qad.mps.expectation(psi.canonicalize(2), H).real,
    "normalised": lambda psi, H: qad.mps.expectation(psi.normalized(), H).real,
    "sum": lambda psi, H: qad.mps.energy(psi + psi.canonicalize(1), H),
}


@pytest.mark.parametrize("name", ["second neighbours", "electrons"])
@pytest.mark.parametrize("loss", LOSSES)
def test_derivatives_are_those_of_the_ordinary_state(loss, name):
    """The gradient has the blocks of that of the ordinary state."""
    psi, H = random(name)
    value, gradient = qad.value_and_grad(LOSSES[loss])(psi, H)
    expected = qad.value_and_grad(LOSSES[loss])(psi.without_symmetry(), H)
    np.testing.assert_allclose(value, expected[0], atol=1e-12)
    for one, two in zip(gradient.without_symmetry(), expected[1], strict=True):
        np.testing.assert_allclose(one, two, atol=1e-10)


@pytest.mark.slow
def test_second_derivatives():
    psi, H = random("second neighbours", bond=3)
    qad.check_grads(lambda x: LOSSES["canonical"](x, H), (psi,), order=2)


def test_derivatives_through_dropped_sectors():
    """Padding that leads nowhere does not change the gradient; what could gain weight is refused."""
    psi, H = random("second neighbours", float, bond=3)
    more = psi + 0.0 * random("second neighbours", float, seed=3, bond=3)[0]
    with pytest.raises(ArgumentError, match="directions of charge"):
        qad.grad(lambda x: LOSSES["canonical"](x, H))(more)
    small = more.truncate(cutoff=1e-12)[0]
    assert small.bonds == psi.bonds
    qad.check_grads(lambda x: LOSSES["canonical"](x, H), (small,), order=1)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda psi: psi.canonicalize(6), "there is no site 6 among 6"),
        (lambda psi: psi.truncate(0), "bond must be a whole number"),
        (lambda psi: psi + MPS.random(6, 3, conserve="Sz", sector=0), "is in no sector"),
        (lambda psi: psi + MPS.random(6, 3, conserve="parity"), "conserve the same"),
        (lambda psi: (0.0 * psi).normalized(), "norm zero"),
        (lambda psi: (0.0 * psi).truncate(3), "leaves nothing"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ArgumentError, match=message):
        call(random("second neighbours")[0])


@pytest.mark.parametrize("call", [add, sub, matmul, overlap, lambda one, two: one.overlap(two)])
def test_states_with_charges_and_without_do_not_mix(call):
    psi = random("ring")[0]
    for pair in ((psi, psi.without_symmetry()), (psi.without_symmetry(), psi)):
        with pytest.raises(ArgumentError, match="without_symmetry"):
            call(*pair)
