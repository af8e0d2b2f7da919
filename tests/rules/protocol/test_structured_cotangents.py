"""Lazy cotangents: sums, expansion, and the work that they save."""

import tracemalloc

import numpy as np
import pytest

import qad
from qad.rules.protocol.structured_cotangents import ScaledIdentity, Scatter, may_repeat, scatter
from tests.cases import Case, needs_fast, normal
from tests.counting import calls, peak

CASES = [
    Case(
        lambda a, b: scatter(a, b, indices=((slice(None), 1), np.array([0, 0])), shape=(3, 2), dtype=np.dtype(complex)),
        (normal(3, complex), normal(2, 2, complex)),
        name="scatter",
    )
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3), (2, 1, 4, 4), (0, 0)])
@pytest.mark.parametrize("kind", [float, complex])
def test_scaled_identity(shape, kind):
    scale = normal(*shape[:-2], kind)[()]
    lazy = ScaledIdentity(scale, shape)
    dense = np.asarray(scale)[..., None, None] * np.eye(shape[-1])
    np.testing.assert_array_equal(lazy.dense(), dense)
    assert lazy.dtype == dense.dtype == lazy.dense().dtype
    np.testing.assert_array_equal(lazy.real.dense(), dense.real)
    np.testing.assert_array_equal(lazy.add(lazy).dense(), 2 * dense)
    other = normal(*shape, kind)
    np.testing.assert_array_equal(lazy.add(other), dense + other)
    left, right = normal(shape[-1], 5, kind), normal(5, shape[-1], kind)
    np.testing.assert_allclose(lazy.factor * left, dense @ left)
    np.testing.assert_allclose(lazy.factor * right, right @ dense)


def test_sums_of_two_kinds():
    identity, part = ScaledIdentity(np.float64(2), (2, 2)), np.array([1.0, 3.0])
    expected = 2 * np.eye(2) + [[1, 3], [0, 0]]
    np.testing.assert_array_equal(identity.add(Scatter((2, 2), np.dtype(float), [(0, part)])), expected)
    np.testing.assert_array_equal(Scatter((2, 2), np.dtype(float), [(0, part)]).add(identity).dense(), expected)


def test_both_kinds_in_one_program():
    qad.check_grads(lambda x: np.trace(x @ x) * x[0, 1] + np.trace(x) * np.trace(x @ x[::-1]), (normal(3, 3, complex),))


@pytest.mark.parametrize(
    "index, expected",
    [
        (0, False),
        (slice(2), False),
        ((..., None, 1), False),
        (np.array([0]), True),
        (np.array([True]), False),
        ((0, np.array([1, 1])), True),
        ((np.array([True]), np.array([0])), True),
        ((slice(1), np.array([True])), False),
    ],
)
def test_may_repeat(index, expected):
    assert may_repeat(index) == expected


def test_the_real_part_of_a_scatter():
    lazy = Scatter((3,), np.dtype(np.complex64), [(0, np.complex64(1 + 2j))]).real
    assert lazy.dtype == np.float32
    np.testing.assert_array_equal(lazy.dense(), [1, 0, 0])


@needs_fast
def test_twenty_entries_make_one_array(monkeypatch):
    """The polynomial of the Yota announcement: scalar indexing must not allocate a zero array per entry."""
    made = []
    zeros = np.zeros
    monkeypatch.setattr(np, "zeros", lambda shape, *a, **k: made.append(shape) or zeros(shape, *a, **k))
    x = normal(10**5, complex)
    g = qad.grad(lambda x: sum(x[i] * x[i + 1] for i in range(10)).real)(x)
    assert made.count(x.shape) == 1
    expected = zeros(x.shape, complex)
    expected[:10] += x[1:11].conj()
    expected[1:11] += x[:10].conj()
    np.testing.assert_allclose(g, expected)


@pytest.mark.slow
def test_a_long_loop_over_entries_is_linear():
    def loop(n):
        g = qad.grad(lambda x: sum(x[i] * 2.0 for i in range(n)))(np.ones(n))
        np.testing.assert_array_equal(g, np.full(n, 2.0))

    for count in (calls, peak):
        few, many = (count(lambda n=n: loop(n)) for n in (4_000, 16_000))
        assert many < 4.5 * few


def test_waiting_parts_do_not_pile_up():
    """A loop over slices of one large array holds a few of their cotangents, not all."""

    def loop(x):
        total = 0.0
        for _ in range(200):
            total = total + x[1:] * 1.5
        return total.sum()

    x = np.ones(10**5)
    tracemalloc.start()
    g = qad.grad(loop)(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_allclose(g[1:], 300.0)
    assert g[0] == 0.0
    assert peak < 450 * x.nbytes  # two arrays a step are on the tape
