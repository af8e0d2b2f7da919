"""Convolutions, differences on grids, interpolation."""

import numpy as np
import pytest

import qad
from tests.cases import Case, normal
from tests.rules.points import check_values

R, C = normal(5), normal(3, complex)
GRID = np.array([0.0, 0.4, 1.1, 1.5, 2.5])
X = np.array([[-0.5, 0.2, 1.3], [2.7, 0.7, 2.0]])

CASES = [
    Case(lambda a, v, f=f, mode=mode: f(a, v, mode), (a, v), name=f"{f.__name__}-{mode}")
    for f in (np.convolve, np.correlate)
    for mode in ("full", "same", "valid")
    for a, v in ((R, C), (C, R), (normal(4, complex), R), (normal(6), normal(4)), (normal(4), normal(6)), (R[:1], C))
]
CASES += [
    Case(np.ediff1d, normal(2, 3, complex)),
    Case(lambda x, e: np.ediff1d(x, to_end=e, to_begin=0.5), (normal(4), normal(2)), name="ediff1d-edges"),
    Case(np.gradient, R),
    Case(np.gradient, normal(3, 4, complex)),
    Case(lambda x: np.gradient(x, 0.3, axis=1), normal(3, 4), name="gradient-axis"),
    Case(lambda x: np.gradient(x, 0.3, 2.0, edge_order=2), normal(3, 4), name="gradient-edge"),
    Case(lambda x, h: np.gradient(x, h, edge_order=2, axis=-1), (normal(3, 5), GRID), name="gradient-uneven"),
    Case(lambda x, h: np.gradient(x, h, axis=(1,)), (normal(3, 5, complex), GRID), name="gradient-tuple"),
    Case(np.interp, (X, GRID, R)),
    Case(lambda x, f: np.interp(x, GRID, f, left=-1.0), (X, normal(5, complex)), name="interp-complex"),
    Case(lambda x, xp, f: np.interp(x, xp, f, period=2.0), (X + 0.1, GRID[[2, 0, 3, 1]], R[:4]), name="interp-period"),
    Case(lambda x: np.interp(x, GRID, GRID**2, right=7.0), np.array(0.9), name="interp-scalar"),
    Case(lambda y, x: np.trapezoid(y, x), (normal(5, complex), GRID), name="trapezoid"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    check_values(case)
    case.check()


def test_constant_lists_beside_a_tensor():
    np.testing.assert_allclose(np.convolve([1.0, 2.0], qad.tensor([1.0, 1.0])).numpy(), [1.0, 3.0, 2.0])
    np.testing.assert_allclose(np.interp([0.5], [0, 1], qad.tensor([1.0, 3.0])).numpy(), [2.0])


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: np.convolve(x, np.ones((2, 2))), "two vectors"),
        (lambda x: np.convolve(x, x, mode="middle"), "'full', 'same' or 'valid'"),
        (lambda x: np.gradient(x, 1.0, 2.0), "one spacing"),
        (lambda x: np.gradient(x[:1]), "2 points"),
        (lambda x: np.gradient(x, GRID[:3]), "3 points"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(qad.QadError, match=message):
        qad.vjp(call, R)


def test_interpolation_of_a_batch():
    def f(x):
        return np.interp(x, GRID, GRID**2, left=-1.0)

    np.testing.assert_allclose(qad.vmap(f)(X), f(X))
    np.testing.assert_allclose(qad.vmap(qad.vmap(qad.grad(f)))(X), qad.grad(lambda x: f(x).sum())(X))
