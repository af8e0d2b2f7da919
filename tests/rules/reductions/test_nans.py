"""Functions that leave NaN out, medians and quantiles."""

import numpy as np
import pytest

import qad
from tests.cases import Case, apart, normal
from tests.rules.points import check_values

HOLES = apart(4, 5)
HOLES[[0, 1, 1, 3], [1, 0, 4, 2]] = np.nan
FULL = apart(4, 5, seed=1)
AXES = [{}, {"axis": 0}, {"axis": (0, 1), "keepdims": True}, {"axis": -1, "keepdims": True}]
COMPLEX = normal(3, 4, complex)
COMPLEX[0, 1] = np.nan


def cases(f, x, *args):
    for kw in AXES:
        name = f"{f.__name__}({', '.join(f'{k}={v}' for k, v in kw.items())})"
        yield Case(lambda x, kw=kw: f(x, *args, **kw), x, name=name)


def filled(f, x, *args, **kwargs):
    """NaN cannot be moved by differences: the function of the other entries."""
    mask = np.isnan(x)
    return lambda v: f(np.where(mask, np.nan, v), *args, **kwargs)


NAN = [
    np.nansum, np.nanprod, np.nanmean, np.nanvar, np.nanstd, np.nanmax, np.nanmin, np.nanmedian,
]  # fmt: skip
POINT = np.where(np.isnan(HOLES), 0.5, HOLES)
CASES = [Case(filled(f, HOLES, **kw), POINT, name=f"{f.__name__}-{kw}") for f in NAN for kw in AXES]
CASES += [Case(filled(f, HOLES, axis=1), POINT, name=f.__name__) for f in (np.nancumsum, np.nancumprod)]
CASES += [
    Case(filled(f, COMPLEX, axis=1), normal(3, 4, complex), name=f"{f.__name__}-complex")
    for f in (np.nansum, np.nanprod, np.nanmean, np.nanvar, np.nanstd)
]
CASES += [Case(filled(np.nanvar, HOLES, axis=1, ddof=1), POINT, name="nanvar-ddof")]
CASES += [
    Case(filled(f, HOLES, q, axis=axis), POINT, name=f"{f.__name__}-{axis}")
    for f, q in ((np.nanquantile, [0.2, 0.9]), (np.nanpercentile, 35.0))
    for axis in (None, 0, 1)
]
CASES += [case for x in (FULL, FULL[:, ::-1].T) for case in cases(np.median, x)]
CASES += [case for f, q in ((np.quantile, [[0.1], [0.77]]), (np.percentile, 15)) for case in cases(f, FULL, q)]
METHODS = [
    "linear", "weibull", "hazen", "median_unbiased", "normal_unbiased", "interpolated_inverted_cdf", "lower",
    "higher", "nearest", "midpoint",
]  # fmt: skip
CASES += [Case(lambda x, m=m: np.quantile(x, 0.37, axis=1, method=m), FULL, name=f"quantile-{m}") for m in METHODS]
CASES += [Case(lambda q: np.quantile(FULL, q), np.array([0.23, 0.61]), name="quantile-in-q")]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    check_values(case)
    case.check()


@pytest.mark.parametrize("f", NAN, ids=lambda f: f.__name__)
@pytest.mark.parametrize("kw", AXES, ids=str)
def test_gradients_at_nan_are_zero(f, kw):
    g = qad.grad(lambda x: f(x, **kw).sum())(HOLES)
    assert np.all(g[np.isnan(HOLES)] == 0)
    assert np.all(np.isfinite(g))


def test_nothing_but_nan():
    x = np.array([[np.nan, np.nan], [1.0, 3.0]])
    with pytest.warns(RuntimeWarning, match="All-NaN"):
        y = np.nanmax(qad.tensor(x), axis=1)
    np.testing.assert_array_equal(y.numpy(), [np.nan, 3.0])
    np.testing.assert_array_equal(np.nanmedian(qad.tensor(x), axis=1).numpy(), [np.nan, 2.0])
    np.testing.assert_array_equal(np.median(qad.tensor(x), axis=0).numpy(), [np.nan, np.nan])


def test_ties_share_their_quantile():
    g = qad.grad(lambda x: np.quantile(x, 0.5))(np.array([1.0, 2.0, 2.0, 2.0, 5.0]))
    np.testing.assert_allclose(g, [0, 1 / 3, 1 / 3, 1 / 3, 0])


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: np.quantile(x, 1.5), "range"),
        (lambda x: np.quantile(x, 0.5, method="inverted_cdf"), "linear"),
        (lambda x: np.quantile(x, 0.5, axis=0, weights=np.ones(4), method="inverted_cdf"), "np.repeat"),
        (lambda x: np.median(x, out=np.zeros(())), "out="),
    ],
)
def test_refusals(call, message):
    with pytest.raises(qad.errors.ArgumentError, match=message):
        qad.vjp(call, FULL)


@pytest.mark.parametrize("f", [np.nanmean, np.nanmax, np.nanmedian, np.median, lambda x: np.nanquantile(x, 0.3)])
def test_batches_with_other_places_of_nan(f):
    """`qad.vmap` decides for every example by itself."""
    np.testing.assert_allclose(qad.vmap(f)(HOLES[:3]), [f(row) for row in HOLES[:3]])
    g = qad.vmap(qad.grad(f))(HOLES[:3])
    np.testing.assert_allclose(g, [qad.grad(f)(row) for row in HOLES[:3]])
