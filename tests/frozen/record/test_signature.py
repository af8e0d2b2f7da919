"""What a program is made for: the order of keys, slices, static objects."""

import itertools
from collections import OrderedDict, defaultdict
from dataclasses import dataclass

import numpy as np
import pytest

import qad

A, B, C = np.array([1.0]), np.array([2.0]), np.array([3.0])


def joined(x):
    return np.concatenate(list(x.values()))


@pytest.mark.parametrize(
    "kind", [dict, OrderedDict, lambda pairs: defaultdict(list, pairs)], ids=["dict", "ordered", "default"]
)
def test_the_order_of_keys(kind):
    pairs = {"a": A, "b": B, "c": C}
    frozen, gradient = qad.freeze(joined), qad.freeze(qad.grad(lambda x: np.sum(joined(x) * [1.0, 2.0, 3.0])))
    for _ in range(2):
        for order in itertools.permutations("abc"):
            x = kind([(key, pairs[key]) for key in order])
            np.testing.assert_array_equal(frozen(x), joined(x))
            assert {key: float(g[0]) for key, g in gradient(x).items()} == dict(
                zip(order, (1.0, 2.0, 3.0), strict=True)
            )
    assert frozen.stats.recordings == 6
    assert list(qad.freeze(lambda x: x)({"b": A, "a": B})) == ["b", "a"]


def test_the_order_of_keys_below():
    frozen = qad.freeze(lambda x: joined(x[0][1]))
    assert frozen([(0.0, {"a": A, "b": B})]).tolist() == [1, 2]
    assert frozen([(0.0, {"b": B, "a": A})]).tolist() == [2, 1]


def test_the_order_of_keywords():
    frozen = qad.freeze(lambda **given: joined(given))
    assert frozen(a=A, b=B).tolist() == [1, 2]
    assert frozen(b=B, a=A).tolist() == [2, 1]
    assert frozen(a=A, b=B).tolist() == [1, 2]


def test_the_order_of_keys_of_tensors():
    frozen = qad.freeze(joined)
    for order in ("ab", "ba"):
        x = {key: {"a": A, "b": B}[key] for key in order}
        found = qad.grad(lambda x: np.sum(frozen(x) * np.array([1.0, 5.0])))(x)
        assert {key: float(found[key][0]) for key in order} == {order[0]: 1.0, order[1]: 5.0}


def test_slices_are_static():
    x = np.arange(6.0)
    frozen = qad.freeze(lambda x, where: x[where] * 2)
    for where in (slice(1, 3), slice(1, 3), slice(None), slice(None, None, -1), (slice(2), None)):
        np.testing.assert_array_equal(frozen(x, where), x[where] * 2)
    assert frozen.stats.recordings == 4


class Named:
    """Equal by name, whatever else it holds."""

    def __init__(self, name, weight):
        self.name, self.weight = name, weight

    def __eq__(self, other):
        return self.name == other.name

    def __hash__(self):
        return hash(self.name)


@dataclass(frozen=True)
class Options:
    scale: float
    sign: int = 1


def test_static_objects_of_the_users_are_compared_by_identity():
    frozen = qad.freeze(lambda x, named: x * named.weight)
    one, two = Named("a", 2.0), Named("a", 3.0)
    for named in (one, two, one):
        assert frozen(A, named=named) == named.weight
    one.weight = 5.0
    assert frozen(A, named=one) == 5
    options = qad.freeze(lambda x, options: x * options.scale * options.sign)
    for given in (Options(2.0), Options(2.0), Options(3.0), Options(2.0, True)):
        assert options(A, options=given) == given.scale
    assert options.stats.recordings == 2  # a float among the fields is a value


def test_static_functions_and_what_they_capture():
    weight = np.ones(1)
    frozen = qad.freeze(lambda x, f: f(x))
    double, weighted = (lambda x: 2 * x), (lambda x: weight * x)
    assert [float(frozen(A, f)[0]) for f in (double, weighted, double)] == [2, 1, 2]
    weight[0] = 7
    assert frozen(A, weighted) == 7
