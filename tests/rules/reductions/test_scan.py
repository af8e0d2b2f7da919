"""Products with zeros, cumulative sums and products, differences."""

import numpy as np
import pytest

import qad
from tests.cases import Case, normal

R, C = normal(3, 5), normal(3, 5, complex)
ONE_ZERO, TWO_ZEROS = (np.concatenate([np.zeros(n), normal(4)]) for n in (1, 2))
ROWS = np.array([[0.0, 1.5, 0.0, 2.0], [1.0, 0.0, -2.0, 1.5], [1.0, 2.0, 0.5, 1.5]])

CASES = [
    Case(lambda x, f=f, axis=axis: f(x, axis=axis), x, name=f"{f.__name__}(axis={axis})")
    for f in (np.prod, np.cumprod, np.cumsum)
    for x in (R, C, ROWS, ROWS + 0j, C.T[:, ::2])
    for axis in (0, -1)
]
CASES += [
    Case(f, x) for f in (np.prod, np.cumprod) for x in (C, ONE_ZERO, TWO_ZEROS, ONE_ZERO + 0j, np.zeros(2), normal(1))
]
CASES += [Case(np.cumsum, C), Case(np.cumprod, normal(0))]
CASES += [
    Case(lambda x: np.prod(x, axis=(0, -1), keepdims=True), normal(2, 3, 2, complex), name="prod-axes"),
    Case(lambda x: np.multiply.reduce(x), R, name="multiply.reduce"),
    Case(lambda x: np.prod(x, dtype=complex), R, name="prod-dtype"),
    Case(lambda x: x.cumsum(0).cumprod(1).prod(), R, name="methods"),
    Case(np.diff, C),
    Case(lambda x: np.diff(x, n=2, axis=0), R, name="diff-twice"),
    Case(lambda x, y: np.diff(x, prepend=y, append=0), (R, normal(3, 2)), name="diff-edges"),
    Case(np.trapezoid, C),
    Case(lambda y: np.trapezoid(y, dx=0.3, axis=0), R, name="trapezoid-dx"),
    Case(lambda y, x: np.trapezoid(y, x), (C, normal(5)), name="trapezoid-x"),
    Case(lambda y, x: np.trapezoid(y, x, axis=0), (C, R), name="trapezoid-x-of-two-axes"),
]
if hasattr(np, "cumulative_sum"):
    CASES += [
        Case(lambda x: np.cumulative_sum(x, axis=1, include_initial=True), R, name="cumulative_sum"),
        Case(lambda x: np.cumulative_prod(x, include_initial=True), ONE_ZERO, name="cumulative_prod"),
    ]


CASES += [
    Case(lambda y: np.trapezoid(y, [0, 1, 3]), normal(2, 3, complex), name="trapezoid-list"),
    Case(lambda x: np.trapezoid([1, 2, 4], x), normal(3), name="trapezoid-of-list"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


def test_products_of_nothing():
    for axis, value in ((0, [1, 1]), (1, [])):
        out, pullback = qad.vjp(lambda x, axis=axis: np.prod(x, axis=axis), np.zeros((0, 2)))
        np.testing.assert_array_equal(out, value)
        assert pullback(out)[0].shape == (0, 2)


def test_where_leaves_factors_out():
    mask = ROWS != 0
    Case(lambda x: np.prod(x, axis=0, where=mask, initial=2.0), ROWS).check()
    np.testing.assert_allclose(np.prod(qad.tensor(ROWS), where=mask).numpy(), np.prod(ROWS, where=mask))


@pytest.mark.parametrize("n", [2, 3, 7, 8, 9])
def test_cumulative_products_of_every_length(n):
    x = normal(n, complex)
    x[n // 2] = 0
    Case(np.cumprod, x).check()


def test_values_are_those_of_numpy():
    for f in (
        lambda x: np.diff(x, prepend=1.0),
        lambda x: np.trapezoid(x, np.arange(5.0)),
        lambda x: np.prod(x, (0, 1), keepdims=True),
        lambda x: np.cumsum(x, dtype=complex),
    ):
        np.testing.assert_allclose(f(qad.tensor(R)).numpy(), f(R))


def test_third_order_of_a_product_with_three_zeros():
    x = np.array([0.0, 0.0, 0.0, 2.0])

    def third(x):
        d = qad.grad(np.prod)
        return qad.jvp(lambda y: qad.jvp(d, (y,), (np.eye(4)[1],))[1], (x,), (np.eye(4)[2],))[1]

    np.testing.assert_array_equal(third(x), [2, 0, 0, 0])
