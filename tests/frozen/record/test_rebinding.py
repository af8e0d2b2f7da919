"""Frozen functions: defaults, what a base class reads, attributes of enumerations, arrays of other classes."""

import enum

import numpy as np
import pytest

import qad

X = np.array([1.0, 2.0, 3.0])
ONES, FIVES = np.ones(3), np.full(3, 5.0)


def defaults():
    def f(x, w=ONES):
        return w * x

    return f, lambda w: setattr(f, "__defaults__", (w,))


def keyword_defaults():
    def f(x, *, w=ONES):
        return w * x

    return f, lambda w: f.__kwdefaults__.update(w=w)


def defaults_of_a_function_that_is_called():
    f, change = defaults()
    return lambda x: f(x), change


def a_base_class():
    class Base:
        def scaled(self, x):
            return self.w * x

    class Model(Base):
        def scaled(self, x):
            return super().scaled(x)

    model = Model()
    model.w = ONES
    return lambda x: model.scaled(x), lambda w: setattr(model, "w", w)


def a_member_of_an_enumeration():
    class Kind(enum.Enum):
        ONE = 1

        def scaled(self, x):
            return self.w * x

    Kind.ONE.w = ONES
    return lambda x: Kind.ONE.scaled(x), lambda w: setattr(Kind.ONE, "w", w)


CASES = [
    defaults,
    keyword_defaults,
    defaults_of_a_function_that_is_called,
    a_base_class,
    a_member_of_an_enumeration,
]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("transform", [lambda f: f, lambda f: qad.grad(lambda x: np.sum(f(x) * x))])
def test_a_name_that_stands_for_another_array(case, transform):
    f, change = case()
    frozen = qad.freeze(transform(f))
    for w in (ONES, FIVES, ONES, 2 * FIVES):
        change(w)
        for _ in range(2):
            assert np.array_equal(frozen(X), transform(f)(X))


def test_an_array_in_a_file(tmp_path):
    weights = np.memmap(tmp_path / "weights", dtype=float, mode="w+", shape=(3,))
    weights[:] = 1.0
    frozen = qad.freeze(lambda x: weights * x)
    assert np.array_equal(frozen(X), X)
    weights[:] = 5.0
    assert np.array_equal(frozen(X), 5 * X)
