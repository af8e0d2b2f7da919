"""Kinds of functions under `qad.vmap`: each makes, of the function alone, the rule that a loop over examples gives."""

import numpy as np
import pytest

import qad
from qad.core.registry.families import BATCHING
from qad.extend import AXIS, ENTRIES, SHAPE, core, defbatch, primitive, rule
from tests.cases import normal

pytestmark = pytest.mark.usefixtures("registries_as_before")


def made(fn, kind):
    """A primitive that does what `fn` does, of a kind."""
    p = primitive(fn)
    rule(p, *[None] * 3, batch=kind)
    return p


def clipped(x, low, high):
    return np.minimum(np.maximum(x, low), high)


@pytest.mark.parametrize("given", [(0, None, None), (None, 0, None), (0, 0, None), (None, None, 0), (0, 0, 0)])
@pytest.mark.parametrize("shapes", [((2, 3), (3,), ()), ((3,), (2, 3), (3,)), ((), (2, 3), (1, 3))], ids=str)
def test_entries_broadcast(given, shapes):
    f = made(clipped, ENTRIES)
    arrays = [
        normal(*((5, *shape) if axis == 0 else shape), seed=n)
        for n, (shape, axis) in enumerate(zip(shapes, given, strict=True))
    ]
    rows = [f(*(a if axis is None else a[i] for a, axis in zip(arrays, given, strict=True))) for i in range(5)]
    np.testing.assert_array_equal(qad.vmap(f, in_axes=given)(*arrays), np.stack(rows))


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1), (-1, 0)])
def test_an_axis_is_counted_in_one_example(axis):
    f = made(lambda x, axis=None, keepdims=False: np.sum(x, axis, keepdims=keepdims), AXIS)
    x = normal(5, 2, 3)
    for call in (
        lambda x: f(x, axis=axis),
        lambda x: f(x, axis),
        lambda x: f(x, axis, True),
        lambda x: f(x, axis=axis, keepdims=True),
    ):
        np.testing.assert_allclose(qad.vmap(call)(x), np.stack([call(a) for a in x]), rtol=1e-14)


def test_without_an_axis_it_is_all_of_an_example():
    f = made(lambda x, axis=None: np.sum(x, axis), AXIS)
    np.testing.assert_allclose(qad.vmap(f)(normal(5, 2, 3)), normal(5, 2, 3).sum((1, 2)), rtol=1e-14)


def test_a_shape_is_that_of_one_example():
    f = made(lambda x, n: x.reshape((n, -1)), SHAPE)
    x = normal(5, 2, 3)
    np.testing.assert_array_equal(qad.vmap(lambda x: f(x, 3))(x), x.reshape(5, 3, 2))


@pytest.mark.parametrize("given", [(0, None), (None, 0), (0, 0)])
@pytest.mark.parametrize(
    "shapes", [((2, 3), (3, 4)), ((7, 2, 3), (3, 4)), ((2, 3), (7, 3, 4)), ((1, 2, 3), (7, 3, 4))], ids=str
)
def test_stacks_of_matrices(given, shapes):
    f = made(np.matmul, core(2, 2))
    a, b = (normal(*((5, *shape) if axis == 0 else shape)) for shape, axis in zip(shapes, given, strict=True))
    rows = [f(*(x if axis is None else x[i] for x, axis in zip((a, b), given, strict=True))) for i in range(5)]
    np.testing.assert_allclose(qad.vmap(f, in_axes=given)(a, b), np.stack(rows), rtol=1e-14)


def test_a_rule_of_its_own_stands_in_the_place_of_a_kind():
    seen = []
    f = primitive(lambda x: x + 1)
    defbatch(f, lambda batched, x: (seen.append(batched), f(x))[1])
    np.testing.assert_array_equal(qad.vmap(f)(np.ones(3)), 2 * np.ones(3))
    assert seen == [(True,)]
    assert repr(core(2, 1)) == "core(2, 1)" and repr(AXIS) == "AXIS"


def test_every_floor_has_kinds():
    """Most rules are of a kind: what is written for one function is the smaller part."""
    kinds = [fn for fn, made in BATCHING.items() if made.__module__ == "qad.core.registry.families"]
    assert len(kinds) > 80
    assert len(BATCHING) - len(kinds) < 60
