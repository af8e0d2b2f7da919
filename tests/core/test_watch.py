"""Arrays that change between recording and the backward pass are noticed where a rule uses them, and only there."""

import gc

import numpy as np
import pytest

import qad
from qad.core import watch
from qad.core.errors import ArgumentError
from qad.core.levels import REVERSE

X = np.array([1.0, 2.0, 3.0])


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
def test_a_reused_work_array_is_noticed(name):
    f = reused(CHANGED[name])
    for use in (
        lambda: qad.grad(f)(X),
        lambda: qad.vjp(f, X)[1](1.0),
        lambda: qad.jacobian(f)(X),
        lambda: f(qad.tensor(X, requires_grad=True)).backward(),
        lambda: qad.grad(lambda x: qad.grad(f)(x).sum())(X),
    ):
        with pytest.raises(ArgumentError, match=rf"after {name}.*x\.copy\(\).*qad\.zeros"):
            use()


def test_matrices_and_large_arrays():
    for n in (3, 64, 400):
        a = np.ones((n, n))

        def f(x, a=a, n=n):
            y = a @ np.outer(x, x)
            a[n // 2] = 0  # one row
            return y.sum()

        with pytest.raises(ArgumentError, match="changed in place after"):
            qad.grad(f)(np.ones(n))


def test_rules_that_need_no_numbers_go_on():
    np.testing.assert_array_equal(qad.grad(reused(lambda y, work: y + work - work))(X), 1)


def test_a_primal_that_changes_before_the_pullback_is_noticed():
    x = X.copy()
    _, pullback = qad.vjp(lambda x: x * x, x)
    pullback(X)
    x[0] = 7
    with pytest.raises(ArgumentError, match="after square"):
        pullback(X)


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
    for w in work:
        x * w
    assert len(REVERSE[0]) >= 5
    del work, w
    gc.collect()
    x * 1.0
    assert not any(seen[0]() is None for seen in REVERSE[0].values())
    assert len(REVERSE) == 1


def test_temporary_arrays_cost_nothing(monkeypatch):
    monkeypatch.setattr(watch, "fingerprint", None)
    np.testing.assert_array_equal(qad.grad(lambda x: (x * np.full(3, 2.0)).sum())(X), 2)


def test_fingerprints_see_small_changes():
    for shape in ((5,), (40, 40), (100, 300), (300, 7, 11)):
        for dtype in (float, complex, np.float32, bool):
            a = np.ones(shape, dtype)
            before = watch.fingerprint(a)
            assert watch.fingerprint(a.copy()) == before
            a[..., 1] = 0  # a column
            assert watch.fingerprint(a) != before
    a = np.arange(10000.0).reshape(100, 100)
    assert watch.fingerprint(a) != watch.fingerprint(a[::-1])
    assert watch.fingerprint(np.asfortranarray(a)) != b""


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
