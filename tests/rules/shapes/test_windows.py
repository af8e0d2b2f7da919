"""Sliding windows and ``np.emath``: values are NumPy's, derivatives those of the functions they stand for."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import qad
from tests.cases import Case, normal

INSIDE, BELOW = np.array([0.2, 0.7, 0.5]), np.array([-0.5, -2.0, 3.0])
EMATH = [
    (f, point)
    for f in (np.emath.sqrt, np.emath.log, np.emath.log2, np.emath.log10)
    for point in (INSIDE, BELOW, normal(3, complex))
]
EMATH += [(f, x) for f in (np.emath.arccos, np.emath.arcsin, np.emath.arctanh) for x in (INSIDE, BELOW)]
EMATH += [(lambda x: np.emath.logn(2.0, x), x) for x in (INSIDE, BELOW)]
EMATH += [(lambda x, p=p: np.emath.power(x, p), x) for x in (INSIDE, BELOW) for p in (2, -2, 0.5)]
CASES = [Case(f, x) for f, x in EMATH]
CASES += [
    Case(lambda x: sliding_window_view(x, 3), normal(5), name="windows"),
    Case(lambda x: sliding_window_view(x, (2, 3)), normal(3, 4, complex), name="windows-2"),
    Case(lambda x: sliding_window_view(x, (2, 2), axis=(0, 0)), normal(5, 2), name="windows-twice"),
    Case(qad.grad(lambda x: np.sum(sliding_window_view(x, 3) ** 3)), normal(5), name="windows, added up"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


@pytest.mark.parametrize("f, x", EMATH)
def test_emath_leaves_the_reals_where_numpy_does(f, x):
    found, expected = f(qad.tensor(x, requires_grad=True)).numpy(), f(x)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    single = x.astype(np.complex64 if x.dtype == complex else np.float32)
    assert f(qad.tensor(single)).dtype == f(single).dtype


def test_emath_in_frozen_programs_and_batches():
    f = qad.freeze(lambda x: np.sum(np.abs(np.emath.sqrt(x)) ** 2))
    for x in (INSIDE, BELOW, INSIDE):
        np.testing.assert_allclose(f(x), np.sum(np.abs(x)))
    batch = np.stack([INSIDE, BELOW])
    np.testing.assert_allclose(qad.vmap(np.emath.sqrt)(batch), np.emath.sqrt(batch))


@pytest.mark.parametrize("shape, window, axis", [((5,), 2, None), ((3, 4), (2, 2), None), ((3, 4), 2, 1),
                                                 ((5, 2), (2, 3), (0, 0)), ((4, 3), (2, 1), (1, 0))])  # fmt: skip
def test_windows_are_numpys(shape, window, axis):
    x = normal(*shape)
    found = sliding_window_view(qad.tensor(x, requires_grad=True), window, axis)
    np.testing.assert_array_equal(found.numpy(), sliding_window_view(x, window, axis))
    batch = np.stack([x, -x])
    windows = qad.vmap(lambda x: sliding_window_view(x, window, axis))(batch)
    np.testing.assert_array_equal(windows, [sliding_window_view(x, window, axis) for x in batch])


def test_windows_that_do_not_fit():
    x = qad.tensor(normal(3, 4), requires_grad=True)
    for window, axis in ((4, 0), ((1, 1, 1), None)):
        with pytest.raises(qad.QadError, match="window"):
            sliding_window_view(x, window, axis)
