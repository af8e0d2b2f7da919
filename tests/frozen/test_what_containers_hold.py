"""Frozen functions of dataclasses and registered classes whose objects hold more than their fields."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest

import qad

X = np.array([0.3, 0.7, 1.1])


class Cached:
    """A plain base class that gives its objects a dict."""

    def __new__(cls, *args, **kwargs):
        made = super().__new__(cls)
        object.__setattr__(made, "cache", {"k": 1.0})
        return made


@dataclass(frozen=True)
class Chain(Cached):
    n: int

    def __post_init__(self):
        object.__setattr__(self, "scale", 1.0)

    @cached_property
    def terms(self):
        return [np.eye(self.n)]


@dataclass(frozen=True, slots=True)
class Slotted:
    scale: float


def rebound(name, value):
    return lambda x: object.__setattr__(x, name, value)


CHANGES = {
    "cached property": (lambda x, c: sum(x @ h @ x for h in c.terms), lambda c: c.terms.append(np.ones((3, 3)))),
    "dict of a base": (lambda x, c: np.sum(x) * c.cache["k"], lambda c: c.cache.update(k=3.0)),
    "no field": (lambda x, c: np.sum(x) * c.scale, rebound("scale", 3.0)),
    "field": (lambda x, c: np.sum(x) * c.n, rebound("n", 2)),
    "slot": (lambda x, c: np.sum(x) * c.scale, rebound("scale", 3.0)),
}


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("case", CHANGES)
def test_all_that_a_frozen_dataclass_holds_is_compared(case, static):
    f, change = CHANGES[case]
    c = Slotted(1.0) if case == "slot" else Chain(3)
    if case == "cached property":
        assert len(c.terms) == 1
    if static:
        frozen, more = qad.freeze(f), {"c": c}
    else:
        frozen, more = qad.freeze(lambda x: f(x, c)), {}
    for _ in range(3):
        before = frozen(X, **more)
        slope = qad.grad(frozen)(X, **more)
    np.testing.assert_allclose([before, *slope], [f(X, c), *qad.grad(f)(X, c)])
    change(c)
    assert not np.isclose(f(X, c), before)
    np.testing.assert_allclose([frozen(X, **more), *qad.grad(frozen)(X, **more)], [f(X, c), *qad.grad(f)(X, c)])


def test_static_objects_that_are_equal_by_their_fields_only():
    frozen = qad.freeze(CHANGES["no field"][0])
    one, two = Chain(3), Chain(3)
    object.__setattr__(two, "scale", 3.0)
    for c in (one, two, one):
        np.testing.assert_allclose(frozen(X, c=c), np.sum(X) * c.scale)
        np.testing.assert_allclose(qad.grad(frozen)(X, c=c), c.scale)
    object.__setattr__(one, "scale", 5.0)  # what a program was made of for all that are equal
    np.testing.assert_allclose(frozen(X, c=Chain(3)), np.sum(X))
    np.testing.assert_allclose(qad.grad(frozen)(X, c=Chain(3)), 1.0)
    other = Slotted(0.0), Slotted(-0.0)
    signs = qad.freeze(lambda x, c: np.sum(np.copysign(x, c.scale)))
    assert [np.sign(signs(X, c=c)) for c in other] == [1, -1]


def test_static_objects_of_equal_attributes_share_a_program():
    frozen = qad.freeze(CHANGES["no field"][0])
    for _ in range(4):
        frozen(X, c=Slotted(2.0))
    assert (frozen.stats.recordings, frozen.stats.replays) == (1, 3)


def test_an_array_is_no_list_of_one_array():
    frozen = qad.freeze(lambda a: 2 * a[0])
    for given in ([X], [X], X, [X], X):
        np.testing.assert_array_equal(frozen(given), 2 * given[0])


class Layer:
    def __init__(self, w, opts):
        self.w, self.opts = w, opts


qad.register_container(Layer, "w")


class Scale:
    def __init__(self, scale):
        self.scale = scale


def times(k):
    return lambda v: k[0] * v


OPTS = {
    "dict": ({"scale": 1.0}, lambda o: o["scale"], lambda o: o.update(scale=3.0)),
    "list": ([1.0], lambda o: o[0], lambda o: o.append(0) or o.insert(0, 3.0)),
    "list in a tuple": (([1.0],), lambda o: o[0][0], lambda o: o[0].insert(0, 3.0)),
    "object": (Scale(1.0), lambda o: o.scale, lambda o: setattr(o, "scale", 3.0)),
    "object in a list": ([Scale(1.0)], lambda o: o[0].scale, lambda o: setattr(o[0], "scale", 3.0)),
    "array": (np.ones(3), lambda o: o[0], lambda o: o.fill(3.0)),
    "large array": (np.ones(3000), lambda o: o[0], lambda o: o.fill(3.0)),
    "function": (times([1.0]), lambda o: o(1.0), lambda o: o.__closure__[0].cell_contents.insert(0, 3.0)),
}


@pytest.mark.parametrize("case", OPTS)
def test_attributes_that_are_no_fields_may_change(case):
    opts, read, change = OPTS[case]

    def f(layer):
        return np.sum(layer.w**2) * read(layer.opts)

    frozen, frozen_gradient = qad.freeze(f), qad.freeze(qad.grad(f))
    layer = Layer(X, opts)
    gradients = [frozen_gradient, qad.grad(frozen)]
    for _ in range(3):
        before = frozen(layer), *(g(layer).w for g in gradients)
    np.testing.assert_allclose(before[0], f(layer))
    assert frozen.stats.replays >= 2
    change(opts)
    for _ in range(3):
        np.testing.assert_allclose(frozen(layer), f(layer))
        assert not np.isclose(frozen(layer), before[0])
        for g in gradients:
            np.testing.assert_allclose(g(layer).w, qad.grad(f)(layer).w)


def test_plain_attributes_that_are_equal_share_a_program():
    frozen = qad.freeze(lambda layer: np.sum(layer.w) * layer.opts["a"][0])
    for _ in range(4):
        frozen(Layer(X, {"a": [2.0], "b": np.ones(2)}))
    assert (frozen.stats.recordings, frozen.stats.replays) == (1, 3)


@dataclass
class Params:
    w: np.ndarray
    scale = 1.0  # without annotation, so that it is no field


def more(cls, *args):
    made = cls(*args)
    object.__setattr__(made, "scale", 5.0)
    return made
