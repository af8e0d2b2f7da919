"""Frozen functions: how objects are made, and what of captured objects can be set besides attributes."""

import abc
import collections.abc
import enum
import threading
from functools import partial

import numpy as np
import pytest

from tests.regressions.noticed import check_noticed

KEPT = []


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
        def scaled(self, x):
            return x * 2.0

    a = np.ones(2).view(Array)
    return lambda x: a.scaled(x), lambda: setattr(Array, "scaled", lambda self, x: x * 5)


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


def a_setter():
    w = [2.0]

    class Kind:
        @property
        def v(self):
            return self.kept

        @v.setter
        def v(self, value):
            self.kept = value * w[0]

    def f(x):
        thing = Kind()
        thing.v = x
        return thing.v

    return f, lambda: w.__setitem__(0, 5.0)


def whether_an_array_may_be_written():
    a = np.ones(2)
    return lambda x: x * (2 if a.flags.writeable else 3), lambda: a.setflags(write=False)


def the_fields_of_an_array():
    a = np.array([(1.0, 2.0)], dtype=[("a", "f8"), ("b", "f8")])
    return lambda x: x * a["a"], lambda: setattr(a.dtype, "names", ("b", "a"))


def the_value_of_a_member():
    class Kind(enum.Enum):
        ONE = 1.0

    return lambda x: x * Kind.ONE.value, lambda: setattr(Kind.ONE, "_value_", 7.0)


def what_counts_as_a_kind():
    Kind = abc.ABCMeta("Kind", (), {})

    class Other:
        pass

    thing = Other()
    return lambda x: x * (2 if isinstance(thing, Kind) else 3), lambda: Kind.register(Other)


def what_counts_as_a_kind_of_the_library():
    class Other:
        pass

    thing = Other()
    return (
        lambda x: x * (2 if isinstance(thing, collections.abc.Sequence) else 3),
        lambda: collections.abc.Sequence.register(Other),
    )


def whether_a_lock_is_taken():
    lock = threading.Lock()
    return lambda x: x * (2 if lock.locked() else 3), lock.acquire


def annotations():
    def helper(a: 2.0):
        pass

    return lambda x: x * helper.__annotations__["a"], lambda: helper.__annotations__.update(a=5.0)


def the_parts_of_a_partial_function():
    part = partial(lambda a, x: x * a, 2.0)
    return lambda x: part(x), lambda: part.__setstate__((part.func, (9.0,), {}, None))


def the_classes_made_of_another():
    class Kind:
        pass

    return lambda x: x * len(Kind.__subclasses__()), lambda: KEPT.append(type("Made", (Kind,), {}))


CASES = [
    how_objects_are_made,
    who_makes_objects,
    how_objects_of_a_base_are_made,
    a_method_of_an_array,
    a_class_attribute_of_an_array,
    a_property_of_an_array,
    a_special_method_that_is_no_function,
    a_setter,
    whether_an_array_may_be_written,
    the_fields_of_an_array,
    the_value_of_a_member,
    what_counts_as_a_kind,
    what_counts_as_a_kind_of_the_library,
    whether_a_lock_is_taken,
    annotations,
    the_parts_of_a_partial_function,
    the_classes_made_of_another,
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_a_change_is_noticed(case):
    check_noticed(*case())
