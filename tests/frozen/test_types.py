"""Integers and truth values keep their types in a replay."""

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
