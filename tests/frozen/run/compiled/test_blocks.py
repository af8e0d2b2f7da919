"""Chains of elementwise functions of large arrays, block by block."""

import numpy as np
import pytest

import qad
from qad.frozen.run.compiled.blocks import BLOCK
from qad.frozen.run.placement import memory_plan
from tests.frozen.run.compiled.running import both, normal, table_of

pytest.importorskip("llvmlite")


def wave(x, y):
    """A chain and a sum."""
    return np.sum(np.exp(-(x**2)) * np.sin(y) * x)


def branches(x, y):
    """Arrays that are read late, or returned, or in the order of another view."""
    a = np.exp(x)
    b, c = a * y + 1, a.sum()
    d = b / c - a
    return d, (d * d).sum(), a, (b[::-1] * d)[:5]


def softmax(x, y):
    """A sum that the chain after it reads."""
    weights = np.exp(x - y.sum() * 1e-9)
    return weights / weights.sum() * y + x.imag


def last_entry(x, y):
    """An entry of the last block, which the first block of the next step reads; a sum in another shape."""
    a = np.exp(x) * y
    b = a * a[-1] + x
    return b - b.sum(keepdims=True), b[1:] * a[:-1] + a[3]


def spread_views(x, y):
    """A sum, and an entry of the last block, broadcast to the size of the chain by views of their own."""
    a = np.exp(0.1 * x)
    b = a / np.broadcast_to(a.sum(keepdims=True), a.shape) + 1
    c = b * np.broadcast_to(a.reshape(-1, 1)[-1], a.shape) * y
    d = np.broadcast_to(np.broadcast_to(c[-1:], (2, 1))[1], c.shape) * c
    return d, np.sum(c * d), b


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("size", [1 << 15, (1 << 15) + 1, (1 << 15) + BLOCK - 1])
@pytest.mark.parametrize("f", [wave, branches, softmax, last_entry, spread_views])
def test_agreement(f, size, dtype):
    points = [(normal(size, dtype=dtype, seed=s), normal(size, dtype=dtype, seed=s + 1)) for s in (0, 2)]
    one, two, count = both(f, *points)
    assert count >= 3
    for a, b in zip(qad.core.trees.flatten(one)[0], qad.core.trees.flatten(two)[0], strict=True):
        assert np.asarray(a).dtype == np.asarray(b).dtype
        eps = np.finfo(np.asarray(a).dtype).eps
        np.testing.assert_allclose(a, b, rtol=100 * eps, atol=100 * eps * np.abs(b).max())


def test_gradients_of_matrices():
    x, y = normal(200, 300), normal(300)
    (one,), (two,), count = both(qad.value_and_grad(wave, (0, 1)), (x, y))
    assert count > 5
    np.testing.assert_allclose(one[0], two[0], rtol=1e-13)
    for a, b in zip(one[1], two[1], strict=True):
        np.testing.assert_allclose(a, b, atol=1e-13)


def test_what_is_between_takes_room_for_a_block():
    x, y = normal(1 << 16), normal(1 << 16, seed=1)
    _, places = table_of(qad.value_and_grad(wave, (0, 1)), x, y)
    (chain,) = places.chains
    assert len(chain.local) > 5
    assert memory_plan(places)[1] < x.nbytes / 2


@pytest.mark.parametrize("seed", range(10))
def test_no_two_arrays_of_a_chain_overlap(seed):
    """Arrays that are written whole keep their memory while the chain runs, and rooms of blocks while they are read."""
    rng = np.random.default_rng(seed)
    script = [(rng.integers(3), rng.integers(4), rng.integers(4)) for _ in range(14)]
    binary = np.add, np.multiply, np.subtract

    def f(x, y):
        values = [x, y * 0.5, x - y, x * y]
        for operation, i, j in script:
            values.append(binary[operation](values[-1 - i], values[-1 - j]) * 0.7)
        flipped = [v[::-1].copy() * v for v in values[5::3]]  # these are needed whole
        return [v.sum() for v in values[4::2]], flipped, values[-1]

    points = [(normal(1 << 15, seed=s), normal(1 << 15, seed=s + 9)) for s in (seed, seed + 1)]
    one, two, _ = both(f, *points)
    for a, b in zip(qad.core.trees.flatten(one)[0], qad.core.trees.flatten(two)[0], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11 * np.abs(b).max())


def test_results_are_the_callers():
    x, y = normal(1 << 16), normal(1 << 16, seed=1)
    frozen = qad.freeze(qad.value_and_grad(wave, (0, 1)))
    frozen(x, y)
    (value, first), (_, second) = frozen(x, y), frozen(2 * x, y)
    again = frozen(x, y)
    assert value == again[0]
    for a, b, c in zip(first, again[1], second, strict=True):
        np.testing.assert_array_equal(a, b)
        assert not np.shares_memory(a, b)
        assert not np.shares_memory(a, c)
