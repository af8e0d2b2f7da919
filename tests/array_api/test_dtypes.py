"""The standard's functions on every dtype and on arrays of odd shapes: what NumPy answers, and gradients that fit.

The standard leaves values of integers, booleans and empty arrays to the same rules as all others; NumPy follows it
there, and so is the measure.  Where NumPy raises, so does the namespace.
"""

import numpy as np
import pytest

import qad
from qad.core.trees import flatten
from tests.array_api import standard
from tests.array_api.tables import CONSTANT, GRADIENTS, ONE, REAL_ONLY, TWO, X, Y, inner, points

xp = qad.array_api
NAMES = sorted(name for name in {**GRADIENTS, **CONSTANT} if "." in name or hasattr(np, name))
OTHERWISE = {  # name -> the kinds of dtypes for which the namespace differs from NumPy, and why
    "clip": ("biu", "the answer keeps the dtype of x, as the standard asks"),
    "conj": ("b", "the standard has it for numbers"),
    "finfo": ("biufc", "its answers are Python's numbers"),
    "linalg.matrix_power": ("biu", "the standard has it for floating-point numbers"),
}
TOLERANCE = {"float32": 1e-4, "complex64": 1e-4, "float64": 1e-12, "complex128": 1e-12}
REDUCTIONS = [
    "all",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "cumulative_sum",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "var",
]
SHAPES = [(), (0,), (1,), (2, 0), (1, 3), (2, 1, 2)]
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of divisions by 0 among integers, means of nothing


def answer(f, *args):
    """The arrays that `f` gives, or the error."""
    try:
        return [a for a in flatten(f(*args))[0] if isinstance(a, (np.ndarray, np.generic, qad.Tensor))]
    except Exception as error:
        return error


def compare(found, expected, values=True):
    """Errors beside errors; else shapes, dtypes and values."""
    if isinstance(expected, Exception):
        assert isinstance(found, Exception), f"NumPy raises {expected!r}"
        return
    assert not isinstance(found, Exception), repr(found)
    for a, b in zip(found, expected, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        if values:
            np.testing.assert_allclose(qad.stop_gradient(a), b, rtol=TOLERANCE.get(b.dtype.name, 0), atol=1e-6)


def fits(f, arrays):
    """Gradients have the shapes and dtypes of the arguments."""
    value, pullback = qad.vjp(lambda *a: sum((xp.sum(xp.abs(y)) for y in answer(f, *a)), 0.0), *arrays)
    for g, a in zip(pullback(np.ones_like(value)), arrays, strict=True):
        assert (np.shape(g), np.asarray(g).dtype) == (a.shape, a.dtype)


@pytest.mark.parametrize("name", NAMES)
def test_every_dtype(name):
    f = {**GRADIENTS, **CONSTANT}[name]
    f = f[1] if isinstance(f, tuple) else f
    exact = not name.startswith(("empty", "unique"))  # entries left to chance; an order that is NumPy's secret
    for dtype in standard.DTYPES:
        if np.dtype(dtype).kind in OTHERWISE.get(name, [""])[0]:
            continue
        arrays = [(10 * a).astype(dtype) for a in points(inner(name) if name in GRADIENTS else f, X, Y)]
        compare(answer(f, xp, *map(xp.asarray, arrays)), answer(f, np, *arrays), exact)


@pytest.mark.parametrize("name", [name for name in (*ONE.split(), *TWO.split(), *REDUCTIONS) if hasattr(np, name)])
def test_every_shape(name):
    def f(xp, *arrays):
        return getattr(xp, name)(*arrays)

    for shape in SHAPES:
        for dtype in (np.float32, np.int8, *([] if name in REAL_ONLY else [np.complex64])):
            arrays = [np.full(shape, k).astype(dtype) for k in range(1, 3 if name in TWO.split() else 2)]
            expected = answer(f, np, *arrays)
            compare(answer(f, xp, *map(xp.asarray, arrays)), expected)
            if dtype != np.int8 and not isinstance(expected, Exception):
                fits(lambda *a: f(xp, *a), arrays)
