"""Indices that NumPy makes arrays of: entries that they name twice count twice."""

import array
from collections import deque, namedtuple

import numpy as np
import pytest

import qad


class Foreign:
    """What other libraries' arrays have in common."""

    def __init__(self, entries):
        self.entries = np.array(entries)

    def __array__(self, dtype=None, copy=None):
        return self.entries


Pair = namedtuple("Pair", "rows")
TWICE = [Foreign([1, 1]), deque([1, 1]), array.array("l", [1, 1]), ((1, 1),), Pair([1, 1]), range(-2, 3, 3), [1, -2]]


@pytest.mark.parametrize("index", TWICE, ids=lambda i: type(i).__name__)
def test_entries_that_are_read_twice(index):
    x = np.array([1.0, 2.0, 3.0])
    assert x[index].tolist() == [2.0, 2.0]
    np.testing.assert_array_equal(qad.grad(lambda x: np.sum(x[index] * np.array([1.0, 3.0])))(x), [0.0, 4.0, 0.0])
    wide = index if isinstance(index, tuple) else (index,)
    np.testing.assert_array_equal(qad.grad(lambda x: np.sum(x[(slice(0, 1), *wide)]))(x[None]), [[0.0, 2.0, 0.0]])


@pytest.mark.parametrize("index", TWICE, ids=lambda i: type(i).__name__)
def test_of_values_written_to_one_place_the_last_one_stays(index):
    def loss(x):
        z = qad.zeros(3)
        z[index] = x
        return np.sum(z * np.array([1.0, 2.0, 3.0]))

    np.testing.assert_array_equal(qad.grad(loss)(np.array([5.0, 7.0])), [0.0, 2.0])


def test_an_index_that_is_changed_later():
    index = Foreign([0, 0])

    def loss(x):
        y = np.sum(x[index])
        index.entries[:] = 1
        return y

    np.testing.assert_array_equal(qad.grad(loss)(np.ones(2)), [2.0, 0.0])


@pytest.mark.parametrize("index", [deque(), range(0), (), Foreign(np.zeros(0, int))], ids=lambda i: type(i).__name__)
def test_none_at_all(index):
    x = np.ones((2, 3))
    assert qad.tensor(x, requires_grad=True)[index].shape == x[index].shape
