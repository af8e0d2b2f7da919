"""Chains of elementwise calls on large arrays, block by block: fewer steps, the same bits."""

import pickle

import numpy as np
import pytest

import qad
from qad.frozen.elementwise_blocks import BLOCK, blocks, chained
from tests.cases import normal
from tests.frozen.agree import difference
from tests.frozen.test_passes import calls, improved

PLAIN = ("canonical", "dead")
CHAINED = (*PLAIN, "chains")
X, Y = normal(600, 450), normal(600, 450, seed=1)  # 2.2 MB each: two of them are worth the blocks


def chained_and_plain(f, *args):
    """The numbers of steps of `f` with chains and without; results have the same bits, also for new values."""
    frozen, plain = qad.freeze(f, passes=CHAINED), qad.freeze(f, passes=PLAIN)
    for scale in (1, 1, 1.5):
        moved = [x * scale for x in args]
        assert difference(plain(*moved), frozen(*moved), True) is None
    steps, before = frozen.program.steps, plain.program.steps
    assert frozen.program.counts["chains"] == len(before) - len(steps)
    return len(steps), len(before)


def test_a_chain_is_one_step():
    assert chained_and_plain(lambda x, y: np.exp(-(x**2)) * y + 0.5, X, Y) == (1, 5)


@pytest.mark.parametrize("make", [np.asfortranarray, lambda x: x[::-1], lambda x: np.stack([x, x], 2)[..., 0]])
def test_other_layouts(make):
    assert chained_and_plain(lambda x, y: (x + y) * x - y, make(X), make(Y)) == (1, 3)
    assert chained_and_plain(lambda x, y: (x + y) * x - y, make(X), Y) == (1, 3)


def test_operands_that_broadcast():
    row, column, number = Y[0], Y[:, :1].copy(), np.float64(0.3)
    assert chained_and_plain(lambda x, r, c, n: (x * r + c) * n - x, X, row, column, number) == (1, 4)
    assert chained_and_plain(lambda r, c: np.sin(r * c) + 2 * c, row, column) == (2, 4)  # 2 * c is small
    assert chained_and_plain(lambda x, n: (x * n + n) * 2.0, X, 0.7) == (1, 3)


def test_what_others_read_stays():
    def f(x, y):
        s = np.sin(x)
        c = (s * y + 1) * y
        return (c - x) * y + 1, s, c.sum()

    steps, before = chained_and_plain(f, X, Y)
    assert (steps, before) == (4, 8)  # sin, s y + 1 times y, the sum, the rest


def test_scratch_for_what_is_read_twice():
    def f(x, y):
        a = x + y
        b = np.cos(a * x)
        c = b - a
        return (c * b + a) * (c > 0)

    assert chained_and_plain(f, X, Y) == (1, 8)


def test_real_parts_of_complex_blocks():
    z, w = X + 1j * Y, Y - 1j * X
    assert chained_and_plain(lambda z, w: np.sqrt((z * w * z.conj()).real ** 2 + 1), z, w) == (1, 7)
    assert chained_and_plain(lambda z, w: (z * w).real * w + (z - w).imag, z, w)[0] == 1


def test_gradients():
    f = qad.value_and_grad(lambda x, y: np.sum(np.exp(-(x**2)) * np.sin(y) * x), (0, 1))
    steps, before = chained_and_plain(f, X, Y)
    assert steps < before - 8


def test_small_arrays_and_short_chains_stay():
    assert improved(lambda x: np.sin(x) * x + 1, X[:50], passes=CHAINED).counts["chains"] == 0
    assert improved(lambda x: x * 2 + 1, X, passes=CHAINED).counts["chains"] == 0


def test_what_is_written_into_stays():
    def f(x):
        y = x * 2
        y += 1
        return np.sin(y) * x + y

    assert calls(improved(f, X, passes=CHAINED), chained) == 0


def test_chains_need_no_memory_between():
    from tests.frozen.test_uses import peak

    frozen = qad.freeze(lambda x, y: ((x + y) * x - y) * np.sin(x) + 1)
    frozen(X, Y)
    assert peak(lambda: frozen(X, Y)) < X.nbytes + 3 * 8 * BLOCK + 4096


def test_storing_and_showing():
    frozen = qad.freeze(lambda x, y: np.exp(-(x**2)) * y + 0.5)
    expected = frozen(X, Y)
    assert np.array_equal(pickle.loads(pickle.dumps(frozen))(X, Y), expected)
    assert "np.square" in frozen.source
    assert str(5 * X.size) in str(frozen.program)


@pytest.mark.parametrize(
    "shape", [(7,), (BLOCK,), (2 * BLOCK + 1,), (300, 500), (5, BLOCK + 3), (2, 3, 99, 700), (BLOCK + 1, 1)]
)
def test_blocks_cover_an_array_once(shape):
    counts = np.zeros(shape, int)
    for place in blocks(shape):
        assert 0 < counts[place].size <= BLOCK
        counts[place] += 1
    assert (counts == 1).all()
