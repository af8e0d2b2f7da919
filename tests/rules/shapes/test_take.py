"""np.take as NumPy has it: booleans are zeros and ones, and of nothing whatever is taken is nothing."""

import numpy as np
import pytest

import qad

TAKEN = [
    (np.arange(3.0), np.array([True, False, True]), None), (np.arange(3.0), [True, False], None),
    (np.ones((2, 0, 3)), np.array([True, False]), 0), (np.ones((0, 3)), np.array([True, False]), 1),
    (np.arange(3.0), [], None), (np.arange(3.0), [[]], None), (np.ones((0, 3)), [5], 1), (np.ones((0, 2)), [], 0),
    (np.ones((1, 0, 5, 0)), [[0, 1]], -1),
]  # fmt: skip


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
@pytest.mark.parametrize("x, indices, axis", TAKEN)
def test_what_is_taken(x, indices, axis, mode):
    def f(x):
        return np.take(x, indices, axis, mode=mode)

    expected = f(x)
    value, pullback = qad.vjp(f, x)
    np.testing.assert_array_equal(value, expected)
    assert np.shape(value) == expected.shape
    assert pullback(np.ones(expected.shape))[0].sum() == expected.size
    np.testing.assert_array_equal(qad.vmap(f)(np.stack([x, x]))[1], expected)
    frozen = qad.freeze(f)
    frozen(x)
    np.testing.assert_array_equal(frozen(x), expected)


@pytest.mark.parametrize("shape, indices, axis", [((0,), [1], 0), ((3, 0), [7], 1)])
def test_what_cannot_be_taken(shape, indices, axis):
    with pytest.raises(IndexError):
        qad.vjp(lambda x: np.take(x, indices, axis), np.ones(shape))
