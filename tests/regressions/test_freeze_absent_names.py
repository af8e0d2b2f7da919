"""Frozen functions: names that were found nowhere, or in a later namespace, and then appear in an earlier one."""

import builtins
import types

import numpy as np
import pytest

import qad
from tests.regressions.noticed import X, check_noticed, scaled_by


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

    return scaled_by(thing), lambda: setattr(Kind, "scale", 3.0)


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

    return scaled_by(helper), lambda: setattr(helper, "scale", 3.0)


def an_attribute_of_a_module():
    module = types.ModuleType("settings")

    return scaled_by(module), lambda: setattr(module, "scale", 1.5)


def an_attribute_of_a_module_asked_for_by_text():
    module = types.ModuleType("settings")
    return lambda x: x * getattr(module, "scale", 3.0), lambda: setattr(module, "scale", 1.5)


def an_attribute_that_a_module_computes():
    module = types.ModuleType("settings")
    module.__getattr__ = lambda name: 2.0
    return lambda x: x * module.w, lambda: setattr(module, "w", 5.0)


def a_module_that_computes_attributes():
    module = types.ModuleType("settings")

    return scaled_by(module), lambda: setattr(module, "__getattr__", lambda name: 2.0)


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
    a_special_method_that_is_new,
    many_names,
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_a_change_is_noticed(case):
    check_noticed(*case())


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


def test_a_name_that_becomes_built_in(monkeypatch):
    """Python looks for a global name among the built-in ones too."""

    def f(x):
        try:
            return x * scale_of_a_test
        except NameError:
            return x

    frozen = qad.freeze(f)
    frozen(X), frozen(X)
    monkeypatch.setattr(builtins, "scale_of_a_test", 2.0, raising=False)
    assert np.array_equal(frozen(X), 2 * X)
