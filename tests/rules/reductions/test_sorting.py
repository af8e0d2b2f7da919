"""Extremes, sorting and clipping of real numbers; ties; complex numbers are refused."""

import numpy as np
import pytest

import qad
from qad.rules.reductions.sorting import share_ties
from tests.cases import KEYWORDS, Case, apart

X = apart(3, 4)
MASK = X < 1.0
CASES = [
    Case(lambda x, f=f, kw=kw: f(x, **kw), X, name=f"{f.__name__}({kw})")
    for f in (np.max, np.min, np.ptp, np.amax, np.median)
    for kw in ({}, {"axis": 0}, {"axis": -1, "keepdims": True}, {"keepdims": True})
]
CASES += [
    Case(lambda x: np.max(x, axis=(0, 1)), X, name="max-axes"),
    Case(lambda x: np.max(x, axis=1, where=MASK, initial=-9.0), X, name="max-where"),
    Case(lambda x: np.min(x, initial=0.0), abs(X) + 1, name="min-initial"),
    Case(lambda x: np.maximum.reduce(x) - np.minimum.reduce(x, axis=1)[0], X, name="maximum.reduce"),
    Case(np.sort, X),
    Case(lambda x: np.sort(x, axis=0), X, name="sort-axis"),
    Case(lambda x: np.sort(x, axis=None), X.astype(np.float32), name="sort-flat"),
    Case(lambda x: x.max(1) + x.min(axis=1) + x.clip(-0.2, 0.2).sum(), X, name="methods"),
    Case(lambda x: np.clip(x, -0.4, 0.6), X, name="clip"),
    Case(lambda x: np.clip(x, None, 0.6) + np.clip(x, 0.4, None), X, name="clip-one-side"),
    Case(lambda x: np.clip(x, -0.4, [0.1, 0.2, 0.3, 0.6]), X, name="clip-list"),
    Case(lambda x, a, b: np.clip(x, a, b), (X, np.array(-0.4), np.full(4, 0.6)), name="clip-bounds"),
    Case(np.median, apart(5)),
    Case(np.max, np.array(1.5)),
    Case(np.sort, np.zeros((2, 0))),
]
if KEYWORDS:
    CASES.append(Case(lambda x: np.clip(x, min=-0.4, max=[0.1, 0.2, 0.3, 0.6]), X, name="clip-keywords"))
TIES = np.array([2.0, 1.0, 2.0, 3.0, 1.0, 2.0])
CASES += [Case(lambda g: share_ties(g, groups=np.array([0, 1, 0, 2, 1, 0])), TIES, name="share_ties")]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


@pytest.mark.parametrize(
    "f", [np.maximum, np.minimum, np.fmax, np.fmin, np.clip, lambda x, y: np.min(np.stack([x, y]))]
)
def test_ties_share_equally(f):
    bounds = (9.0,) if f is np.clip else ()
    assert qad.grad(lambda x, y: f(x, y, *bounds), argnums=(0, 1))(2.0, 2.0) == (0.5, 0.5)


def test_ties_along_an_axis():
    g = qad.grad(lambda x: np.min(x, axis=1) @ np.array([6.0, 4.0]))(np.array([[1.0, 1.0, 1.0], [2.0, 3.0, 2.0]]))
    np.testing.assert_allclose(g, [[2, 2, 2], [2, 0, 2]])


def test_sorted_ties_share_equally():
    g = qad.grad(lambda x: np.sort(x) @ np.arange(6.0))(TIES)
    np.testing.assert_allclose(g, [3, 0.5, 3, 5, 0.5, 3])
    rows = np.stack([TIES, np.ones(6)])
    weights = np.stack([np.arange(6.0), np.arange(6.0)])
    by_rows = qad.grad(lambda x: (np.sort(x, axis=1) * weights).sum())(rows)
    np.testing.assert_allclose(by_rows, [g, np.full(6, 2.5)])
    by_columns = qad.grad(lambda x: (np.sort(x, axis=0) * weights.T).sum())(rows.T)
    np.testing.assert_allclose(by_columns, by_rows.T)


def test_median_of_nan_is_nan():
    assert np.isnan(np.median(qad.tensor([1.0, np.nan, 2.0])).item())


def test_fmax_ignores_nan_and_so_does_its_gradient():
    np.testing.assert_array_equal(qad.grad(lambda x: np.fmax(x, np.nan))(1.5), 1.0)


REFUSED = [
    np.max, np.min, np.ptp, np.median,
    lambda z: np.sort(z)[0], lambda z: np.maximum(z, 0).sum(), lambda z: np.fmin(1.0, z).sum(),
    lambda z: z.clip(0, 1).sum(),
]  # fmt: skip


@pytest.mark.parametrize("f", REFUSED)
def test_complex_numbers_have_no_order(f):
    z = np.array([1 + 1j, 2.0])
    f(qad.tensor(z))  # a value alone is NumPy's
    for transform in (lambda: qad.grad(lambda z: f(z).real)(z), lambda: qad.jvp(f, (z,), (z,))):
        with pytest.raises(qad.errors.GradientTypeError, match="complex numbers has no derivative: write"):
            transform()


def test_where_needs_initial():
    with pytest.raises(qad.errors.ArgumentError, match="initial"):
        qad.grad(lambda x: np.max(x, where=MASK))(X)
