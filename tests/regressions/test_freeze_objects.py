"""What Python reads of captured objects without naming it in the code: matches, texts, views, classes, layouts."""

import dataclasses
import weakref
from collections import OrderedDict
from collections.abc import Mapping
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import qad

X = np.array([1.0, 2.0, 3.0])


class Held:
    __match_args__ = ("n",)
    n, k = 2.0, 5.0

    def m(self):
        return 2.0


class Other:
    n = 2.0

    def m(self):
        return 5.0


class Texts(Held):
    def __str__(self):
        return str(self.n)


class Shown(Held):
    def __repr__(self):
        return str(self.n)


class Formatted(Held):
    def __format__(self, spec):
        return str(self.n)


class MetaText(type):
    def __str__(cls):
        return str(cls.n)


class Error(ValueError):
    pass


class Entries(Mapping):
    def __init__(self):
        self.k = 2.0

    def __getitem__(self, key):
        return self.k

    def __iter__(self):
        return iter(["a"])

    def __len__(self):
        return 1


class Answering(ModuleType):
    def __getattribute__(self, name):
        return 5.0 if name == "n" else super().__getattribute__(name)


@dataclasses.dataclass
class Data:
    n: float


def by_keyword(x, o):
    match o:
        case Held(n=v) | SimpleNamespace(n=v):
            return x * v


def by_position(x, o):
    match o:
        case Held(v) | Data(v):
            return x * v


def by_key(x, o):
    match o:
        case {"a": v, **_rest}:
            return x * v


def nested(x, o):
    match o:
        case [Held(n=Held(n=v))]:
            return x * v


def _dtype(array):
    return lambda: setattr(array, "dtype", np.int64)


def _view(make, read):
    """A function of a view of a mapping, and what changes the mapping."""
    mapping = make(a=2.0)
    view = read(mapping)
    return (lambda x: x * sum(map(len, map(str, view)))), lambda: mapping.update(a=50.0, bc=1.0)


def matches():
    held, data, space = Held(), Data(2.0), SimpleNamespace(n=2.0)
    entries, inner = Entries(), Held()
    inner.n = Held()
    return {
        "match by keyword": (lambda x: by_keyword(x, held), lambda: setattr(held, "n", 5.0)),
        "match of a namespace": (lambda x: by_keyword(x, space), lambda: setattr(space, "n", 5.0)),
        "match by position": (lambda x: by_position(x, held), lambda: setattr(held, "n", 5.0)),
        "match of a dataclass": (lambda x: by_position(x, data), lambda: setattr(data, "n", 5.0)),
        "match of other places": (
            lambda x: by_position(x, held),
            lambda: setattr(Held, "__match_args__", ("k",)),
        ),
        "match by key": (lambda x: by_key(x, entries), lambda: setattr(entries, "k", 5.0)),
        "match of a match": (lambda x: nested(x, [inner]), lambda: setattr(inner.n, "n", 5.0)),
    }


def texts():
    """Functions of the texts of an object, each with an object of its own."""
    template, percent, named = "{0.n}", "%s", "n"
    reads = {
        "f-string": (Texts, lambda p: lambda x: x * float(f"{p}")),
        "f-string of repr": (Shown, lambda p: lambda x: x * float(f"{p!r}")),
        "f-string of a format": (Formatted, lambda p: lambda x: x * float(f"{p:.3f}")),
        "str": (Texts, lambda p: lambda x: x * float(str(p))),
        "repr as str": (Shown, lambda p: lambda x: x * float(str(p))),
        "repr": (Shown, lambda p: lambda x: x * float(repr(p))),
        "percent": (Texts, lambda p: lambda x: x * float("%s" % p)),  # noqa: UP031
        "a captured percent": (Texts, lambda p: lambda x: x * float(percent % p)),
        "format": (Texts, lambda p: lambda x: x * float(format(p))),
        "text of a list": (Shown, lambda p: lambda x: x * float(str([p])[1:-1])),
        "map": (Texts, lambda p: lambda x: x * float("".join(map(str, [p])))),
        "attribute in a format": (Held, lambda p: lambda x: x * float("{0.n}".format(p))),  # noqa: UP030, UP032
        "attribute in a captured format": (Held, lambda p: lambda x: x * float(template.format(p))),
        "attribute by a captured name": (Held, lambda p: lambda x: x * getattr(p, named)),
    }
    found = {}
    for name, (kind, make) in reads.items():
        p = kind()
        found[name] = make(p), lambda p=p: setattr(p, "n", 5.0)
    of_meta = MetaText("OfMeta", (), {"n": 2.0})
    found["text of a class"] = lambda x: x * float(str(of_meta)), lambda: setattr(of_meta, "n", 5.0)
    return found


def views():
    listed, default = {"a": 2.0}, {"a": 2.0}

    def of_default(x, values=default.values()):  # noqa: B008 - which is the case
        return x * sum(values)

    in_a_list = [listed.values()]
    return {
        "values": _view(dict, dict.values),
        "items": _view(dict, dict.items),
        "keys": _view(dict, dict.keys),
        "ordered": _view(OrderedDict, OrderedDict.values),
        "view in a list": (lambda x: x * sum(in_a_list[0]), lambda: listed.update(a=5.0)),
        "view as a default": (of_default, lambda: default.update(a=5.0)),
    }


def classes():
    """What an object is made of, where that can be set."""
    swapped, raised, own, seeds, pointed = Held(), ValueError(2.0), Error("2.0"), np.random.SeedSequence(3), Held()
    base, called = type("Base", (Held,), {}), type("Called", (), {"__call__": lambda self: 2.0})
    child, call, weak = type("Child", (base,), {})(), called(), weakref.ref(pointed)
    module = ModuleType("module_of_a_test")
    module.n = 2.0
    cell = (lambda: child).__closure__[0]
    return {
        "class of a module": (lambda x: x * module.n, lambda: setattr(module, "__class__", Answering)),
        "name of a class": (lambda x: x * len(base.__name__), lambda: setattr(base, "__name__", "B")),
        "name of a function": (lambda x: x * len(by_key.__name__), lambda: setattr(by_key, "__name__", "B")),
        "class of an object": (lambda x: x * swapped.m(), lambda: setattr(swapped, "__class__", Other)),
        "class of what is pointed at": (lambda x: x * weak().m(), lambda: setattr(pointed, "__class__", Other)),
        "bases": (lambda x: x * child.m(), lambda: setattr(type(child), "__bases__", (Other,))),
        "special method": (lambda x: x * call(), lambda: setattr(called, "__call__", lambda self: 5.0)),
        "exception": (lambda x: x * raised.args[0], lambda: setattr(raised, "args", (5.0,))),
        "text of an exception": (lambda x: x * float(str(own)), lambda: setattr(own, "args", ("5.0",))),
        "seeds that are spawned": (lambda x: x * (seeds.n_children_spawned + 1), lambda: seeds.spawn(1)),
        "cell": (lambda x: x * cell.cell_contents.m(), lambda: setattr(cell, "cell_contents", Other())),
    }


def layouts():
    small, large, whole, two = np.array([2.0, 3.0, 4.0]), np.full(100_000, 2.0), np.ones(4), np.arange(4.0)
    view, strided = whole[:], np.zeros((2, 4))[:, :2]
    return {
        "dtype": (lambda x: x * (small + 0), _dtype(small)),
        "dtype of a large array": (lambda x: x * (large[:3] + 0), _dtype(large)),
        "dtype of a view": (lambda x: x * (view[0] + whole[1]), _dtype(view)),
        "shape": (lambda x: x * two.ndim, lambda: setattr(two, "shape", (2, 2))),
        "strides": (lambda x: x * strided.strides[0], lambda: setattr(strided, "strides", strided.strides[::-1])),
    }


MAKERS = (matches, texts, views, classes, layouts)


@pytest.mark.filterwarnings("ignore:Setting the :DeprecationWarning")
@pytest.mark.parametrize("make, name", [(make, name) for make in MAKERS for name in make()])
def test_what_is_read_without_a_name_is_compared(make, name):
    """The program went on with what the object had been."""
    f, change = make()[name]
    frozen = qad.freeze(f)
    for _ in range(2):
        np.testing.assert_array_equal(frozen(X), f(X))
    assert frozen.stats.recordings == 1
    before = f(X)
    try:
        change()
        assert not np.array_equal(f(X), before)
        np.testing.assert_array_equal(frozen(X), f(X))
    finally:
        Held.__match_args__ = ("n",)


class _Hundredfold(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return getattr(ufunc, method)(*[np.asarray(x) for x in inputs], **kwargs) * 100.0


class _Adding(np.ndarray):
    __array_priority__ = 100

    def __rmul__(self, other):
        return np.asarray(other) + np.asarray(self)


class _Named(np.ndarray):
    name = "harmless"


@pytest.mark.parametrize("kind", [_Hundredfold, _Adding])
def test_arrays_with_arithmetic_of_their_own_are_refused(kind):
    w = np.full(2, 5.0).view(kind)
    with pytest.raises(qad.QadError, match="arithmetic of its own"):
        qad.freeze(lambda y: y * w)(np.ones(2))
    frozen = qad.freeze(lambda y: y * np.asarray(w))
    for _ in range(2):
        np.testing.assert_array_equal(frozen(np.ones(2)), 5.0)


def test_other_classes_of_arrays_are_followed():
    w = np.full(2, 5.0).view(_Named)
    frozen = qad.freeze(lambda y: y * w)
    for _ in range(2):
        np.testing.assert_array_equal(frozen(np.ones(2)), 5.0)
