"""Functions that see how their arguments lie in memory: no road copies these into another order.

Through a reshape that is a view of one array and a copy of another, as their layouts allow, a function writes, or not.
"""

import copy

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from tests.properties.layouts import layouts


def scaled(a):
    b = a * 1.0
    b.ravel()[:3] = 0.0
    return np.sum(b * b * b)


def filled(a):
    b = np.zeros_like(a)
    b.ravel()[:3] = 3.0
    return np.sum((b + a) ** 3)


def value(x):
    return float(qad.extend.value_of(x))


ARGUMENT_ROADS = {
    "vjp": lambda f, a: qad.vjp(f, a)[0],
    "vjp of a tree": lambda f, a: qad.vjp(lambda x: f(x["a"]), {"a": a})[0],
    "jvp": lambda f, a: qad.jvp(f, (a,), (a,))[0],
    "checkpoint": lambda f, a: qad.checkpoint(f)(a),
    "gradient of a checkpoint": lambda f, a: qad.value_and_grad(qad.checkpoint(f))(a)[0],
    "vjp of vjp": lambda f, a: qad.vjp(lambda x: qad.vjp(f, x)[0], a)[0],
    "constant": lambda f, a: f(qad.tensor(a)),
    "leaf": lambda f, a: f(qad.tensor(a, requires_grad=True)),
    "copied leaf": lambda f, a: f(copy.copy(qad.tensor(a, requires_grad=True))),
    "minimize": lambda f, a: qad.optimize.minimize(f, a, maxiter=1).history[0],
    "adam": lambda f, a: qad.optimize.adam(f, a, maxiter=1).history[0],
    "fixed point": lambda f, a: qad.fixed_point(lambda x, a: 0.5 * x + f(a * np.sign(x)), a, a).flat[0] / 2,
}

COPYING = ("minimize", "adam", "fixed point")  # whose steps change entries that share memory at the start


@pytest.mark.parametrize("f", [scaled, filled])
@pytest.mark.parametrize("size", [1, 60])
@pytest.mark.parametrize("road", ARGUMENT_ROADS)
def test_a_function_meets_its_argument_as_it_lies(road, size, f):
    """Small arrays and large ones are copied in different ways."""
    for name, a in layouts(np.linspace(0.5, 1.5, 24 * size).reshape(2, 3 * size, 4)).items():
        if 0 in a.strides and road in COPYING:
            continue
        expected = f(np.array(a) if road in ("constant", "leaf", "copied leaf") else a)  # qad.tensor is a copy
        np.testing.assert_allclose(value(ARGUMENT_ROADS[road](f, a)), expected, rtol=1e-10, err_msg=name)


@pytest.mark.parametrize("f", [scaled, filled])
@pytest.mark.parametrize("size", [1, 60])
def test_a_derivative_is_of_the_argument_as_it_lies(f, size):
    for name, a in layouts(np.linspace(0.5, 1.5, 24 * size).reshape(2, 3 * size, 4)).items():
        g, h = qad.grad(f)(a), qad.hvp(f, (a,), (a,))[0]
        np.testing.assert_allclose(qad.vjp(f, a)[1](1.0)[0], g, err_msg=name)
        np.testing.assert_allclose(qad.grad(qad.checkpoint(f))(a), g, err_msg=name)
        np.testing.assert_allclose(qad.vhp(f, (a,), (a,))[0], h, err_msg=name)


def first_of(f):
    return lambda a: f(a)[0]


FROZEN = {
    "value": lambda f: qad.freeze(f),
    "gradient": lambda f: first_of(qad.freeze(qad.value_and_grad(f))),
    "gradient of frozen": lambda f: first_of(qad.value_and_grad(qad.freeze(f))),
    "vjp": lambda f: qad.freeze(lambda a: qad.vjp(f, a)[0]),
    "jvp": lambda f: qad.freeze(lambda a: qad.jvp(f, (a,), (a,))[0]),
    "of tensors": lambda f: qad.freeze(lambda a: f(qad.tensor(a))),
}
BUFFERS = {
    "zeros": np.zeros_like, "ones": np.ones_like, "full": lambda a: np.full_like(a, 2.0), "qad": qad.zeros_like,
    "empty": lambda a: np.empty_like(a), "copy": lambda a: np.copy(a, "K"), "product": lambda a: a * 1.0,
}  # fmt: skip
THROUGH = {"ravel": np.ravel, "reshape": lambda b: b.reshape(-1), "rows": lambda b: b.reshape(2, -1)}


@pytest.mark.parametrize("through", THROUGH.values(), ids=THROUGH)
@pytest.mark.parametrize("make", BUFFERS.values(), ids=BUFFERS)
@pytest.mark.parametrize("road", FROZEN)
def test_a_frozen_buffer_lies_as_its_argument(road, make, through):
    """A write of constants into a buffer of constants is no step; a view or a copy was shown all the same."""

    def f(a):
        b = make(a)
        b[...] = 0.5
        through(b)[..., :2] = 3.0
        return np.sum((b + a) ** 2)

    for first in (0, 1):
        frozen = FROZEN[road](f)
        given = list(layouts(np.arange(24.0).reshape(2, 3, 4)).values())
        for a in (*given[first:], *given):
            np.testing.assert_allclose(value(frozen(a)), value(f(np.array(a) if road == "of tensors" else a)))


def test_a_question_about_the_layout_is_a_part_of_the_program():
    c = np.arange(6.0).reshape(2, 3)
    for asks in (lambda x: x.flags.f_contiguous, lambda x: np.shares_memory(x, x.reshape(-1)), np.isfortran):
        for transform in (qad.freeze, lambda f: qad.freeze(qad.freeze(f))):
            frozen = transform(lambda x, asks=asks: x * (2 if asks(x) else 3))
            for x in (c, np.asfortranarray(c), c, c[:, ::2]):
                np.testing.assert_array_equal(frozen(x), x * (2 if asks(x) else 3))


def test_a_cast_lies_as_it_is_told_to():
    c = np.arange(1.0, 7.0).reshape(2, 3)
    for keywords in ({"order": "F"}, {"order": "C"}, {"order": "A"}, {"casting": "safe"}, {"subok": False}):
        for x in (c, c.T, c[:, ::2]):

            def f(x, keywords=keywords):
                y = x.astype(float, **keywords)
                y.ravel()[:2] = 0.5
                return np.sum(y * y)

            assert qad.value_and_grad(f)(x)[0] == f(x)
            frozen = qad.freeze(f)
            assert frozen(x) == frozen(x) == f(x)
    with pytest.raises(TypeError, match="casting"):
        qad.grad(lambda x: x.astype("f4", casting="safe").sum())(c)
    with pytest.raises(ArgumentError, match="copy=False"):
        qad.grad(lambda x: x.astype(float, order="F", copy=False).sum())(c)
