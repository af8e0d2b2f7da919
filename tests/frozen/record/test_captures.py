"""What a frozen function captures: every change is noticed, wherever the array, number or object is held."""

import sys
import threading
import weakref
from collections import UserDict, deque
from contextvars import ContextVar
from functools import cached_property, lru_cache, partial, singledispatch
from operator import attrgetter
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import qad
from qad.frozen.record.captures import Captures

X = np.array([1.0, 2.0, 3.0])


class Slotted:
    __slots__ = ("w",)


class Plain:
    shared = np.ones(3)

    def __init__(self):
        self.w, self.deep = np.ones(3), {"k": [np.ones(3)]}

    def method(self, x):
        return x * self.w

    @classmethod
    def of_class(cls, x):
        return x * cls.shared

    @staticmethod
    def static(x):
        return x * Plain.shared

    @property
    def doubled(self):
        return 2 * self.w

    def by_text(self, x):
        return x * getattr(self, "w")  # noqa: B009 - which is the case

    def __call__(self, x):
        return x * self.w


class Child(Plain):
    pass


class Lazy:
    def __init__(self):
        self.w = np.ones(3)

    @cached_property
    def cached(self):
        return 3 * self.w


module = ModuleType("settings_of_a_test")
module.K, module.number = np.ones(3), 2.0
sys.modules[module.__name__] = module
K = np.ones(3)


KEPT = []
DISPATCHED = np.ones(3)
attrgetter_of_w = attrgetter("w")
calling = attrgetter("method")
variable = ContextVar("variable")
variable.set(np.ones(3))
own = threading.local()
own.w = np.ones(3)


@singledispatch
def dispatched(x):
    raise TypeError


@dispatched.register(np.ndarray)
def _(x):
    return x * DISPATCHED


class Meta(type):
    held = np.ones(3)

    @property
    def of_meta(cls):
        return Meta.held


class WithMeta(metaclass=Meta):
    pass


class Describing:
    def __init__(self):
        self.held = np.ones(3)

    def __get__(self, owner, kind=None):
        return self.held


class Described:
    w = Describing()


described = Described()


class UserMapping(UserDict):
    def __getitem__(self, key):
        return self.data[key]


UserMapping.one = UserMapping(k=np.ones(3))


def default(x, k=np.ones(3)):  # noqa: B008 - which is the case
    return x * k


def with_import(x):
    import settings_of_a_test

    return x * settings_of_a_test.K


def holder_of_attribute(x):
    return x * holder_of_attribute.w


holder_of_attribute.w = np.ones(3)


@lru_cache
def table(n):
    return np.ones(n)


def places():
    """Dict of name -> (function, array that it reads)."""
    plain, slotted, nested = Plain(), Slotted(), [0, [0, {"k": [np.ones(3)]}]]
    slotted.w = np.ones(3)
    space, rows, objects = (
        SimpleNamespace(w=np.ones(3)),
        deque([np.ones(3)]),
        np.array([np.ones(3), None], dtype=object),
    )
    given, local = np.ones(3), np.ones(3)
    mapping = {("a", 1): np.ones(3)}
    big = np.ones((200, 300))
    weak = weakref.ref(plain)
    KEPT.append(plain)
    return {
        "closure": (lambda x: x * local, local),
        "global": (lambda x: x * K, K),
        "module attribute": (lambda x: x * module.K, module.K),
        "module imported inside": (with_import, module.K),
        "partial": (partial(lambda k, x: x * k, given), given),
        "partial keyword": (partial(lambda x, k: x * k, k=given), given),
        "default": (default, default.__defaults__[0]),
        "attribute": (lambda x: x * plain.w, plain.w),
        "attribute by text": (plain.by_text, plain.w),
        "bound method": (plain.method, plain.w),
        "class attribute": (lambda x: x * Plain.shared, Plain.shared),
        "class attribute of an instance": (lambda x: x * plain.shared, Plain.shared),
        "class method": (Plain.of_class, Plain.shared),
        "static method": (Plain.static, Plain.shared),
        "inherited": (lambda x: x * Child.shared, Plain.shared),
        "property": (lambda x: x * plain.doubled, plain.w),
        "callable object": (plain, plain.w),
        "slot": (lambda x: x * slotted.w, slotted.w),
        "nested containers": (lambda x: x * nested[1][1]["k"][0], nested[1][1]["k"][0]),
        "container of an object": (lambda x: x * plain.deep["k"][0], plain.deep["k"][0]),
        "namespace": (lambda x: x * space.w, space.w),
        "deque": (lambda x: x * rows[0], rows[0]),
        "object array": (lambda x: x * objects[0], objects[0]),
        "dict": (lambda x: x * mapping["a", 1], mapping["a", 1]),
        "attrgetter": (lambda x: x * attrgetter_of_w(plain), plain.w),
        "attrgetter of a method": (lambda x: calling(plain)(x), plain.w),
        "weak reference": (lambda x: x * weak().w, plain.w),
        "context variable": (lambda x: x * variable.get(), variable.get()),
        "thread's own": (lambda x: x * own.w, own.w),
        "metaclass": (lambda x: x * WithMeta.of_meta, Meta.held),
        "descriptor": (lambda x: x * described.w, described.__class__.__dict__["w"].held),
        "mapping of the user's": (lambda x: x * UserMapping.one["k"], UserMapping.one.data["k"]),
        "attribute of a function": (holder_of_attribute, holder_of_attribute.w),
        "cache": (lambda x: x * table(3), table(3)),
        "large": (lambda x: x * big[0, 0], big),
        "read-only view": (lambda x: x * np.broadcast_to(local, (3,)), local),
        "inner function": (lambda x: (lambda y: y * local)(x), local),
        "qad's transform": (qad.grad(lambda x: np.sum(x * x * local)), local),
        "frozen function": (qad.freeze(lambda x: x * local), local),
    }


@pytest.mark.parametrize("name", places())
def test_a_captured_array_that_changes_in_place(name):
    f, array = places()[name]
    frozen = qad.freeze(f)
    for _ in range(2):
        np.testing.assert_array_equal(frozen(X), f(X))
    assert frozen.stats.recordings == 1
    before = array.copy()
    try:
        array[(0,) * array.ndim] = 5.0
        np.testing.assert_array_equal(frozen(X), f(X))
        array[(0,) * array.ndim] = 7.0
        np.testing.assert_array_equal(frozen(X), f(X))
        assert frozen.stats.recordings == 3
    finally:
        array[...] = before


def views():
    matrix = np.arange(12.0).reshape(3, 4)
    return {
        "an array": matrix.copy(),
        "a row": matrix[1],
        "a column": matrix[:, 2],
        "transposed": matrix.copy().T,
        "backwards": matrix[::-1, ::-2],
        "of Fortran order": np.asfortranarray(matrix)[1:, ::-2],
        "of other bytes": matrix.view(np.uint8)[:, ::3],
        "of dates": matrix.astype("M8[s]"),
        "without axes": matrix[1, 1, ...],
        "large": np.arange(1e5),
    }


@pytest.mark.parametrize("met", [False, True])
@pytest.mark.parametrize("name", views())
def test_a_change_of_any_entry_is_seen(name, met):
    array = views()[name]
    captured = Captures(lambda: None if met else array)
    if met:
        captured.meet([array])
    assert captured.hold()
    for index in (0, -1, array.size // 2):
        place = np.unravel_index(index % array.size, array.shape)
        before = array[place].copy()
        array[place] = array.dtype.type(77) if array.dtype.kind != "M" else np.datetime64(77, "s")
        assert not captured.hold() and captured.changed()
        array[place] = before
        assert captured.hold() and not captured.changed()


def test_arrays_that_nobody_can_write_into_are_not_compared():
    table, whole = np.ones(3), np.ones(3)
    table.flags.writeable = False
    view = np.broadcast_to(whole, (2, 3))
    assert Captures(lambda x: table @ x).listed()[-1][0] == "table"
    watched = Captures(lambda x: view @ x)
    whole[0] = 5.0
    assert not watched.hold()


def test_an_attribute_by_a_computed_name_warns_once_and_names_it():
    class Model:
        J = 2.0

    model, name = Model(), "J"
    frozen = qad.freeze(lambda x: x * getattr(model, name))
    with pytest.warns(RuntimeWarning, match=r"getattr at test_captures.py.*goes unnoticed"):
        frozen(1.0)
    frozen(np.ones(2))
    literal = qad.freeze(lambda x: x * getattr(model, "J") + getattr(model, "K", 1.0))  # noqa: B009
    assert literal(1.0) == 3.0
    Model.J = 3.0
    assert literal(1.0) == 4.0


def test_what_is_followed_is_listed():
    class Model:
        J, unused = 2.0, 3.0

    model, h = Model(), np.ones(2)
    frozen = qad.freeze(lambda x: h * x * model.J)
    text = str(frozen)
    assert "model.J = 2.0" in text and "contents of h" in text and "unused" not in text


def test_check_finds_what_is_not_followed():
    source, name = {"J": 1.0}, "h"

    class Model:
        pass

    model = Model()
    model.h = 1.0
    frozen = qad.freeze(lambda x: x * vars(model)[name] + source["J"])
    frozen.check(np.ones(2))
    source["J"] = 2.0
    frozen.check(np.ones(2))
    model.h = 2.0
    with pytest.raises(qad.errors.ArgumentError, match="instead of"):
        frozen.check(np.ones(2))
