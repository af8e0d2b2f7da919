"""Every case of the rules, with axes cut to length 1 or 0: what NumPy computes there is computed here, or refused.

Where sizes are 0 or 1, sums are empty, factors are missing, and arrays lie in memory in every order at once.
"""

from contextlib import suppress

import numpy as np
import pytest

import qad
from qad.core.trees import flatten, tree_map
from tests.rules.test_registry import fresh, gathered
from tests.sampling import one_in

pytestmark = pytest.mark.filterwarnings("ignore")
# Primitives whose keywords hold the sizes; and NumPy folds powers along a row wrongly (it keeps the last one only).
INNER = ("reduce", "scatter", "gathered_back", "second_of_sine", "power.reduce")
OLD = ("cov-columns",) if np.lib.NumpyVersion(np.__version__) < "2.2.0" else ()  # it took a single row for a column


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def cut(point, sizes):
    """The point with every axis of a length in `sizes` cut to the length that stands there."""

    def each(x):
        return x[tuple([slice(0, sizes.get(n, n)) for n in x.shape])].copy() if isinstance(x, np.ndarray) else x

    return tree_map(each, point)


def small_points(case):
    """The points of a case with one of its lengths, or all of them, cut to 0 or 1, as far as NumPy's functions go."""
    lengths = {n for x in flatten(case.point)[0] for n in np.shape(x)}
    found = []
    for to in (0, 1):
        for chosen in [{n} for n in lengths if n > to] + [lengths] * (len(lengths) > 1):
            point = cut(case.point, dict.fromkeys(chosen, to))
            with suppress(ValueError, TypeError, ArithmeticError, IndexError, RuntimeError, qad.QadError):
                right = case.f(*point)
                found.append((point, right))
    return found


def same(found, right):
    pairs = list(zip(flatten(found)[0], flatten(right)[0], strict=True))
    plain = [(np.asarray(qad.extend.value_of(x)), np.asarray(y)) for x, y in pairs]
    return all(x.shape == y.shape and np.allclose(x, y, 1e-9, 1e-9, equal_nan=True) for x, y in plain)


def two(tree):
    return tree_map(lambda x: np.stack([x, x]), tree)


def replayed(f, point):
    step = qad.freeze(f)
    step(*point)
    return step(*point)


ROADS = {
    "constant": lambda f, point, right: (f(*tree_map(qad.tensor, point)), right),
    "reverse": lambda f, point, right: (qad.vjp(f, *point)[0], right),
    "forward": lambda f, point, right: (qad.jvp(f, point, point)[0], right),
    "batch": lambda f, point, right: (qad.vmap(f)(*two(point)), two(right)),
    "frozen": lambda f, point, right: (replayed(f, point), right),
}


def loss_of(f):
    def loss(*point):
        leaves = [x for x in flatten(f(*point))[0] if np.asarray(qad.extend.value_of(x)).dtype.kind in "fc"]
        return sum([np.sum(qad.abs2(x) * np.arange(1.0, 1 + np.size(x)).reshape(np.shape(x))) for x in leaves])

    return loss


def slopes(f, point):
    """The derivative along a direction by the gradient, by differences, and how far these are off."""

    def of_noise(x):
        noise = rng.normal(size=np.shape(x)) + 1j * rng.normal(size=np.shape(x))
        kind = np.asarray(x).dtype.kind
        return noise if kind == "c" else noise.real * (kind == "f")

    rng, loss = np.random.default_rng(1), loss_of(f)
    direction = tree_map(of_noise, point)

    def along(h):
        return loss(*tree_map(lambda x, v: x + h * v if np.asarray(x).dtype.kind in "fc" else x, point, direction))

    fine, coarse = [(along(-2 * h) - 8 * along(-h) + 8 * along(h) - along(2 * h)) / (12 * h) for h in (5e-4, 1e-3)]
    gradient = qad.grad(loss, tuple(range(len(point))))(*point)
    pairs = zip(flatten(direction)[0], flatten(gradient)[0], strict=True)
    return sum([np.vdot(v, g).real for v, g in pairs]), fine, abs(fine - coarse)


def wrong(case, roads):
    """What is neither NumPy's nor refused, in words."""
    for point, right in small_points(case):
        shapes = [np.shape(x) for x in flatten(point)[0]]
        for road in roads:
            try:
                if not same(*ROADS[road](case.f, point, right)):
                    yield f"{case} of {shapes}, {road}"
            except (qad.QadError, IndexError):  # the latter, as NumPy's, of an axis that is empty
                pass
        if all(np.isfinite(x).all() for x in flatten(right)[0] if np.asarray(x).dtype.kind in "fc"):
            try:
                found, fine, doubt = slopes(case.f, point)
            except (qad.QadError, IndexError):
                continue
            if doubt < 1e-7 * (1 + abs(fine)) and not abs(found - fine) < 1e-6 * (1 + abs(fine)):
                yield f"{case} of {shapes}: gradient {found}, differences {fine}"


def found(floor, roads, chosen=list):
    cases = [case for case in chosen(gathered((floor,))) if not str(case).startswith(INNER + OLD)]
    assert cases
    return [words for case in cases for words in wrong(case, roads)]


def few(cases):
    """One in four of the cases, as far as they bring something new."""
    return fresh(one_in(4, cases))


@pytest.mark.parametrize("floor", ["rules", "special", "contract"])
def test_small_shapes(floor):
    words = found(floor, ("reverse",), few)
    assert not words, "\n".join(words)


@pytest.mark.slow
@pytest.mark.parametrize("floor", ["rules", "special", "linalg", "contract"])
def test_small_shapes_on_every_road(floor):
    words = found(floor, tuple(ROADS))
    assert not words, "\n".join(words)


@pytest.mark.parametrize("ddof", [0, 1, 2, 3, 1.5])
@pytest.mark.parametrize("function", [np.var, np.std, np.nanvar, np.nanstd])
@pytest.mark.parametrize(
    "how", [{}, {"where": np.array([[True, False], [True, True]])}, {"mean": np.zeros((2, 1), np.float32)}]
)
def test_variances_of_fewer_entries_than_degrees_of_freedom(function, ddof, how):
    x = np.array([[1.0, 2.0], [3.0, 5.0]], np.float32)
    found, right = function(qad.tensor(x), axis=1, ddof=ddof, **how), function(x, axis=1, ddof=ddof, **how)
    assert np.allclose(found, right, equal_nan=True)
    assert found.dtype == right.dtype


@pytest.mark.parametrize("weights", [{}, {"fweights": np.array([1, 2])}, {"aweights": np.array([1.0, 2.0])}])
@pytest.mark.parametrize("ddof", [1, 2, 3])
def test_covariances_of_fewer_entries_than_degrees_of_freedom(ddof, weights):
    x = np.array([[1.0, 2.0], [3.0, 5.0]])
    assert np.allclose(np.cov(qad.tensor(x), ddof=ddof, **weights), np.cov(x, ddof=ddof, **weights), equal_nan=True)


def test_a_fit_of_fewer_points_than_coefficients():
    qad.check_grads(lambda x, y: np.polyfit(x, y, 2), (np.array([0.5]), np.array([2.0])))


@pytest.mark.parametrize("ufunc", [np.hypot, np.logaddexp, np.logaddexp2, np.power, np.subtract, np.maximum, np.fmin])
@pytest.mark.parametrize("how", [{}, {"initial": 2.0}, {"keepdims": True}, {"axis": -1}, {"axis": None}, {"axis": ()}])
def test_reductions_of_one_entry_and_of_none(ufunc, how):
    for x in (np.empty((0, 2)), np.empty((2, 0)), np.array([[-2.0, 0.5]]), np.array([-2.0]), np.empty(0)):
        try:
            right = ufunc.reduce(x, **how)
        except ValueError:
            with pytest.raises(qad.QadError):
                ufunc.reduce(qad.tensor(x), **how)
        else:
            found = ufunc.reduce(qad.tensor(x), **how)
            assert np.shape(found) == np.shape(right)
            assert np.allclose(found, right, equal_nan=True)
