"""What the tests of captured state share: functions of it, and that a frozen function notices a change."""

import numpy as np

import qad

X = np.array([1.5, -2.0])


def scaled_by(thing):
    """A function that multiplies by the attribute `scale` of `thing`, if there is one."""

    def f(x):
        try:
            return x * thing.scale
        except AttributeError:
            return x

    return f


def check_noticed(f, change):
    """The function is replayed before the change, and recorded again after it."""
    frozen = qad.freeze(f)
    for _ in range(3):
        assert np.array_equal(frozen(X), f(X))
    assert frozen.stats.replays >= 1
    change()
    assert np.array_equal(frozen(X), f(X))
    assert np.array_equal(frozen(X), f(X))
    assert frozen.stats.recordings == 2
