"""Frozen functions: what `lru_cache` remembers may be older than what the cached function reads."""

from functools import lru_cache

import numpy as np
import pytest

import qad

X = np.array([1.5, -2.0])


@pytest.mark.parametrize("size", [None, 8], ids=["all", "few"])
@pytest.mark.parametrize("result", [lambda w: w, lambda w: {"w": w}["w"]], ids=["number", "dict"])
def test_a_cache_that_is_older_than_what_it_was_made_of(size, result):
    """The cache answers with what was captured before, until it is cleared."""
    w = [2.0]

    @lru_cache(size)
    def table(n):
        return result(w[0]) * n

    frozen = qad.freeze(lambda x: x * table(3))
    for _ in range(3):
        assert np.array_equal(frozen(X), 6 * X)
    assert frozen.stats.replays == 1
    w[0] = 5.0
    for _ in range(2):
        assert np.array_equal(frozen(X), 6 * X)
    table.cache_clear()
    for _ in range(3):
        assert np.array_equal(frozen(X), 15 * X)
    w[0] = 1.0
    table.cache_clear()
    assert table(3) == 3.0
    assert np.array_equal(frozen(X), 3 * X)


def test_the_cache_of_a_method():
    """The object is in the keys."""

    class Model:
        def __init__(self):
            self.w = 2.0

        def table(self, n):
            return {"result": self.w * n}

    Model.table, model = lru_cache(8)(Model.table), Model()
    frozen = qad.freeze(lambda x: x * model.table(3)["result"])
    for _ in range(3):
        frozen(X)
    model.w = 5.0
    assert np.array_equal(frozen(X), 6 * X)
    Model.table.cache_clear()
    assert np.array_equal(frozen(X), 15 * X)


@pytest.mark.parametrize("size", [None, 8], ids=["all", "few"])
def test_a_cached_array_that_is_changed(size):
    """Containers of arrays in a cache are compared whole."""

    @lru_cache(size)
    def table(n):
        return {"w": [np.full(2, float(n))]}

    frozen = qad.freeze(lambda x: x * table(3)["w"][0])
    for _ in range(3):
        frozen(X)
    table(3)["w"][0] = np.ones(2)
    assert np.array_equal(frozen(X), X)


def test_a_cache_of_what_cannot_be_compared():
    """Iterators, files and the like are no reason to refuse."""

    @lru_cache
    def table(n):
        return float(n), iter(())

    frozen = qad.freeze(lambda x: x * table(3)[0])
    for _ in range(3):
        assert np.array_equal(frozen(X), 3 * X)
    assert frozen.stats.replays == 1


def test_an_entry_of_a_cache_that_is_used_again():
    """A cache of one entry forgets, and has the same key with another result."""
    w = [2.0]

    @lru_cache(1)
    def table(n):
        return w[0] * n

    frozen = qad.freeze(lambda x: x * table(3))
    for _ in range(3):
        frozen(X)
    w[0] = 5.0
    table(4), table(3)
    w[0] = 2.0
    assert np.array_equal(frozen(X), 15 * X)
