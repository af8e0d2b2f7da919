"""Plain arrays may change between recording and the backward pass: graphs hold copies of what was used."""

import gc
from weakref import ref

import numpy as np
import pytest

import qad
from qad.core.tape.constants import is_read_only, kept
from qad.core.tape.reverse import TAPE, Reverse
from tests.strict_array import StrictArray

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


def test_a_level_copies_an_array_once():
    w = np.ones(3)
    with Reverse() as one, Reverse() as two:
        assert kept(one, w) is kept(one, w) is not w
        assert kept(two, kept(one, w)) is kept(one, w)  # a copy is read-only
        assert kept(two, w) is not kept(one, w)


def test_an_array_that_toggles_is_copied_each_time():
    w, found = np.ones(3), []
    with Reverse() as level:
        for k in range(4):
            w[0] = k % 2
            found.append(kept(level, w)[0])
    assert found == [0, 1, 0, 1]


def test_a_form_that_was_set_in_place():
    with Reverse() as level:
        w = np.arange(6.0)
        assert kept(level, w).shape == (6,)
        w.resize(2, 3)
        assert kept(level, w).shape == (2, 3)


def test_an_array_that_is_resized_between_two_uses():
    def f(x):
        w = np.arange(6.0)
        first = (x * w).sum()
        w.resize(2, 3)
        return first + (x.reshape(2, 3) * w).sum()

    np.testing.assert_array_equal(qad.grad(f)(np.ones(6)), 2 * np.arange(6.0))


def test_two_arrays_in_turn_one_of_which_changes():
    def f(x):
        a, b, y = np.full(3, 2.0), np.full(3, 3.0), x
        for _ in range(2):
            y = y * a * b
            a[:] = 5.0
        return y.sum()

    np.testing.assert_array_equal(qad.grad(f)(X), 2 * 3 * 5 * 3)


def test_read_only_arrays_stand_for_themselves():
    w, view = np.ones(3), np.ones(3)[:2]
    w.flags.writeable = view.flags.writeable = False  # the view shows what may be written into
    with Reverse() as level:
        assert kept(level, w) is w and kept(level, w[1:]).base is w
        assert kept(level, view) is not view


def test_no_array_of_the_caller_is_kept_alive():
    with Reverse() as level:
        w = np.ones(3)
        kept(level, w)
        gone = ref(w)
        del w
        gc.collect()
        assert gone() is None
        w = np.full(3, 2.0)  # which may have its number
        assert kept(level, w)[0] == 2


def test_the_tape_that_never_ends_remembers_nothing():
    x, w = qad.tensor(X, requires_grad=True), np.ones(3)
    (x * w).sum().backward()
    assert not TAPE.seen


def test_arrays_of_another_library_are_compared_where_they_are():
    w = StrictArray(np.array([1.0, 2.0]))
    with Reverse() as level:
        copy = kept(level, w)
        assert kept(level, w) is copy is not w and type(copy) is StrictArray
        w[0] = 5.0
        assert kept(level, w) is not copy


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
    with Reverse() as level:
        before, copy = a.tobytes(), kept(level, a)
        assert copy.dtype == a.dtype and copy.shape == a.shape and not np.shares_memory(copy, a)
        assert kept(level, a) is copy and is_read_only(copy)
        for place in np.random.default_rng(0).integers(0, octets.size, 20):
            octets[place] ^= 1  # one bit
            assert kept(level, a).tobytes() == a.tobytes() and copy.tobytes() == before
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
