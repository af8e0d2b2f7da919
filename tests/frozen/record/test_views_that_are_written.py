"""Frozen functions: whose memory a result shows, however the function was called that made it."""

import numpy as np
import pytest

import qad

X, Y = np.array([1.3, 2.1, 0.7]), np.array([0.4, 1.1, 2.2])
WINDOWS = np.lib.stride_tricks.sliding_window_view
VIEWS = {
    "windows": lambda b: WINDOWS(b, (2, 2)),
    "windows by keyword": lambda b: WINDOWS(x=b, window_shape=(2, 2)),
    "transpose by keyword": lambda b: np.transpose(a=b),
    "diagonal by keyword": lambda b: np.diagonal(a=b),
    "real by keyword": lambda b: np.real(val=b),
    "squeeze by keyword": lambda b: np.squeeze(a=b[None]),
    "expand_dims by keyword": lambda b: np.expand_dims(a=b, axis=0),
    "broadcast_to by keyword": lambda b: np.broadcast_to(array=b, shape=(2, 3, 3)),
    "flip by keyword": lambda b: np.flip(m=b),
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_that_is_read_before_and_after_a_write(name):
    def f(x):
        b = np.outer(x, x)
        view = VIEWS[name](b)
        before = np.sum(view**2)
        b[0] = x
        b[1, 1] *= 3
        return before + 2 * np.sum(view**2)

    frozen = qad.freeze(f)
    for x in (X, Y, X):
        assert np.isclose(frozen(x), f(x), rtol=1e-12)
    assert frozen.stats.recordings == 1


def test_a_view_by_keyword_that_is_written_into():
    def f(x):
        b = np.outer(x, x)
        before = np.sum(b**2)
        np.transpose(a=b)[0] = x[0]
        return before + np.sum(b**3)

    frozen = qad.freeze(f)
    for x in (X, Y, X):
        assert np.isclose(frozen(x), f(x), rtol=1e-12)
