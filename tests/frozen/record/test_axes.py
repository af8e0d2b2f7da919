"""Axes and shapes as NumPy's integers, as arrays, and of memory that is written into: they made recordings fail."""

import numpy as np
import pytest

import qad

X = np.arange(8.0).reshape(2, 4)
ONE, FOUR = np.int64(1), np.int64(4)
AXES = np.array([1, 0])


def written_and_turned(x):
    b = np.zeros_like(x)
    b[0] = x[0]
    return b.transpose(1, 0).reshape(-1) * 1.0


FUNCTIONS = {
    "reshape to a NumPy integer": lambda x: (x + 1).reshape(2 * FOUR) * 2,
    "reshape to one and the rest": lambda x: (x + 1).reshape(FOUR, -1) * 2,
    "transpose by NumPy integers": lambda x: (x + 1).transpose(ONE, np.int64(0)) * 2,
    "transpose by an array": lambda x: (x + 1).transpose(AXES) * 2,
    "np.transpose by an array": lambda x: np.transpose(x + 1, axes=AXES) * 2,
    "axes moved by arrays": lambda x: np.moveaxis(x + 1, AXES, AXES[::-1]) * 2,
    "sum along a NumPy integer": lambda x: np.sum(x, axis=(ONE,)),
    "a transpose of what was written": written_and_turned,
    "shifts": lambda x: ((x.astype(int) << 2) >> ONE) + (1 << x.astype(int)),
    "operators from dense matrices": lambda x: qad.mps.MPO.from_dense(np.reshape(np.kron(x, x), (8, 8))).to_dense(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_recorded_and_replayed(name):
    f = FUNCTIONS[name]
    frozen = qad.freeze(f)
    for x in (X, X + 1.0, X[::-1].copy()):
        np.testing.assert_allclose(frozen(x), f(x), atol=1e-12)
    assert (frozen.stats.recordings, frozen.stats.eager) == (1, 0)


def test_several_results_are_not_written():
    def parts(x):
        whole = np.empty_like(x)
        np.modf(x, out=(None, whole))
        return whole

    with pytest.raises(qad.errors.ArgumentError, match=r"a\[...\], b\[...\] = np.modf"):
        qad.freeze(parts)(X)


def test_axes_that_change_are_noticed():
    axes = np.array([0, 1])
    frozen = qad.freeze(lambda x: x.transpose(axes) + 0.0)
    assert frozen(X).shape == (2, 4)
    axes[:] = 1, 0
    assert frozen(X).shape == (4, 2)
