"""What cannot be replayed raises while it is recorded, and names the way out: objects, chance, text."""

import random

import numpy as np
import pytest

import qad

X = np.array([1.0, 2.0, 3.0])
OBJECTS = np.array([1.0, 2.0, 3.0], dtype=object)
WORDS = np.array(["a", "b", "c"])
RNG = np.random.default_rng(0)
doubled = np.frompyfunc(lambda x: 2 * x, 1, 1)

AS_OBJECTS = {
    "astype": lambda x: (x.astype(object) * 2).astype(float),
    "of a dtype": lambda x: np.asarray(x * 1).astype("O").sum(),
    "frompyfunc": lambda x: doubled(x).astype(float),
    "frompyfunc made inside": lambda x: np.frompyfunc(lambda y: y + 1, 1, 1)(x).astype(float),
    "captured": lambda x: (x * OBJECTS).astype(float),
    "empty_like": lambda x: np.empty_like(x, dtype=object),
    "text": lambda x: x.astype(str),
    "captured text": lambda x: np.where(WORDS == "a", x, np.char.add(WORDS, "b")),
    "times": lambda x: x.astype("m8[s]"),
    "opaque": lambda x: qad.extend.opaque(lambda y: y.astype(object))(x),
    "in a gradient": qad.grad(lambda x: np.sum(x * OBJECTS)),
}


@pytest.mark.parametrize("passes", [None, ()])
@pytest.mark.parametrize("name", AS_OBJECTS)
def test_arrays_of_objects_are_refused(name, passes):
    """They ended up in a program's buffers, whose bytes are no objects, and the interpreter died."""
    frozen = qad.freeze(AS_OBJECTS[name], passes=passes)
    for _ in range(2):
        with pytest.raises((qad.errors.ArgumentError, qad.errors.GradientTypeError)):
            frozen(X)


def test_objects_as_containers_are_fine():
    holder = np.empty(2, dtype=object)
    holder[0], holder[1] = X, 2 * X
    frozen = qad.freeze(lambda x: x * holder[1])
    for _ in range(2):
        np.testing.assert_array_equal(frozen(X), 2 * X * X)
    holder[1] = X
    np.testing.assert_array_equal(frozen(X), X * X)


VARYING = {
    "random": lambda x: x * random.random(),
    "np.random": lambda x: x * np.random.normal(),  # noqa: NPY002
    "captured generator": lambda x: x * RNG.normal(),
}


@pytest.mark.parametrize("name", VARYING)
def test_random_numbers_are_refused(name):
    with pytest.raises(qad.errors.ArgumentError, match=r"argument|default_rng"):
        qad.freeze(VARYING[name])(X)


def test_generators_of_a_fixed_seed_are_fine():
    frozen = qad.freeze(lambda x: x * np.random.default_rng(3).normal(size=3))
    for _ in range(2):
        np.testing.assert_array_equal(frozen(X), X * np.random.default_rng(3).normal(size=3))


TEXTS = {
    "f-string": lambda x: f"{x}",
    "f-string with a format": lambda x: f"{x[0]:.3f}",
    "str": lambda x: str(x),
    "repr": lambda x: repr(x),
    "print": lambda x: print(x),
    "percent": lambda x: "%s" % x.sum(),  # noqa: UP031
    "array2string": lambda x: np.array2string(x),
    "array_str": lambda x: np.array_str(x * 2),
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_of_traced_values_is_refused(name):
    def f(x):
        TEXTS[name](x)
        return x

    with pytest.raises(qad.errors.ArgumentError, match="text was made of a traced value, at test_text_and_chance.py"):
        qad.freeze(f)(X)


def test_tests_of_types_are_those_of_plain_arrays():
    def kinds(x):
        return tuple(int(isinstance(x, kind)) for kind in (np.ndarray, np.float64, float, complex, list))

    frozen = qad.freeze(kinds)
    for x in (X, np.float64(2), 2.0, 2j, np.ones(()), X[0]):
        for _ in range(2):
            assert frozen(x) == kinds(x)
    scalar = qad.freeze(lambda x: x * (2 if np.isscalar(x) else 3))
    for x in (2.0, np.float64(2), np.ones(())):
        assert scalar(x) == x * (2 if np.isscalar(x) else 3)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(c=1.0),
        lambda d: d.pop("a"),
        lambda d: d.update(a=d["a"] * 2),
        lambda d: d["b"].reverse(),
        lambda d: d["b"].append(d["a"]),
    ],
)
def test_changes_of_containers_among_the_arguments_are_refused(change):
    def f(d):
        total = d["a"] * 2
        change(d)
        return total

    with pytest.raises(qad.errors.ArgumentError, match="changes a list or dict among its arguments"):
        qad.freeze(f)({"a": X, "b": [X + 1, X + 2]})
