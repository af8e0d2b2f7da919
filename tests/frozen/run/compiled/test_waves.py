"""Sine and cosine of the compiled loop, to within one unit in the last place."""

import mpmath
import numpy as np
import pytest

pytest.importorskip("llvmlite")


def carried_out(operation, x, y):
    """One row on two vectors."""
    from qad.frozen.run.compiled.rows import Operand, RowOperation
    from qad.frozen.run.compiled.runs import kernel, own

    row = RowOperation(operation, (Operand.of(x), Operand.of(y)), len(x), (*x.strides, *y.strides))
    rows = np.array([row.numbers(lambda array: (array.__array_interface__["data"][0], -1), own)])
    kernel("run_table")(np.array([[1, 0, 1]]), rows, np.zeros(0, int))


ARGUMENTS = {
    "normal": np.random.default_rng(0).standard_normal(300),
    "wide": np.random.default_rng(1).uniform(-(2.0**19), 2.0**19, 300),
    "small": np.random.default_rng(2).standard_normal(100) * 10.0 ** np.arange(-300, 0, 3),
    "zeros of both": np.arange(-300, 300) * (np.pi / 2),
    "far zeros": np.arange(1, 333_000, 1111) * (np.pi / 2),
    "the largest": np.array([2.0**19, -(2.0**19), np.nextafter(2.0**19, 0), 0.0, -0.0]),
    "beyond": np.array([1.0, 2.0**19 + 1, 1e22, -1e300]),
}


@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.parametrize("operation, exact", [("sine", mpmath.sin), ("cosine", mpmath.cos)])
def test_accuracy(name, operation, exact):
    x = ARGUMENTS[name]
    y = np.empty_like(x)
    carried_out(operation, x, y)
    with mpmath.workprec(1300):
        expected = [exact(mpmath.mpf(each)) for each in x.tolist()]
        for found, value in zip(y.tolist(), expected, strict=True):
            unit = np.spacing(abs(float(value)))
            assert abs(mpmath.mpf(found) - value) < mpmath.mpf(float(unit))


def test_signs_of_zero_nan_and_infinity():
    x, y = np.array([0.0, -0.0, np.nan]), np.empty(3)
    carried_out("sine", x, y)
    np.testing.assert_array_equal(np.signbit(y[:2]), [False, True])
    assert np.isnan(y[2])
    carried_out("cosine", np.array([np.inf, 1.0]), y[:2])
    assert np.isnan(y[0])
    assert y[1] == np.cos(1.0)


def test_numbers_that_lie_apart():
    x, y, dense = np.random.default_rng(0).standard_normal(40), np.zeros(60), np.empty(20)
    carried_out("sine", x[::2], y[::3])
    carried_out("sine", x[::2].copy(), dense)
    np.testing.assert_array_equal(y[::3], dense)
    assert not y[1::3].any()
    assert not y[2::3].any()
