"""Frozen functions: names that were found nowhere, or in a later namespace, and then appear in an earlier one."""

import types
from functools import lru_cache

import numpy as np
import pytest

import qad

X = np.array([1.5, -2.0])


class Bare:
    pass


def an_attribute_of_a_class_that_an_object_lacks():
    class Kind:
        pass

    thing = Kind()
    return lambda x: x * getattr(thing, "scale", 3.0), lambda: setattr(Kind, "scale", 1.0)


def an_attribute_asked_for_by_name():
    class Kind:
        pass

    thing = Kind()

    def f(x):
        try:
            return x * thing.scale
        except AttributeError:
            return x

    return f, lambda: setattr(Kind, "scale", 3.0)


def an_attribute_of_a_base_class():
    class Base:
        pass

    class Kind(Base):
        pass

    return lambda x: x * (2.0 if hasattr(Kind, "scale") else 3.0), lambda: setattr(Base, "scale", 1.0)


def an_empty_slot():
    class Kind:
        __slots__ = ("scale",)

    thing = Kind()
    return lambda x: x * getattr(thing, "scale", 3.0), lambda: setattr(thing, "scale", 1.0)


def an_attribute_of_a_function():
    def helper():
        pass

    def f(x):
        try:
            return x * helper.scale
        except AttributeError:
            return x

    return f, lambda: setattr(helper, "scale", 3.0)


def an_attribute_of_a_module():
    module = types.ModuleType("settings")

    def f(x):
        try:
            return x * module.scale
        except AttributeError:
            return x

    return f, lambda: setattr(module, "scale", 1.5)


def an_attribute_of_a_module_asked_for_by_text():
    module = types.ModuleType("settings")
    return lambda x: x * getattr(module, "scale", 3.0), lambda: setattr(module, "scale", 1.5)


def an_attribute_that_a_module_computes():
    module = types.ModuleType("settings")
    module.__getattr__ = lambda name: 2.0
    return lambda x: x * module.w, lambda: setattr(module, "w", 5.0)


def a_module_that_computes_attributes():
    module = types.ModuleType("settings")

    def f(x):
        try:
            return x * module.scale
        except AttributeError:
            return x

    return f, lambda: setattr(module, "__getattr__", lambda name: 2.0)


def a_method_behind_another():
    class First:
        def g(self, x):
            return x * 2

    class Middle(First):
        pass

    class Last(Middle):
        def g(self, x):
            return super().g(x) + 1

    thing = Last()
    return lambda x: thing.g(x), lambda: setattr(Middle, "g", lambda self, x: x * 7)


def one_method_in_two_classes():
    class First:
        def g(self, x):
            return x * 2

    class Last(First):
        g = First.g

        def h(self, x):
            return super().g(x) + self.g(x)

    thing = Last()
    return lambda x: thing.h(x), lambda: setattr(First, "g", lambda self, x: x * 7)


class Computed:
    def __init__(self):
        self.d = {"w": 2.0}

    def __getattr__(self, name):
        return self.d[name]


def an_attribute_that_an_object_computes():
    thing = Computed()
    return lambda x: x * thing.w, lambda: setattr(thing, "w", 5.0)


def an_attribute_that_an_object_computes_of_its_class():
    class Kind(Computed):
        pass

    thing = Kind()
    return lambda x: x * thing.w, lambda: setattr(Kind, "w", 5.0)


def an_entry_as_attribute():
    class Entries(dict):
        __getattr__ = dict.__getitem__

    entries = Entries(w=2.0)
    return lambda x: x * entries.w, lambda: setattr(entries, "w", 5.0)


def an_attribute_of_a_metaclass():
    class Meta(type):
        w = 2.0

    class Kind(metaclass=Meta):
        pass

    return lambda x: x * Kind.w, lambda: setattr(Kind, "w", 4.0)


def the_whole_dict_of_an_object():
    thing = Bare()
    return lambda x: x * getattr(thing, "scale", 3.0), lambda: setattr(thing, "__dict__", {"scale": 1.0})


def the_names_that_a_class_has():
    class Kind:
        zz = 1

    thing = Kind()
    return lambda x: x * len([n for n in dir(thing) if n[0] == "z"]), lambda: setattr(Kind, "zzz", 1)


def a_special_method():
    class Kind:
        def __rmul__(self, x):
            return 2.0

        def __radd__(self, x):
            return 7.0

    thing = Kind()

    def f(x):
        try:
            return x * float(3 + thing)
        except TypeError:
            return x

    return f, lambda: setattr(Kind, "__radd__", lambda self, x: 9.0)


def a_special_method_that_is_new():
    class Kind:
        pass

    thing = Kind()

    def f(x):
        try:
            return x * float(3 + thing)
        except TypeError:
            return x

    return f, lambda: setattr(Kind, "__radd__", lambda self, x: 9.0)


def many_names():
    thing = Bare()

    def f(x):
        try:
            return x * (thing.a + thing.b + thing.c + thing.d + thing.e + thing.f + thing.g)
        except AttributeError:
            return x

    def change():
        for name in "abcdefg":
            setattr(thing, name, 1.0)

    return f, change


def how_objects_are_made():
    class Kind:
        def __init__(self, v):
            self.v = v * 2

    def new(self, v):
        self.v = v * 5

    return lambda x: Kind(x).v, lambda: setattr(Kind, "__init__", new)


def who_makes_objects():
    class Kind:
        def __new__(cls, v):
            made = super().__new__(cls)
            made.v = v * 2
            return made

    def new(cls, v):
        made = object.__new__(cls)
        made.v = v * 5
        return made

    return lambda x: Kind(x).v, lambda: setattr(Kind, "__new__", new)


def how_objects_of_a_base_are_made():
    class Base:
        def __init__(self, v):
            self.v = v * 2

    class Kind(Base):
        pass

    def new(self, v):
        self.v = v * 5

    return lambda x: Kind(x).v, lambda: setattr(Kind, "__init__", new)


def a_method_of_an_array():
    class Array(np.ndarray):
        def times(self, x):
            return x * 2.0

    a = np.ones(2).view(Array)
    return lambda x: a.times(x), lambda: setattr(Array, "times", lambda self, x: x * 5)


def a_class_attribute_of_an_array():
    class Array(np.ndarray):
        scale = 2.0

    a = np.ones(2).view(Array)
    return lambda x: a.scale * x, lambda: setattr(Array, "scale", 3.0)


def a_property_of_an_array():
    class Array(np.ndarray):
        @property
        def scale(self):
            return 2.0

    a = np.ones(2).view(Array)
    return lambda x: a.scale * x, lambda: setattr(Array, "scale", property(lambda self: 3.0))


def a_special_method_that_is_no_function():
    class Called:
        def __init__(self, y):
            self.y = y

        def __call__(self, x):
            return self.y

    class Kind:
        __radd__ = Called(7.0)

    thing = Kind()
    return lambda x: x * (3 + thing), lambda: setattr(Kind, "__radd__", Called(8.0))


CASES = [
    an_attribute_of_a_class_that_an_object_lacks,
    an_attribute_asked_for_by_name,
    an_attribute_of_a_base_class,
    an_empty_slot,
    an_attribute_of_a_function,
    an_attribute_of_a_module,
    an_attribute_of_a_module_asked_for_by_text,
    an_attribute_that_a_module_computes,
    a_module_that_computes_attributes,
    a_method_behind_another,
    one_method_in_two_classes,
    an_attribute_that_an_object_computes,
    an_attribute_that_an_object_computes_of_its_class,
    an_entry_as_attribute,
    an_attribute_of_a_metaclass,
    the_whole_dict_of_an_object,
    the_names_that_a_class_has,
    a_special_method,
    a_special_method_that_is_new,
    many_names,
    how_objects_are_made,
    who_makes_objects,
    how_objects_of_a_base_are_made,
    a_method_of_an_array,
    a_class_attribute_of_an_array,
    a_property_of_an_array,
    a_special_method_that_is_no_function,
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_a_change_is_noticed(case):
    """The function is replayed before the change, and recorded again after it."""
    f, change = case()
    frozen = qad.freeze(f)
    for _ in range(3):
        assert np.array_equal(frozen(X), f(X))
    assert frozen.stats.replays >= 1
    change()
    assert np.array_equal(frozen(X), f(X))
    assert np.array_equal(frozen(X), f(X))
    assert frozen.stats.recordings == 2


def test_a_constant_may_be_absent():
    """A name that the caller declared constant is not compared where it is absent either."""
    thing = Bare()
    frozen = qad.freeze(lambda x: x if thing is None else x * thing.w, constant="w")
    thing.w = 2.0
    assert np.array_equal(frozen(X), 2 * X)


def test_the_message_names_what_appeared():
    """One name out of many."""
    f, change = many_names()
    frozen = qad.freeze(f)
    frozen(X)
    change()
    frozen(X)
    assert frozen.stats.reasons == ["what the function captured has changed: a, b, c, d, e, f, g"]


@pytest.mark.parametrize("size", [None, 8], ids=["all", "few"])
@pytest.mark.parametrize("result", [lambda w: w, lambda w: {"w": w}["w"]], ids=["number", "dict"])
def test_a_cache_that_is_older_than_what_it_was_made_of(size, result):
    """The cache answers with what was captured before, until it is cleared."""
    w = [2.0]

    @lru_cache(size)
    def table(n):
        return result(w[0]) * n

    f = lambda x: x * table(3)  # noqa: E731
    frozen = qad.freeze(f)
    for _ in range(3):
        assert np.array_equal(frozen(X), 6 * X)
    assert frozen.stats.replays == 1
    w[0] = 5.0
    for _ in range(2):
        assert np.array_equal(frozen(X), 6 * X)
    table.cache_clear()
    for _ in range(3):
        assert np.array_equal(frozen(X), 15 * X)
    w[0] = 1.0
    table.cache_clear()
    assert table(3) == 3.0
    assert np.array_equal(frozen(X), 3 * X)


def test_the_cache_of_a_method():
    """The object is in the keys."""

    class Model:
        def __init__(self):
            self.w = 2.0

        @lru_cache(8)  # noqa: B019
        def table(self, n):
            return {"result": self.w * n}

    model = Model()
    f = lambda x: x * model.table(3)["result"]  # noqa: E731
    frozen = qad.freeze(f)
    for _ in range(3):
        frozen(X)
    model.w = 5.0
    assert np.array_equal(frozen(X), 6 * X)
    Model.table.cache_clear()
    assert np.array_equal(frozen(X), 15 * X)
