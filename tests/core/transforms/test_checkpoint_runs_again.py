"""`checkpoint` computes again what it computed first, generators among its arguments too, or says that it cannot."""

import gc
import random

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError

X = np.array([0.5, -1.0, 2.0])
CHANGED = "did not do the same when it was computed again"


def loss_and_change(layer, change):
    """A function whose surroundings change when its value is there, before its gradient is."""

    def f(x):
        y = np.sum(layer(x))
        change()
        return y

    return f


class Holder:
    scale = np.ones(3)


def captured():
    """What a layer may close over: pairs of a layer and the change."""
    work, large, holder, names = np.ones(3), np.ones((80, 80)), Holder(), {"w": np.ones(3), "twice": False}

    def rebind():
        names["w"] = np.full(3, 2.0)

    def other_branch():
        names["twice"] = True

    def one_of_many():
        large[40, 40] = 2.0

    return {
        "an array": (lambda x: x * work, lambda: work.fill(2.0)),
        "an array that only meets zeros": (lambda x: x * 0.0 * work, lambda: work.fill(2.0)),
        "a function of an array": (lambda x: x * np.exp(work), lambda: work.fill(2.0)),
        "one entry of many": (lambda x: np.outer(x, large[40]) @ large, one_of_many),
        "an attribute": (lambda x: x * holder.scale, lambda: setattr(holder, "scale", np.full(3, 2.0))),
        "a name": (lambda x: x * names["w"], rebind),
        "a branch": (lambda x: x * x if names["twice"] else x, other_branch),
        "a mask": (lambda x: np.where(work > 1, x, x * x), lambda: work.fill(2.0)),
        "a number": (lambda x: x * float(work[0]), lambda: work.fill(2.0)),
    }


@pytest.mark.parametrize("name", captured())
@pytest.mark.parametrize("transform", ["grad", "vjp", "jacobian", "tape", "nested"])
def test_what_a_layer_closes_over_has_changed(name, transform):
    layer, change = captured()[name]
    f = loss_and_change(qad.checkpoint(layer), change)
    use = {
        "grad": lambda: qad.grad(f)(X),
        "vjp": lambda: qad.vjp(f, X)[1](1.0),
        "jacobian": lambda: qad.jacobian(f)(X),
        "tape": lambda: f(qad.tensor(X, requires_grad=True)).backward(),
        "nested": lambda: qad.grad(lambda x: np.sum(qad.grad(f)(x) ** 2))(X),
    }[transform]
    with pytest.raises(ArgumentError, match=CHANGED):
        use()


@pytest.mark.parametrize("name", captured())
def test_what_does_not_change_is_let_pass(name):
    layer, _ = captured()[name]
    np.testing.assert_array_equal(
        qad.grad(lambda x: np.sum(qad.checkpoint(layer)(x)))(X), qad.grad(lambda x: np.sum(layer(x)))(X)
    )


def noisy(x, rng):
    return x * rng.random(3)


NOISY = {
    "argument": lambda layer, x, rng: layer(x, rng),
    "keyword": lambda layer, x, rng: layer(x, rng=rng),
    "entry of a dict": lambda layer, x, rng: layer(x, {"rng": [rng]}["rng"][0]),
}


@pytest.mark.parametrize("name", NOISY)
def test_generators_among_the_arguments_draw_again(name):
    """With noise a, the value is sum(a x) and the gradient a, in every transform."""
    layer, rng, twin = qad.checkpoint(noisy), np.random.default_rng(3), np.random.default_rng(3)

    def f(x, rng=rng):
        return np.sum(NOISY[name](layer, x, rng) + NOISY[name](layer, x, rng) * 10)

    value, gradient = qad.value_and_grad(f)(X)
    assert value == pytest.approx(gradient @ X, rel=1e-13)
    f(X, twin)
    assert rng.random() == twin.random()  # it is left as without a gradient
    y, slope = qad.jvp(f, (X,), (X,))
    assert y == pytest.approx(slope, rel=1e-13)
    x = qad.tensor(X, requires_grad=True)
    y = f(x)
    y.backward()
    assert y.detach().item() == pytest.approx(x.grad @ X, rel=1e-13)
    assert not np.allclose(gradient, x.grad)  # each call draws its own
    stack = np.stack([X, 2 * X])
    slopes = qad.grad(lambda s: np.sum(qad.vmap(lambda x: NOISY[name](layer, x, rng))(s)))(stack)
    np.testing.assert_array_equal(slopes[0], slopes[1])  # all examples share the generator


GENERATOR = np.random.default_rng(3)
OUT_OF_REACH = {
    "np.random": lambda: np.random.random(3),  # noqa: NPY002 - the generator without a name
    "random": lambda: np.array([random.random() for _ in range(3)]),
    "a global generator": lambda: GENERATOR.random(3),
    "an argument by default": lambda rng=GENERATOR: rng.random(3),
}


@pytest.mark.parametrize("name", OUT_OF_REACH)
def test_a_generator_that_is_no_argument_is_noticed(name):
    draw = OUT_OF_REACH[name]
    layer = qad.checkpoint(lambda x: x * draw())
    with pytest.raises(ArgumentError, match=CHANGED):
        qad.grad(lambda x: np.sum(layer(x)))(X)
    y, slope = qad.jvp(lambda x: np.sum(layer(x)), (X,), (X,))  # forward mode runs the function once
    assert y == pytest.approx(slope, rel=1e-13)


def test_networks_take_the_same_way_both_times():
    """However often a network has run, it rounds alike."""
    rng = np.random.default_rng(0)
    a = [rng.normal(size=(4, 4)) for _ in range(6)]

    @qad.checkpoint
    def layer(x):
        y = qad.einsum("ab,bc,cd,de,ef,fg->ag", x, *a[1:])
        return y / qad.stop_gradient(np.max(np.abs(y)))

    for _ in range(6):
        plain = qad.einsum("ab,bc,cd,de,ef,fg->ag", a[0], *a[1:])
        g = qad.grad(lambda x: np.sum(layer(x)))(a[0])
        chain = np.linalg.multi_dot(a[1:]).sum(axis=1)
        np.testing.assert_allclose(g, np.tile(chain, (4, 1)) / np.abs(plain).max(), rtol=1e-12)


def test_nothing_is_kept_of_the_first_run():
    """Constants are digested, not kept."""
    made = []

    @qad.checkpoint
    def layer(x):
        noise = np.sin(np.arange(1000.0))
        made.append(__import__("weakref").ref(noise))
        return x * noise

    y = layer(qad.tensor(np.ones(1000), requires_grad=True))
    gc.collect()
    assert made[0]() is None
    y.sum().backward()
