"""Integers, truth values and static arguments keep their types in a replay."""

import numpy as np
import pytest

import qad


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int64])
@pytest.mark.parametrize("f", [lambda a, b: np.trace(a @ b), lambda a, b: np.conj(a) @ np.conj(b)])
def test_short_integers(f, dtype):
    rng = np.random.default_rng(0)
    frozen = qad.freeze(f)
    for _ in range(2):
        a, b = rng.integers(0, 100, (2, 6, 6)).astype(dtype)
        found, expected = frozen(a, b), f(a, b)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype


def test_static_arguments_that_are_equal_but_differ():
    power = qad.freeze(lambda x, p: x**p, static_argnames="p")
    assert [power(np.arange(3), p=p).dtype.kind for p in (2, 2.0, 2)] == ["i", "f", "i"]
    signed = qad.freeze(lambda x, p: np.copysign(x, p[0]), static_argnames="p")
    assert [float(signed(np.ones(1), p=(p,))[0]) for p in (0.0, -0.0)] == [1.0, -1.0]
