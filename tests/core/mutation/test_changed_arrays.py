"""Plain arrays may change between recording and the backward pass: graphs hold copies of what was used."""

import gc
import sys

import numpy as np
import pytest

import qad
from qad.core.define import PRIMITIVES
from qad.core.errors import ArgumentError
from qad.core.mutation import changed_arrays as watch
from qad.core.mutation.changed_arrays import check
from qad.core.tape.node import leaf
from qad.core.tape.reverse import TAPE, Reverse, note
from qad.core.tape.tensor import Tensor
from tests.cases import needs_fast

X = np.array([1.0, 2.0, 3.0])
TWO = np.full(3, 2.0)


def reused(combine):
    """A function whose work array changes after each use; `combine` uses it."""

    def f(x):
        work = np.ones(3)
        y = x
        for k in range(3):
            work[:] = k + 2
            y = combine(y, work)
        return y.sum()

    return f


CHANGED = {
    "multiply": lambda y, work: y * work,
    "arctan2": lambda y, work: np.arctan2(work, y),
    "contract": lambda y, work: np.einsum("i,i->i", y, work),
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_reused_work_array(name):
    f, step = reused(CHANGED[name]), CHANGED[name]

    def expected(x):
        return step(step(step(x, TWO), TWO + 1), TWO + 2).sum()

    for use in (
        lambda f: qad.grad(f)(X),
        lambda f: qad.vjp(f, X)[1](1.0)[0],
        lambda f: qad.jacobian(f)(X),
        lambda f: qad.hessian(f)(X),
        lambda f: qad.grad(lambda x: qad.grad(f)(x).sum())(X),
        taped,
    ):
        np.testing.assert_array_equal(use(f), use(expected))


def taped(f):
    x = qad.tensor(X, requires_grad=True)
    f(x).backward()
    return x.grad


def test_matrices_and_large_arrays():
    for n in (3, 64, 400):
        a = np.ones((n, n))

        def f(x, a=a, n=n):
            y = a @ np.outer(x, x)
            a[n // 2] = 0  # one row
            return y.sum()

        np.testing.assert_allclose(qad.grad(f)(np.ones(n)), 2 * n**2)


def test_rules_that_need_no_numbers_go_on():
    np.testing.assert_array_equal(qad.grad(reused(lambda y, work: y + work - work))(X), 1)


def test_a_primal_that_changes_before_the_pullback():
    x = X.copy()
    _, pullback = qad.vjp(lambda x: x * x, x)
    x[0] = 7
    np.testing.assert_array_equal(pullback(X)[0], 2 * X * X)


def test_steady_arrays_are_let_pass():
    work = np.ones(3)
    x = qad.tensor(X, requires_grad=True)
    for step in range(3):  # refilled between backward passes
        work[:] = step
        (x * work).sum().backward()
        (x * work).sum()  # recorded, and never swept
    np.testing.assert_array_equal(x.grad, 3)


def test_the_first_graph_may_be_gone():
    """A graph that is not swept does not spoil one that is."""
    work = np.ones(3)
    x = qad.tensor(X, requires_grad=True)
    (x * work).sum()
    work[:] = 2
    (x * work).sum().backward()
    np.testing.assert_array_equal(x.grad, 2)


def test_nothing_is_kept_alive():
    x = qad.tensor(X, requires_grad=True)
    work = [np.ones(3) for _ in range(5)]
    graphs = [x * w for w in work]
    keys = [id(w) for w in work]
    assert all(key in watch.COPIES for key in keys)
    copies = [watch.COPIES[key][1] for key in keys]
    del graphs
    gc.collect()
    assert not any(copy() is not None for copy in copies)
    del work
    gc.collect()
    assert not any(key in watch.COPIES for key in keys)
    assert TAPE.seen is None


def test_graphs_of_the_tape_share_one_copy():
    x, w = qad.tensor(X, requires_grad=True), np.ones(3)
    one, two = x * w, w * x
    assert one.node[2][1] is two.node[2][0] is not w


@pytest.mark.skipif(watch.KNOWN < 0, reason="this Python does not count every reference")
@needs_fast  # the plain recorders copy every constant
def test_arrays_made_on_the_spot_are_not_copied(monkeypatch):
    monkeypatch.setattr(watch, "copied", None)
    np.testing.assert_array_equal(qad.grad(lambda x: (x * np.full(3, 2.0)).sum())(X), 2)


def test_references_are_counted_where_every_one_of_them_is(monkeypatch):
    assert (sys.version_info < (3, 14) and sys.implementation.name == "cpython") == watch.COUNTED
    monkeypatch.setattr(watch, "COUNTED", False)
    assert watch._known() == -np.inf


LAYOUTS = {
    "rows": lambda a: a,
    "columns": np.asfortranarray,
    "every second": lambda a: a[:, ::2],
    "backwards": lambda a: a[::-1],
    "repeated": lambda a: np.broadcast_to(a[0], a.shape),
    "one number": lambda a: a[1, 1, ...],
    "nothing": lambda a: a[:0],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(4, 5), (100, 300)], ids=str)
@pytest.mark.parametrize("dtype", [float, complex, np.float32, np.longdouble, bool, np.int16], ids=str)
def test_content_is_all_that_an_array_holds(layout, shape, dtype):
    whole = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    a, octets = LAYOUTS[layout](whole), whole.view(np.uint8).reshape(-1)
    if layout == "columns":  # which has memory of its own
        octets = a.T.view(np.uint8).reshape(-1)
    before, copy = a.tobytes(), watch.snapshot(a)
    assert copy.dtype == a.dtype and copy.shape == a.shape and not np.shares_memory(copy, a)
    assert not a.size or np.shares_memory(watch.snapshot(a), copy)
    for place in np.random.default_rng(0).integers(0, octets.size, 20):
        octets[place] ^= 1  # one bit
        assert watch.snapshot(a).tobytes() == a.tobytes() and copy.tobytes() == before
        octets[place] ^= 1


MASK = np.array([True, False, True])


@pytest.mark.parametrize("function, chosen", [
    (lambda x, i: np.bincount(i, x) ** 2, [0, 1, 0]),
    (lambda x, i: np.histogram(i, 2, weights=x)[0] ** 2, [0, 1, 0]),
    (lambda x, i: np.multiply(x, x, where=i), MASK),
    (lambda x, i: written(np.put_along_axis, x, i, x[:2] * 3, 0), [0, 2]),
    (lambda x, i: written(np.putmask, x, i, x[:2]), MASK),
    (lambda x, i: written(np.place, x, i, x[:2]), MASK),
])  # fmt: skip
def test_indices_and_masks_may_change_later(function, chosen):
    def forgetful(x, i):
        y = np.sum(function(x, i))
        i[...] = 0
        return y

    x, chosen = np.array([1.0, 2.0, 3.0]), np.array(chosen)
    expected = qad.grad(lambda x: np.sum(function(x, chosen)))(x)
    np.testing.assert_allclose(qad.grad(lambda x: forgetful(x, chosen.copy()))(x), expected)


def written(write, x, *arguments):
    y = x * 1.0
    write(y, *arguments)
    return y**2


def test_digests_see_every_bit():
    a = np.arange(10_000.0)
    for layout in (a, a.reshape(100, 100).T, a[::2]):
        before = watch.digest(layout)
        a.view(np.uint8)[16] ^= 1
        assert watch.digest(layout) != before
        a.view(np.uint8)[16] ^= 1
        assert watch.digest(layout) == before


def test_where_memory_is_short_a_change_is_refused():
    a = np.ones((100, 100))
    with Reverse() as level:
        x = Tensor(np.ones((100, 100)), leaf(np.ones((100, 100))), level)
        y = note(PRIMITIVES[np.multiply], (x.value, a), None, x.value * a, (x.node, None), level, sparing=True)
        assert y.node[2][1] is a
        check([(y.node, None)], level.seen)
        assert y.node[2][1] is a
        a[50, 50] = 2.0
        check([(y.node, None)], level.seen)
        with pytest.raises(ArgumentError, match="changed in place after multiply"):
            y.node[2][1] * 2
        with pytest.raises(ArgumentError, match="changed in place after"):
            note(PRIMITIVES[np.multiply], (x.value, a), None, x.value * a, (x.node, None), level, sparing=True)
