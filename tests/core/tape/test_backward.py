"""The sweep: depth, shared nodes, accumulation, several outputs, threads."""

import gc
import threading
import tracemalloc

import numpy as np
import pytest

import qad
from qad.extend import defvjp, primitive

C = np.array([0.999 + 0.001j, 1.0, 0.998j, 1.0])


@pytest.mark.parametrize("length", [10**5, pytest.param(10**6, marks=pytest.mark.slow)])
def test_long_chains_of_operations(length):
    def chain(y):
        for _ in range(length):
            y = y * 1.0
        return y.sum().real

    np.testing.assert_array_equal(qad.grad(chain)(np.ones(2)), np.ones(2))


def test_thirty_squarings_take_thirty_steps():
    calls = []

    @primitive
    def square(x):
        return x * x

    defvjp(square, lambda g, y, x: calls.append(1) or 2 * g * x)

    def tower(x):
        for _ in range(30):
            x = square(x)
        return x.sum()

    g = qad.grad(tower)(np.ones(1))
    assert len(calls) == 30
    assert g[0] == 2.0**30


def test_repeated_products_with_itself():
    def tower(x):
        for _ in range(30):
            x = x * x
        return x.sum()

    assert qad.grad(tower)(np.ones(1))[0] == 2.0**30


def test_diamonds_are_accumulated():
    def f(x):
        a = x * 2.0
        b = a * x
        c = a + b
        return (a * b * c + c * x + a).sum().real

    qad.check_grads(f, (C,))


def test_accumulation_never_writes_into_a_shared_cotangent():
    """x + y hands one array to both parents; a later sum must not change it."""

    def f(x, y):
        s = x + y
        return (s * C).real.sum() + (x * 3.0).real.sum() + (y * y).real.sum()

    qad.check_grads(f, (C, 2 * C), order=1)


def test_several_outputs():
    @primitive
    def both(x):
        return x * x, 3.0 * x

    def rule(needed, g, ans, x):
        a, b = g
        total = 0.0 * x
        if a is not None:
            total = total + 2 * a * x
        if b is not None:
            total = total + 3.0 * b
        return [total]

    defvjp(both, shared=rule)
    qad.check_grads(lambda x: both(x)[0] * both(x)[1], (C,))
    qad.check_grads(lambda x: both(x)[1], (C,))


def test_the_graph_is_freed_while_it_is_swept():
    """A held graph would keep all thousand answers alive to the end of the sweep."""
    n, size = 200, 8 * 10**4

    def chain(x):
        for _ in range(n):
            x = x * 1.5
        return x.sum()

    x = np.ones(size // 8)
    qad.grad(chain)(x)
    gc.collect()
    tracemalloc.start()
    qad.grad(chain)(x)
    current, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < (n + 20) * size
    assert current < 3 * size


def test_no_cycles_keep_memory():
    """Nothing waits for the cyclic collector."""
    gc.collect()
    gc.disable()
    try:
        x = np.ones(10**5)
        tracemalloc.start()
        for _ in range(20):
            t = qad.tensor(x, requires_grad=True)
            (t * t).sum().backward()
        del t
        current, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert current < 2 * x.nbytes
    finally:
        gc.enable()


def test_threads_differentiate_at_once():
    results, errors = {}, []

    def work(k):
        try:
            with qad.no_grad() if k % 3 == 0 else threading.Lock():
                for _ in range(50):
                    assert (qad.tensor(1.0, requires_grad=True) * 2.0).requires_grad == (k % 3 != 0)
                    results[k] = qad.grad(lambda x: (x * x * k).sum())(np.ones(4) * k)
        except Exception as error:
            errors.append(error)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(1, 9)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert not errors
    for k, g in results.items():
        np.testing.assert_array_equal(g, np.full(4, 2.0 * k * k))


@pytest.mark.parametrize("shape", [(), (0,), (1, 3), (2, 1, 2)])
def test_shapes(shape):
    x = np.full(shape, 0.7)
    g = qad.grad(lambda x: (x * x).sum())(x)
    assert g.shape == shape
    assert type(g) is np.ndarray


def test_recorded_cotangents_are_not_added_into_plain_arrays():
    @qad.extend.primitive
    def mixed(a, x):
        return a + x

    qad.extend.rule(mixed, lambda g, y, a, x: np.ones(2), lambda g, y, a, x: g * x, fresh=True)
    x = np.array([1.0, 2.0])
    hvp = qad.hvp(lambda x: mixed(x, x).sum(), (x,), (x,))[0]
    assert np.array_equal(hvp, x)


def test_entries_read_many_times():
    """Their cotangents go straight into one array: of a leaf, of an intermediate, of real numbers sent complex ones."""
    x = np.array([1.0, 2.0, 3.0])

    def loss(x):
        y = x * x
        ends, twice = x[1:] * x[:2] * 1j, y[[0, 0]]
        return x[0] * x[1] * x[0] * y[2] * y[-1] + ((ends * ends[::-1]).sum() + 1j * x[2]).real + twice.sum() * y[0]

    qad.check_grads(loss, (x,))
    np.testing.assert_allclose(qad.hvp(loss, (x,), (x,))[0], qad.vhp(loss, (x,), (x,))[0])


def test_wide_and_deep_sums_in_any_order():
    """Nodes wait in a stack and, where they come out of order, in a heap; each is visited once."""

    def loss(x):
        early = [np.sin(x * k) for k in range(1, 30)]
        total = early[0]
        for a, b in zip(early[1:], reversed(early), strict=False):
            total = total * 0.5 + a * np.cos(b) - total * a
        return (total * early[0] + early[7]).sum()

    qad.check_grads(loss, (np.array([0.3, -0.2]),), order=1)
