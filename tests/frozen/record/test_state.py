"""Frozen functions that change what they capture run once a call; questions of memory and keys are compared."""

from types import SimpleNamespace

import numpy as np
import pytest

import qad
from qad.core.trees import flatten

X = np.array([0.3, 0.7, 1.1])
V = np.ones(3)
TWO = np.stack([X, 2 * X])


def counter():
    calls = [0]

    def f(x):
        calls[0] += 1
        return np.sum(x**2) * calls[0]

    return f, lambda: calls[0]


def attribute():
    model = SimpleNamespace(h=1.0)

    def f(x):
        model.h = 0.5 * model.h + 1
        return np.sum(x**2 * model.h)

    return f, lambda: model.h


def moments():
    t, m, v = 0, np.zeros(3), np.zeros(3)

    def f(x):
        nonlocal t, m, v
        t, m, v = t + 1, 0.9 * m + 0.1, 0.99 * v + 0.04
        return np.sum(x**2 * m / (1 - 0.9**t) / (np.sqrt(v / (1 - 0.99**t)) + 1e-8))

    return f, lambda: (t, m, v)


def cache():
    kept = {}

    def f(x):
        if "k" not in kept:
            kept["k"], kept["calls"] = 2.0, len(kept) + 1
        return kept["k"] * np.sum(x**3)

    return f, lambda: dict(kept)


def checkpointed_gradient(f):
    """A checkpoint computes its function anew; one that is frozen inside changes nothing else."""
    return qad.grad(lambda x: f(qad.checkpoint(np.sin)(x)))(X)


def by_tape(f):
    x = qad.tensor(X, requires_grad=True)
    f(x).backward()
    return x.grad


TRANSFORMS = {
    "none": lambda f: f(X),
    "grad": lambda f: qad.grad(f)(X),
    "value_and_grad": lambda f: qad.value_and_grad(f)(X),
    "vjp": lambda f: qad.vjp(f, X)[1](1.0)[0],
    "tape": by_tape,
    "jvp": lambda f: qad.jvp(f, (X,), (V,)),
    "hvp": lambda f: qad.hvp(f, (X,), (V,)),
    "hessian": lambda f: qad.hessian(f)(X),
    "jacobian": lambda f: qad.jacobian(f)(X),
    "grad of grad": lambda f: qad.grad(lambda x: np.sum(qad.grad(f)(x) ** 2))(X),
    "vmap": lambda f: qad.vmap(f)(TWO),
    "vmap of grad": lambda f: qad.vmap(qad.grad(f))(TWO),
    "grad of vmap": lambda f: qad.grad(lambda x: np.sum(qad.vmap(f)(np.stack([x, 2 * x]))))(X),
    "checkpoint": checkpointed_gradient,
    "freeze of grad": lambda f: qad.freeze(qad.grad(f))(X),
    "frozen in a frozen one": lambda f: qad.grad(qad.freeze(lambda x: f(2 * x)))(X),
}


def agree(one, two):
    for a, b in zip(flatten(one)[0], flatten(two)[0], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("made", [counter, attribute, moments, cache])
def test_a_function_that_changes_its_surroundings_runs_once_a_call(made, transform):
    f, state = made()
    g, frozen_state = made()
    frozen = qad.freeze(g)
    for _ in range(4):
        agree(TRANSFORMS[transform](f), TRANSFORMS[transform](frozen))
        agree(state(), frozen_state())


@pytest.mark.parametrize("transform", [qad.grad, qad.value_and_grad, qad.hessian])
def test_a_branch_that_counts_is_met_late(transform):
    def made():
        calls = [0]

        def f(x):
            if x[0] > 1:
                calls[0] += 1
            return np.sum(x**2) * (1 + calls[0])

        return f, calls

    (f, calls), (g, frozen_calls) = made(), made()
    frozen = qad.freeze(g)
    for x in (X, X, 4 * X, X, 4 * X, 4 * X, 2 * X):
        agree(transform(f)(x), transform(frozen)(x))
    assert calls == frozen_calls == [3]


def test_a_function_under_errors_that_raise_runs_once():
    f, state = counter()
    with np.errstate(all="raise"):
        gradients = [qad.grad(frozen := qad.freeze(f))(X), qad.grad(frozen)(X)]
    agree(gradients, [2 * X, 4 * X])
    assert state() == 2


READ_ONLY = X.copy()
READ_ONLY.setflags(write=False)
PAIRS = [(X, X.copy()), (X, X[:]), (np.arange(6.0)[:3], np.arange(6.0)[1:4]), (X, READ_ONLY), (X, X[::-1]), (X, X)]
WITHIN = np.arange(8.0)
PAIRS += [(WITHIN[:3], WITHIN[i : i + 3]) for i in (0, 1, 3, 5)] + [(WITHIN[:6:2], WITHIN[1:7:2])]


def test_a_function_that_asks_nothing_compares_nothing():
    frozen = qad.freeze(lambda x, y: np.sum(x * y))
    for pair in [pair for pair in PAIRS if pair[0] is not pair[1]]:
        frozen(*pair)
    assert frozen.stats.recordings == 1
    assert "check_value" not in str(frozen.program)


KEYS = [1, True, 1.0, 1 + 0j, np.int64(1), np.float64(1.0), 0.0, -0.0, 0, False, (1, 2), "1", b"1"]


def told(table):
    """What kinds of keys a dict has."""
    ((key, x),) = table.items()
    return np.sum(x) * (1 + len(repr(key))) * {bool: 2.0, int: 3.0, float: 5.0, tuple: 7.0}.get(type(key), 1.0)


@pytest.mark.parametrize("road", ["plain", "in a list", "keyword", "gradient", "under a gradient"])
def test_keys_of_dicts_are_compared_with_their_types(road):
    f = {
        "plain": lambda wrap: lambda key: wrap(told)({key: X}),
        "in a list": lambda wrap: lambda key: wrap(lambda trees: told(trees[0]))([{key: 2.0}]),
        "keyword": lambda wrap: lambda key: wrap(told)(table={key: X}),
        "gradient": lambda wrap: lambda key: wrap(qad.grad(told))({key: X})[key],
        "under a gradient": lambda wrap: lambda key: qad.grad(wrap(told))({key: X})[key],
    }[road]
    made = {}
    frozen = f(lambda g: made.setdefault(0, qad.freeze(g)))
    plain = f(lambda g: g)
    for key in KEYS * 2:
        agree(plain(key), frozen(key))


def test_keys_that_are_the_same_share_a_program():
    frozen = qad.freeze(told)
    for key in [1, True, 1.0, -0.0, (1.0, 2)] * 3:
        frozen({key: X})
    assert (frozen.stats.recordings, frozen.stats.replays) == (5, 10)
