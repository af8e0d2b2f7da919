"""Chains of large arrays on several threads."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import qad
from qad.core.trees import flatten
from qad.frozen.compiled import shares
from qad.frozen.compiled.blocks import BLOCK
from tests.frozen.compiled.running import normal
from tests.frozen.compiled.test_blocks import branches, last_entry, softmax, spread_views, wave

pytest.importorskip("llvmlite")

LARGE = (1 << 18) + 5


@pytest.fixture
def rounds(monkeypatch):
    """The numbers of threads of all runs that were shared."""
    found, run = [], shares.in_rounds

    def noted(work, rounds, threads):
        found.append(threads)
        run(work, rounds, threads)

    monkeypatch.setattr(shares, "in_rounds", noted)
    yield found
    qad.config(threads="auto")


def bits(tree):
    """All leaves, as bytes."""
    return [np.asarray(leaf).tobytes() for leaf in flatten(tree)[0]]


def on_threads(counts, f, *point):
    """The bits that a function gives on so many threads."""
    found = []
    for count in counts:
        qad.config(threads=count)
        found.append(bits(f(*point)))
    return found


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("f", [wave, branches, softmax, last_entry, spread_views])
def test_the_same_bits_on_any_number_of_threads(f, dtype, rounds):
    point = normal(LARGE, dtype=dtype), normal(LARGE, dtype=dtype, seed=1)
    frozen = qad.freeze(f)
    qad.config(threads=1)
    frozen(*point)
    one, *others = on_threads((1, 2, 3, 2, 7), frozen, *point)
    assert all(found == one for found in others)
    assert set(rounds) == {2, 3, 7}
    assert frozen.stats.eager == 0


@pytest.mark.parametrize("size", [1, BLOCK, 2 * BLOCK, 4 * BLOCK + 1, LARGE, 140 * BLOCK])
def test_gradients_of_all_sizes(size, rounds):
    """Small arrays are one thread's."""
    x, y = normal(size), normal(size, seed=1)
    frozen = qad.freeze(qad.value_and_grad(wave, (0, 1)))
    frozen(x, y)
    one, *others = on_threads((1, 2, 3), frozen, x, y)
    assert all(found == one for found in others)
    assert set(rounds) == ({2, 3} if size >= LARGE else set())


def test_more_threads_than_blocks(rounds, monkeypatch):
    monkeypatch.setattr(shares, "WORTH", 0)
    point = normal(16 * BLOCK + 3), normal(16 * BLOCK + 3, seed=1)
    frozen = qad.freeze(qad.value_and_grad(wave, (0, 1)))
    frozen(*point)
    one, many = on_threads((1, 40), frozen, *point)
    assert one == many
    assert rounds == [17]


def test_two_functions_on_two_threads(rounds):
    """Each call has threads, tables and rooms of its own."""
    one, two = qad.freeze(qad.value_and_grad(wave, (0, 1))), qad.freeze(branches)
    points = [(normal(LARGE, seed=s), normal(LARGE, seed=s + 1)) for s in range(0, 8, 2)]
    calls = [(f, point) for point in points for f in (one, two)]
    qad.config(threads=1)
    expected = [bits(f(*point)) for f, point in calls for _ in range(2)][1::2]
    qad.config(threads=2)
    with ThreadPoolExecutor(2) as pool:
        for _ in range(4):
            assert list(pool.map(lambda call: bits(call[0](*call[1])), calls)) == expected
    assert set(rounds) == {2}


@pytest.mark.parametrize("place", [0, LARGE // 2 + 17, LARGE - 1])
def test_warnings_of_every_thread(place, rounds):
    frozen, x = qad.freeze(lambda x: np.exp(x * 2) * x + np.sin(x) * x * x), normal(LARGE)
    frozen(x)
    x[place] = 1000.0
    for count in (1, 2, 3):
        qad.config(threads=count)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            assert np.isinf(frozen(x)[place])
            assert np.isfinite(frozen(-np.abs(x))).all()
        assert [str(each.message) for each in found] == ["overflow encountered in exp"]
    assert rounds == [2, 2, 3, 3]
