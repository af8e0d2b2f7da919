"""Traces of products, batched, with no product formed; partial traces."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, ShapeError
from tests.cases import Case, normal
from tests.contract.networks import operands_for

SHAPES = [
    [(3, 3)], [(2, 3, 3)], [(3, 4), (4, 3)], [(2, 3, 4), (4, 3)], [(2, 1, 3, 4), (5, 4, 3)], [(1, 1), (1, 1)],
    [(3, 4), (4, 2), (2, 3)], [(2, 3, 4), (1, 4, 2), (5, 1, 2, 3)], [(2, 2)] * 5, [(0, 0)], [(0, 2), (2, 0)],
]  # fmt: skip


CASES = [
    Case(qad.tr, normal(3, 3, complex)),
    Case(qad.tr, (normal(3, 4, complex), normal(4, 3))),
    Case(qad.tr, (normal(2, 3, 4, complex), normal(4, 3))),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_trace_of_a_product(shapes):
    for kind in (complex, float, "mixed"):
        factors = operands_for(np.random.default_rng(0), shapes, kind)
        product = factors[0]
        for factor in factors[1:]:
            product = product @ factor
        expected = np.trace(product, axis1=-2, axis2=-1)
        found = qad.tr(*factors)
        assert np.shape(found) == np.shape(expected)
        np.testing.assert_allclose(found, expected, atol=1e-12)
        if min(map(min, shapes)) and kind is not float:
            Case(qad.tr, tuple(factors)).check()


def test_other_types_and_memory_orders():
    a = np.arange(9).reshape(3, 3)
    assert qad.tr(a) == 12
    assert qad.tr(a.tolist()) == 12
    assert qad.tr(np.eye(3, dtype=bool)) == 3
    x, y = np.random.default_rng(0).random((2, 4, 3))
    for one in (x, np.asfortranarray(x)):
        for two in (y.T, y.T.copy()):
            np.testing.assert_allclose(qad.tr(one, two), np.trace(x @ y.T))
    assert qad.tr(x.astype(np.float32), y.T.astype(np.float32)).dtype == np.float32


def test_gradients_are_the_other_factor():
    x, y = operands_for(np.random.default_rng(0), [(3, 4), (4, 3)])
    gx, gy = qad.grad(lambda x, y: qad.tr(x, y).real, argnums=(0, 1))(x, y)
    np.testing.assert_allclose(gx, y.conj().T)
    np.testing.assert_allclose(gy, x.conj().T)
    np.testing.assert_allclose(qad.grad(lambda x: qad.tr(x @ y).real)(x), y.conj().T)


def test_cyclic_order_is_free():
    rng = np.random.default_rng(0)
    vector, matrix = operands_for(rng, [(1, 50), (50, 50)])
    from qad.contract.notation.trace import _ring_plan

    p = _ring_plan((matrix.shape, matrix.shape, (50, 1), vector.shape), ())
    assert p.flops == 2 * 2500 + 50


@pytest.mark.parametrize(
    "shapes", [[(3, 4)], [(3, 4), (4, 5)], [(2, 6), (3, 4)], [(3, 4), (4, 5), (5, 4)], [(3,)], [(3, 4), (4,)], []]
)
def test_open_rings_raise(shapes):
    with pytest.raises(ShapeError, match="ring"):
        qad.tr(*map(np.ones, shapes))


def test_partial_trace():
    rng = np.random.default_rng(0)
    rho = operands_for(rng, [(5, 12, 12)])[0]
    x = rho.reshape(5, 2, 3, 2, 2, 3, 2)
    for keep, text, size in (
        (0, "zabcxbc->zax", 2),
        ([2, 0], "zabcxbw->zcawx", 4),
        ((-2,), "zabcaxc->zbx", 3),
        ((), "zabcabc->z", 1),
        ((0, 1, 2), "zabcxyw->zabcxyw", 12),
    ):
        expected = np.einsum(text, x).reshape(5, size, size)
        np.testing.assert_allclose(qad.partial_trace(rho, (2, 3, 2), keep), expected)
    qad.check_grads(lambda rho: qad.partial_trace(rho, (2, 3, 2), 1), (rho,))
    a, b = operands_for(rng, [(2, 2), (3, 3)])
    np.testing.assert_allclose(qad.partial_trace(np.kron(a, b), (2, 3), 0), a * np.trace(b))


def test_partial_trace_errors():
    with pytest.raises(ShapeError, match="6"):
        qad.partial_trace(np.ones((4, 4)), (2, 3), 0)
    for keep in (2, (0, 0), (0, -2)):
        with pytest.raises(ArgumentError, match="keep"):
            qad.partial_trace(np.ones((4, 4)), (2, 2), keep)
