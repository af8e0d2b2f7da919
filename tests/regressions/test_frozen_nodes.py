"""A frozen function called on Tensors: its backward passes use what it captured at the call, whatever changes later."""

import gc
import warnings
import weakref
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from qad.core.trees import flatten

X = np.array([1.0, 2.0, 3.0])
ONE, TWO = np.array([1.0, 2.0, 3.0]), np.zeros(3)
NUMBER = 1.0


def in_place():
    k = ONE.copy()
    return (lambda x: np.sum(x**3 * k)), lambda: np.copyto(k, TWO)


def large():
    k = np.repeat(ONE[:, None], 5000, axis=1)
    return (lambda x: np.sum(x**3 * k[:, 7])), lambda: k.fill(0.0)


def closure():
    k = ONE

    def rebind():
        nonlocal k
        k = TWO

    return (lambda x: np.sum(x**3 * k)), rebind


def attribute():
    holder = SimpleNamespace(k=ONE)
    return (lambda x: np.sum(x**3 * holder.k)), lambda: setattr(holder, "k", TWO)


def entry():
    table = {"k": [ONE]}
    return (lambda x: np.sum(x**3 * table["k"][0])), lambda: table["k"].__setitem__(0, TWO)


def number_of_a_closure():
    n = 2.0

    def rebind():
        nonlocal n
        n = 5.0

    return (lambda x: n * np.sum(x**3 * ONE)), rebind


def number_of_a_module():
    def change():
        global NUMBER
        NUMBER += 1.0

    return (lambda x: NUMBER * np.sum(x**3 * ONE)), change


def branch():
    holder = SimpleNamespace(cubed=True)
    return (lambda x: np.sum(x**3 * ONE if holder.cubed else x)), lambda: setattr(holder, "cubed", False)


def decided_upon():
    k = ONE.copy()
    return (lambda x: np.sum(x**3 * k) if k[0] > 0 else np.sum(x)), lambda: np.copyto(k, TWO)


def inner_frozen():
    k = ONE.copy()
    inner = qad.freeze(lambda x: x**3 * k)
    return (lambda x: np.sum(inner(x))), lambda: np.copyto(k, TWO)


def checkpointed():
    k = ONE.copy()
    return qad.checkpoint(lambda x: np.sum(x**3 * k)), lambda: np.copyto(k, TWO)


CAPTURED = (
    in_place, large, closure, attribute, entry, number_of_a_closure, number_of_a_module, branch, decided_upon,
    inner_frozen, checkpointed,
)  # fmt: skip


def by_vjp(f):
    return qad.vjp(f, X)[1](1.0)[0]


def on_the_tape(f):
    x = qad.tensor(X, requires_grad=True)
    f(x).backward()
    return x.grad


def of_one_level(f):
    return np.sum(qad.grad(f)(X) ** 2)


TRANSFORMS = {
    "grad": lambda f: qad.grad(f)(X),
    "value_and_grad": lambda f: qad.value_and_grad(f)(X),
    "vjp": by_vjp,
    "tape": on_the_tape,
    "jacobian": lambda f: qad.jacobian(f)(X),
    "jvp": lambda f: qad.jvp(f, (X,), (ONE,)),
    "hvp": lambda f: qad.hvp(f, (X,), (ONE,)),
    "hessian": lambda f: qad.hessian(f)(X),
    "two levels": lambda f: qad.grad(lambda x: np.sum(qad.grad(f)(x) ** 2))(X),
    "three levels": lambda f: qad.grad(lambda x: np.sum(qad.grad(lambda y: np.sum(qad.grad(f)(y) ** 2))(x)))(X),
    "jvp of grad": lambda f: qad.jvp(qad.grad(f), (X,), (ONE,)),
    "grad of jvp": lambda f: qad.grad(lambda x: qad.jvp(f, (x,), (ONE,))[1])(X),
    "grad under vmap": lambda f: qad.vmap(qad.grad(f))(np.stack([X, 2 * X])),
}


def and_then(f, change):
    """What `f` gives; its surroundings change before the backward pass."""

    def changing(x):
        out = f(x)
        change()
        return out

    return changing


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("made", CAPTURED)
def test_what_is_captured_changes_before_the_backward_pass(made, transform, monkeypatch):
    monkeypatch.setitem(globals(), "NUMBER", 1.0)
    expected = TRANSFORMS[transform](made()[0])
    monkeypatch.setitem(globals(), "NUMBER", 1.0)
    f, change = made()
    found = TRANSFORMS[transform](and_then(qad.freeze(f), change))
    for one, two in zip(flatten(expected)[0], flatten(found)[0], strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-12)


def test_a_pullback_that_is_called_later():
    f, change = in_place()
    pull = qad.vjp(qad.freeze(f), X)[1]
    change()
    np.testing.assert_allclose(pull(1.0)[0], 3 * X**2 * ONE)


@pytest.mark.parametrize("level", ["one", "two"])
def test_a_work_array_between_calls(level):
    k = ONE.copy()
    frozen = qad.freeze(lambda x: np.sum(x**2 * k))

    def f(x):
        first = frozen(x)
        k[:] = 5
        second = frozen(x)
        k[:] = ONE
        return first + second

    for _ in range(3):
        if level == "one":
            np.testing.assert_allclose(qad.grad(f)(X), [12, 28, 48])
        else:
            np.testing.assert_allclose(qad.hessian(f)(X), np.diag([12, 14, 16]))


def test_two_states_by_turns_are_recorded_once():
    """A version is kept for what goes to and fro."""
    k = ONE.copy()
    frozen = qad.freeze(lambda x: np.sum(x**2 * k))
    for i in range(6):
        k[:] = i % 2
        np.testing.assert_array_equal(qad.grad(frozen)(X), 2 * X * (i % 2))
    (roots,) = frozen.versions.values()
    assert [root.version.recordings for root in roots] == [2, 2]


def test_some_arguments_and_several_results():
    k = ONE.copy()
    frozen = qad.freeze(lambda x, y, n: {"a": x * y**n * k, "b": np.sum(y * k), "c": n})

    def f(x, y):
        out = frozen(x, y, 2)
        k[:] = 0
        return np.sum(out["a"])

    for argnums, expected in ((0, ONE * X**2), (1, 2 * X * X * ONE)):
        k[:] = ONE
        np.testing.assert_allclose(qad.grad(f, argnums)(X, X), expected)
    k[:] = ONE
    crossed = qad.grad(lambda y: np.sum(qad.grad(lambda x: f(x, y))(X)))(X)
    np.testing.assert_allclose(crossed, 2 * X * ONE)


def test_decisions_on_values():
    """Each branch has its backward pass when it is first taken, at the call."""
    k = ONE.copy()
    frozen = qad.freeze(lambda x: np.sum(x**3 * k) if x[0] > 0 else np.sum(x**2 * k))
    f = and_then(frozen, lambda: k.fill(0))
    for sign in (1, -1, 1, -1):
        k[:] = ONE
        np.testing.assert_allclose(qad.grad(f)(sign * X), 3 * X**2 * ONE if sign > 0 else -2 * X * ONE)


def test_an_array_given_twice():
    """As a recorded argument and as a plain one, of which the tape keeps a copy."""
    k = ONE.copy()
    frozen = qad.freeze(lambda x, y: np.sum(x * x * y * k))
    np.testing.assert_allclose(qad.grad(and_then(lambda x: frozen(x, X), lambda: k.fill(0)))(X), 2 * X * X * ONE)


def test_a_jacobian_of_complex_results():
    k = ONE.copy()
    frozen = qad.freeze(lambda x: x**2 * k * 1j + x * k)
    jacobian = partial(qad.jacobian, holomorphic=True)
    expected = jacobian(lambda x: x**2 * ONE * 1j + x * ONE)(X + 1j)
    np.testing.assert_allclose(jacobian(and_then(frozen, lambda: k.fill(0)))(X + 1j), expected)


def test_checkpoint_notices():
    f, change = in_place()
    layer = qad.checkpoint(qad.freeze(f))
    np.testing.assert_allclose(qad.grad(layer)(X), 3 * X**2 * ONE)
    np.testing.assert_allclose(qad.hessian(layer)(X), np.diag(6 * X * ONE))
    for transform in ("grad", "tape", "two levels"):
        f, change = in_place()
        layer = qad.checkpoint(qad.freeze(f))
        with pytest.raises(ArgumentError, match="did not do the same when it was computed again"):
            TRANSFORMS[transform](and_then(layer, change))


def test_a_program_that_is_missing_is_refused():
    """The derivative of a pullback by its cotangent, which nobody asked for at the call."""
    f, change = in_place()
    _, pull = qad.vjp(qad.freeze(f), X)
    change()
    with pytest.raises(ArgumentError, match="between its call and the backward pass"):
        qad.grad(lambda w: np.sum(pull(w)[0]))(2.0)


def test_a_function_that_counts_runs_step_by_step():
    counts, k = {"calls": 0}, ONE.copy()

    def counting(x):
        counts["calls"] += 1
        return np.sum(x**2 * k) * counts["calls"] / counts["calls"]

    frozen = qad.freeze(counting)
    for _ in range(3):
        k[:] = ONE
        np.testing.assert_allclose(qad.grad(and_then(frozen, lambda: k.fill(0)))(X), 2 * X * ONE)


def test_nothing_is_recorded_twice_and_nothing_compared_again():
    """One recording forward and one backward; a replay of the second does not look at what is captured."""
    k = ONE.copy()
    frozen = qad.freeze(lambda x: np.sum(x**2 * k))
    for _ in range(5):
        qad.grad(frozen)(X)
    ((root,),) = frozen.versions.values()
    assert root.version.recordings == 2
    pull = qad.vjp(frozen, X)[1]
    root.version.holds = lambda: pytest.fail("compared in the backward pass")
    pull(1.0)


def test_what_is_not_needed_any_more_goes_at_once():
    k = ONE.copy()
    frozen = qad.freeze(lambda x: np.sum(x**2 * k))
    gc.disable()
    try:
        seen = []
        for i in range(5):
            k[:] = i
            qad.grad(frozen)(X)
            seen.append(weakref.ref(next(iter(frozen.versions.values()))[0].version))
        assert [each() is not None for each in seen] == [False, False, False, True, True]
    finally:
        gc.enable()


def test_the_user_is_told_of_many_recordings():
    k = ONE.copy()
    frozen = qad.freeze(lambda x: np.sum(x**2 * k))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for i in range(12):
            k[:] = i
            np.testing.assert_array_equal(qad.grad(frozen)(X), 2 * X * i)
    (message,) = [str(each.message) for each in told if "recorded 8 times in a row" in str(each.message)]
    assert "what the function captured has changed: an array of shape (3,)" in message
