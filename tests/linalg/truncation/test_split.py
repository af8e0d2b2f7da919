"""The symmetric split: exact at degenerate singular values, for losses that contract the new bond."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from qad.linalg import split
from qad.linalg.functions.divided_differences import first_differences
from qad.linalg.functions.elementwise import ElementwiseFunction
from tests.cases import Case
from tests.linalg.draw import draw, with_values


def ring(k):
    """A loss that mixes both halves and contracts every bond."""

    def loss(a):
        left, right = split(a, k)
        m = draw(a.shape[1], a.shape[0], seed=5, real=a.dtype.kind == "f")
        inner = right @ m @ left
        return np.trace(inner @ inner), np.trace(inner @ right @ right.conj().mT @ left.conj().mT @ left), left @ right

    return loss


# singular values, how many to keep, shape
POINTS = [
    ([2, 1, 0.5, 0.3], None, (4, 4)),
    ([2, 1, 0.5, 0.3], 2, (4, 4)),
    ([2, 2, 0.5, 0.5], 2, (4, 4)),
    ([2, 2, 0.5, 0.5], 2, (6, 4)),
    ([2, 2, 0.5, 0], 2, (4, 5)),
    ([1, 1, 1], None, (3, 3)),
]
CASES = [
    Case(ring(k), with_values(s, *shape, real=real), name=f"split of {s} to {k}")
    for s, k, shape in POINTS
    for real in (False, True)
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    qad.check_grads(case.f, case.point, rtol=1e-6)


def test_values_are_those_of_the_svd():
    a = with_values([2, 1, 1, 0.5])
    for pair in (split(a), qad.vjp(split, a)[0]):
        left, right = pair
        np.testing.assert_allclose(left @ right, a, atol=1e-14)
        np.testing.assert_allclose(left.conj().T @ left, np.diag([2, 1, 1, 0.5]), atol=1e-14)
        np.testing.assert_allclose(right @ right.conj().T, np.diag([2, 1, 1, 0.5]), atol=1e-14)


def test_zeros_are_dropped():
    """Values of 1e-17 and beside them ordinary ones: the gradient is that along matrices of the same rank."""
    a, w = with_values([2, 1, 1, 1e-17, 0]), draw(5, 5, seed=9)
    assert split(a)[0].shape == (5, 3)

    def loss(a):
        left, right = split(a)
        return np.sum((w * (left @ right)).real)

    u, _, vh = np.linalg.svd(a)
    outer = u[:, 3:] @ u[:, 3:].conj().T @ w.conj() @ vh[3:].conj().T @ vh[3:]
    np.testing.assert_allclose(qad.grad(loss)(a), w.conj() - outer, atol=1e-12)


def test_dependence_on_the_basis_of_the_bond_raises():
    with pytest.raises(qad.QadError, match="basis of the new bond"):
        qad.grad(lambda a: np.sum(split(a)[0].real))(with_values([2, 1, 1, 0.5]))


def test_stacks():
    stack = np.stack([with_values([2, 2, 0.5, 0.2]), 1e-3 * with_values([3, 1, 1, 1], seed=4)])
    w = draw(4, 4, seed=9)

    def loss(a, k):
        left, right = split(a, k)
        return np.sum((w * (left @ right)).real)

    one_by_one = [qad.grad(loss)(a, None) for a in stack]
    np.testing.assert_allclose(qad.grad(loss)(stack, None), one_by_one, rtol=1e-12)
    with pytest.warns(RuntimeWarning, match="degenerate"):
        split(stack, 2)
    with pytest.raises(qad.QadError, match="cuts through"):
        qad.grad(lambda a: loss(a, 2))(with_values([2, 1, 1, 0.5]))


@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-8])
def test_jumps_between_near_values_are_not_missed(gap):
    """A step halfway between two close values: Gauss' rule would see a constant on either side."""
    w = np.array([1 - gap / 2, 1 + gap / 2, 3.0])
    d = first_differences(ElementwiseFunction(lambda x: x > 1.0), w)
    np.testing.assert_allclose(d[0, 1], 1 / gap, rtol=1e-6)
    d = first_differences(ElementwiseFunction(lambda x: np.where(x > 1.0, x, 0.0)), w)
    np.testing.assert_allclose(d[0, 1], (1 + gap / 2) / gap, rtol=1e-6)


@pytest.mark.parametrize("gap", [1e-14, 1e-12, 3e-12, 1e-11, 2e-10, 1e-6, 2e-6])
def test_dropping_multiplets_ends_at_a_gap_by_which_derivatives_divide(gap):
    """Between equal and apart lie gaps by which a derivative cannot divide: dropped, recorded or not."""
    a = with_values([2, 1, 0.5, 0.5 - gap / 2, 0.1])

    def loss(a):
        left, right = split(a, 3, multiplets="drop")
        return np.sum((left @ right).real)

    rank = split(a, 3, multiplets="drop")[0].shape[-1]
    assert rank == (3 if gap == 2e-6 else 2)
    value, gradient = qad.value_and_grad(loss)(a)
    conditioning = 1 / gap if rank == 3 else 1  # of the kept space
    assert value == pytest.approx(loss(a), rel=1e-15 * conditioning + 1e-12)
    assert np.isfinite(gradient).all()


def test_a_batch_without_derivative_is_split_as_its_examples_are():
    stack = np.stack([np.diag([2.0, 1.0, 1.0]), np.diag([3.0, 1.0, 0.5])])
    with pytest.warns(RuntimeWarning, match="cuts through degenerate"):
        low, high = qad.vmap(lambda a: split(a, 2))(stack)
    with pytest.warns(RuntimeWarning, match="cuts through degenerate"):
        expected = [np.matmul(*split(a, 2)) for a in stack]
    np.testing.assert_allclose(low @ high, expected, atol=1e-15)
    with pytest.raises(ArgumentError, match="cuts through degenerate"):
        qad.vmap(qad.grad(lambda a: np.sum(split(a, 2)[0] ** 2)))(stack)
