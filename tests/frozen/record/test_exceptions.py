"""Errors that steps raise, caught or not, lead to what the plain function does, in every order of calls."""

import itertools
import warnings

import numpy as np
import pytest

import qad

GOOD, SINGULAR = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([[1.0, 2.0], [2.0, 4.0]])
NEGATIVE = -GOOD


def inverse(a):
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return np.zeros_like(a)


def shifted(a):
    try:
        return np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        return np.linalg.cholesky(a + 10 * np.eye(2))


def checked(a):
    try:
        np.linalg.cholesky(a)  # nobody reads it
    except np.linalg.LinAlgError:
        return a * 0
    return a * 2


def divided(a):
    try:
        with np.errstate(divide="raise"):
            return 1 / (a - 2)
    except FloatingPointError:
        return a


def warned(a):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return np.log(a)
    except RuntimeWarning:
        return a


def by_number(a):
    try:
        return a / float_of(a[0, 0])
    except ZeroDivisionError:
        return a * 0


float_of = qad.extend.opaque(lambda x: float(1 / float(x - 2)))


def gathered(a):
    try:
        return a[np.abs(a[0]).astype(int)]
    except IndexError:
        return a * 3


def index(a):
    try:
        return np.take(a, np.abs(a[0, 0]).astype(int), axis=0)
    except IndexError:
        return a[0] * 0


def anything(a):
    try:
        return np.linalg.inv(a)
    except Exception:
        return a * 0


def gradient(a):
    try:
        return qad.grad(lambda a: np.sum(np.linalg.inv(a)))(a)
    except np.linalg.LinAlgError:
        return a * 0


def finally_counted(a):
    for shift in (0.0, 1.0):
        try:
            return np.linalg.inv(a + shift * np.eye(2)) + shift
        except np.linalg.LinAlgError:
            continue
    return a


FUNCTIONS = (
    inverse, shifted, checked, divided, warned, by_number, gathered, index, anything, gradient, finally_counted,
)  # fmt: skip


@pytest.mark.parametrize("passes", [None, ()])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_errors_that_are_caught(f, passes):
    for order in itertools.permutations((GOOD, SINGULAR, NEGATIVE)):
        frozen = qad.freeze(f, passes=passes)
        for a in (*order, *order[::-1], *order):
            np.testing.assert_allclose(frozen(a), f(a), rtol=1e-13)


@pytest.mark.parametrize("passes", [None, ()])
def test_errors_that_are_not_caught(passes):
    for f, bad in ((np.linalg.inv, SINGULAR), (lambda a: np.linalg.cholesky(a) * 2, NEGATIVE), (unread, NEGATIVE)):
        for order in ((GOOD, bad, GOOD, bad), (bad, GOOD, bad)):
            frozen = qad.freeze(f, passes=passes)
            for a in order:
                if a is bad:
                    with pytest.raises(np.linalg.LinAlgError):
                        frozen(a)
                else:
                    np.testing.assert_allclose(frozen(a), f(a), rtol=1e-13)


def unread(a):
    np.linalg.cholesky(a)
    return a + 1


def test_the_good_branch_is_replayed_whatever_came_first():
    frozen = qad.freeze(inverse)
    for a in (SINGULAR, GOOD, GOOD, SINGULAR, GOOD):
        frozen(a)
    assert (frozen.stats.recordings, frozen.stats.replays, frozen.stats.eager) == (2, 2, 1)
    assert "inv raised LinAlgError" in frozen.stats.reasons[0]


def test_floating_point_errors_that_raise_around_the_call():
    def f(x):
        try:
            np.log(x)  # nobody reads it
            return 1 / x
        except FloatingPointError:
            return x - 1

    frozen = qad.freeze(f)
    zero, one = np.array([0.0, 1.0]), np.array([1.0, 2.0])
    for x in (one, zero, one):
        for state in ("ignore", "raise", "ignore"):
            with np.errstate(all=state):
                np.testing.assert_array_equal(frozen(x), f(x))
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        qad.freeze(lambda x: 1 / x)(zero)


def test_floating_point_errors_that_call_somebody():
    called = []
    frozen = qad.freeze(lambda x: 1 / x)
    frozen(np.ones(2))
    with np.errstate(divide="call", call=lambda *error: called.append(error)):
        frozen(np.zeros(2))
    assert len(called) == 1


def test_warnings_that_are_errors_around_the_call():
    def f(x):
        try:
            return np.log(x)
        except RuntimeWarning:
            return x * 0 - 1

    frozen = qad.freeze(f)
    for x in (np.ones(2), np.zeros(2), np.ones(2), np.zeros(2)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_array_equal(frozen(x), f(x))


def test_errors_that_the_function_ignores_are_ignored_in_a_replay():
    def f(x):
        with np.errstate(divide="ignore"):
            return 1 / x

    frozen = qad.freeze(f)
    for x in (np.ones(2), np.zeros(2), np.zeros(2)):
        np.testing.assert_array_equal(frozen(x), f(x))  # warnings are errors in tests
    assert (frozen.stats.replays, frozen.stats.eager) == (2, 0)


def test_a_refusal_that_the_function_catches_is_raised():
    """The function would go on with a branch that it takes for no plain array."""

    def f(x):
        try:
            return np.array([x[0], x[1]])
        except Exception:
            return x * 0

    with pytest.raises(qad.errors.ArgumentError, match="forced into a plain one"):
        qad.freeze(f)(np.ones(2))
    with pytest.raises(AttributeError, match="strides"):
        qad.freeze(lambda x: x if hasattr(x, "strides") else -x)(np.ones(2))
    frozen = qad.freeze(lambda x: x if hasattr(x, "toarray") else -x)
    np.testing.assert_array_equal(frozen(np.ones(2)), -np.ones(2))


def test_an_exception_of_the_users_own_is_no_failure():
    def f(x):
        try:
            if x.sum() > 0:
                raise KeyError("positive")
            return x
        except KeyError:
            return -x

    frozen = qad.freeze(f)
    for x in (np.ones(2), -np.ones(2), np.ones(2)):
        np.testing.assert_array_equal(frozen(x), f(x))
    assert frozen.stats.recordings == 2
    assert frozen.stats.replays == 1
