"""Integers whose values decide whether there is a result: negative powers, and integers of NaN and infinity."""

import itertools
import math

import numpy as np
import pytest

import qad


def power(n):
    try:
        return np.power(2, n)
    except ValueError:  # integers have no negative powers
        return 0 * n - 7


def power_in_place(n):
    n = n.copy()
    try:
        n **= n
    except ValueError:
        return 0 * n - 7
    return n


def times_integer(x):
    try:
        return x * int(x[0])
    except (ValueError, OverflowError):  # NaN and infinity are no integers
        return np.zeros_like(x) - 7


def times_floor(x):
    try:
        return x * math.floor(x[0])
    except (ValueError, OverflowError):
        return np.zeros_like(x) - 7


INTEGERS = [np.array(n) for n in ([-1, 1], [1, 2], [2, 1])]
NUMBERS = [np.array([first, 6.0]) for first in (np.nan, 1.0, np.inf, -2.0)]


@pytest.mark.parametrize("passes", [None, ()])
@pytest.mark.parametrize(
    "f, points",
    [(f, INTEGERS) for f in (power, power_in_place)] + [(f, NUMBERS) for f in (times_integer, times_floor)],
    ids=lambda f: getattr(f, "__name__", ""),
)
def test_errors_of_integers(f, points, passes):
    for order in itertools.permutations(points):
        frozen = qad.freeze(f, passes=passes)
        for x in order + order:
            np.testing.assert_array_equal(frozen(x), f(x))
