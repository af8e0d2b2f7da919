"""Plain arrays that change after an operation used them: the gradient is that of the values used."""

import numpy as np
import pytest

import qad
from qad.core.tape import constants

X = np.linspace(0.1, 1.0, 5000)


def one_hot_in_a_loop(x):
    """Reads three entries through an array of 40 kB that is refilled each time."""
    one_hot, total = np.zeros(x.size), 0.0
    for k in (7, 100, 4321):
        one_hot[:] = 0.0
        one_hot[k] = 1.0
        total = total + np.sum(x * one_hot) ** 2
    return total


def entries(x):
    return sum(x[k] ** 2 for k in (7, 100, 4321))


TRANSFORMS = {
    "grad": lambda f: qad.grad(f)(X),
    "value_and_grad": lambda f: qad.value_and_grad(f)(X),
    "vjp": lambda f: qad.vjp(f, X)[1](1.0),
    "jacobian": lambda f: qad.jacobian(f)(X),
    "hvp": lambda f: qad.hvp(f, (X,), (X,)),
    "grad of grad": lambda f: qad.grad(lambda x: np.sum(qad.grad(f)(x) ** 2))(X),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_large_one_hot_array_refilled_in_a_loop(transform):
    for one, two in zip(
        flat(TRANSFORMS[transform](one_hot_in_a_loop)), flat(TRANSFORMS[transform](entries)), strict=True
    ):
        np.testing.assert_array_equal(one, two)


def flat(result):
    return [np.asarray(x) for x in (result if isinstance(result, tuple) else (result,))]


def test_a_large_one_hot_array_refilled_in_a_loop_on_the_tape():
    x = qad.tensor(X, requires_grad=True)
    one_hot_in_a_loop(x).backward()
    np.testing.assert_array_equal(x.grad, qad.grad(entries)(X))


def test_one_entry_of_a_large_array():
    """Wherever it is: no part of an array is left out of the comparison."""
    for shape, order in (((5000,), "C"), ((300, 300), "C"), ((300, 300), "F"), ((3, 70, 101), "C")):
        rng = np.random.default_rng(0)
        for _ in range(20):
            work = np.ones(shape, order=order)
            place = tuple(rng.integers(n) for n in shape)

            def f(t, work=work, place=place):
                y = np.sum(t * work)
                work[place] = 1e6
                return y + np.sum(t * work)

            assert qad.grad(f)(0.3) == 2 * work.size - 1 + 1e6


@pytest.mark.parametrize("n", [10, 100])
def test_changed_and_changed_back(n):
    """As a search over flips of spins does: at the end the array is what it was at first, but not in between."""
    spins = np.ones((n, n))

    def f(x):
        total = np.sum((x @ spins) ** 2)
        for k in range(3):
            spins[k] *= -1.0
            total = total + (k + 2.0) * np.sum((x @ spins) ** 2)
            spins[k] *= -1.0
        return total

    def expected(x):
        total = np.sum((x @ np.ones((n, n))) ** 2)
        for k in range(3):
            flipped = np.ones((n, n))
            flipped[k] = -1.0
            total = total + (k + 2.0) * np.sum((x @ flipped) ** 2)
        return total

    np.testing.assert_array_equal(qad.grad(f)(X[:n]), qad.grad(expected)(X[:n]))


def test_entries_exchanged():
    """What keeps every sum of the entries, and sums over rows and columns too."""
    spins = np.ones((100, 100))
    spins[:2, :2] = [[1, -1], [-1, 1]]
    before = spins.copy()

    def f(x):
        y = np.sum(np.sin(x) @ spins @ x)
        spins[:2, :2] *= -1
        return y

    expected = qad.grad(lambda x: np.sum(np.sin(x) @ before @ x))(X[:100])
    np.testing.assert_array_equal(qad.grad(f)(X[:100]), expected)


def test_a_first_use_that_is_thrown_away():
    """The array is first met by an operation that the result does not depend on."""

    def f(x):
        work = np.ones(3)
        np.sum(x * work)
        work[:] = 2.0
        y = np.sum(x * work)
        work[:] = 3.0
        return y

    np.testing.assert_array_equal(qad.grad(f)(X[:3]), 2.0)


# -- the tape of qad.tensor, on which graphs have no common end ------------------------------------


def leaf():
    return qad.tensor([1.0, 2.0, 3.0], requires_grad=True)


@pytest.mark.parametrize("n", [3, 5000])
def test_two_graphs_of_one_array(n):
    """The second graph met the array when it was known from the first."""
    x, work = qad.tensor(np.ones(n), requires_grad=True), np.ones(n)
    one, two = np.sum(x * work), np.sum(work * x * x)
    work[:] = 5.0
    two.backward()
    np.testing.assert_array_equal(x.grad, 2.0)
    one.backward()
    np.testing.assert_array_equal(x.grad, 3.0)


def test_a_change_after_another_graph_was_swept():
    x, work = leaf(), np.ones(3)
    one, two = np.sum(x * work), np.sum(x * work)
    one.backward()
    work[:] = 5.0
    two.backward()
    np.testing.assert_array_equal(x.grad, 2.0)


def test_a_graph_kept_for_another_pass():
    x, work = leaf(), np.ones(3)
    y = np.sum(x * work)
    y.backward(retain_graph=True)
    work[:] = 5.0
    y.backward()
    np.testing.assert_array_equal(x.grad, 2.0)


def test_a_product_of_matrices():
    a = np.eye(3)
    for multiply in (lambda a, x: a @ x, lambda a, x: x @ a, lambda a, x: np.einsum("ij,j->i", a, x)):
        x = leaf()
        y = np.sum(multiply(a, x))
        a *= 2.0
        y.backward()
        a /= 2.0
        np.testing.assert_array_equal(x.grad, 1.0)


# -- masks, indices, places ------------------------------------------------------------------------

W, M, K = np.array([0.5, 1.5, 2.5]), np.array([True, False, True]), np.array([2, 0, 0])

HELPERS = {
    "where": (M, lambda x, m: np.where(m, x, x**2)),
    "select": (M, lambda x, m: np.select([m], [x * x], x)),
    "choose": (K % 2, lambda x, i: np.choose(i, [x, x * x])),
    "mask": (M, lambda x, m: x[m] ** 2),
    "index": (K, lambda x, i: x[i] ** 2),
    "index of two axes": (K, lambda x, i: np.outer(x, x)[i, 1:]),
    "take": (K, lambda x, i: np.take(x, i) ** 2),
    "take_along_axis": (K, lambda x, i: np.take_along_axis(x, i, 0) ** 2),
    "compress": (M, lambda x, m: np.compress(m, x) ** 2),
    "extract": (M, lambda x, m: np.extract(m, x) ** 2),
    "delete": (np.array([1]), lambda x, i: np.delete(x, i) ** 2),
    "insert": (np.array([1]), lambda x, i: np.insert(x, i, x[0]) ** 2),
    "repeat": (np.array([1, 0, 2]), lambda x, i: np.repeat(x, i) ** 2),
    "sum where": (M, lambda x, m: np.sum(x * x, where=m)),
    "mean where": (M, lambda x, m: np.mean(x * x, where=m)),
    "max where": (M, lambda x, m: np.max(x, where=m, initial=0.0)),
    "prod where": (M, lambda x, m: np.prod(x, where=m)),
    "var where": (M, lambda x, m: np.var(x, where=m)),
    "reduceat": (np.array([0, 1]), lambda x, i: np.add.reduceat(x * x, i)),
    "bincount": (K, lambda x, i: np.bincount(i, x) ** 2),
    "histogram": (K, lambda x, i: np.histogram(i, 2, weights=x)[0] ** 2),
    "average": (W, lambda x, w: np.average(x * x, weights=w)),
    "interp": (W, lambda x, w: np.interp(x, np.array([0.0, 1.0, 4.0]), w)),
    "interp places": (W, lambda x, w: np.interp(x, w, np.array([0.0, 1.0, 4.0]))),
    "gradient": (W, lambda x, w: np.gradient(x * x, w)),
    "trapezoid": (W, lambda x, w: np.trapezoid(x * x, w)),
    "convolve": (W, lambda x, w: np.convolve(x, w)),
    "clip": (W, lambda x, w: np.clip(x, 0.0, w)),
    "fmin": (W, lambda x, w: np.fmin(x, w)),
    "add.at": (K, lambda x, i: added(x, i)),
    "putmask": (M, lambda x, m: written(np.putmask, x, m)),
    "write at an index": (K[:2], lambda x, i: written(lambda b, i, v: b.__setitem__(i, v[: i.size]), x, i)),
    "copyto": (M, lambda x, m: written(lambda b, m, v: np.copyto(b, v, where=m), x, m)),
    "cross": (W, lambda x, w: np.cross(x, w)),
    "kron": (W, lambda x, w: np.kron(x, w)),
    "tensordot": (W, lambda x, w: np.tensordot(x, w, 0)),
    "ncon": (W, lambda x, w: qad.ncon([x, w], [[1], [1]])),
    "solve": (W, lambda x, w: np.linalg.solve(np.diag(w) + 0.1, x)),
    "logsumexp": (W, lambda x, w: qad.special.logsumexp(x, b=w)),
    "xlogy": (W, lambda x, w: qad.special.xlogy(w, x)),
}


def added(x, i):
    b = qad.zeros(3)
    np.add.at(b, i, x)
    return b**2


def written(write, x, which):
    b = x * 1.0
    write(b, which, x * x)
    return b**2


@pytest.mark.parametrize("name", HELPERS)
def test_masks_indices_and_weights_that_change(name):
    given, function = HELPERS[name]
    x = np.array([0.7, 1.9, 2.6])

    def forgetful(x, helper):
        y = np.sum(function(x, helper))
        helper[...] = np.roll(helper, 1) if helper.size > 1 else helper - 1
        return y

    expected = qad.grad(lambda x: np.sum(function(x, given)))(x)
    tape = qad.tensor(x, requires_grad=True)
    forgetful(tape, given.copy()).backward()
    np.testing.assert_array_equal(tape.grad, expected)
    np.testing.assert_array_equal(qad.grad(forgetful)(x, given.copy()), expected)


# -- what is not copied ----------------------------------------------------------------------------


def test_read_only_arrays_are_not_copied(monkeypatch):
    """Who makes an array read-only says that it is constant."""
    large = np.ones((100, 100))
    large.flags.writeable = False
    monkeypatch.setattr(constants, "copy_of", None)
    np.testing.assert_allclose(qad.grad(lambda x: np.sum(large.T @ x))(np.ones(100)), 100.0)


def test_a_read_only_view_of_an_array_that_can_be_written_into_is_copied():
    large = np.ones(5000)
    view = large[:]
    view.flags.writeable = False

    def f(x):
        y = np.sum(x * view)
        large[17] = 0.0
        return y

    np.testing.assert_array_equal(qad.grad(f)(X), 1.0)


@pytest.mark.parametrize("limit", ["450kB", "500kB", None])
def test_networks_that_keep_to_a_memory_limit_notice_changes(limit):
    constant, x = np.ones((80, 80)), np.ones((80, 80), complex)

    def f(x, change):
        y = qad.einsum("ab,bc,ca->", x, constant, x, memory_limit=limit).real
        constant[40, 40] += change
        return y

    expected = qad.grad(f)(x, 0.0)
    np.testing.assert_allclose(expected, 2 * 80)
    np.testing.assert_array_equal(qad.grad(f)(x, 1.0), expected)
