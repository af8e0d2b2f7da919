"""Containers of one's own, steps of parameters, and what can be pickled and copied."""

import copy
import pickle
from collections import OrderedDict, namedtuple
from dataclasses import InitVar, dataclass, field

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, GradientTypeError, LeakedTensorError, RecordedTensorError


@dataclass
class Gate:
    angle: np.ndarray
    name: str = field(default="", metadata={"static": True})


class Model:
    def __init__(self, weights, gates, mask):
        self.weights, self.gates, self.mask = weights, gates, mask

    def __call__(self, x):
        return np.sum(np.cos(self.weights * self.mask) @ x) + sum(np.sum(gate.angle**2) for gate in self.gates)


class Slotted:
    __slots__ = ("a", "kind")

    def __init__(self, a):
        self.a, self.kind = a, "slotted"


qad.register_container(Model, "weights", "gates")
qad.register_container(Slotted, "a")
Pair = namedtuple("Pair", "a b")


def model():
    return Model(
        np.arange(4.0).reshape(2, 2), [Gate(np.array(0.5), "rx"), Gate(np.array([1 + 1j]), "u")][:1], np.eye(2)
    )


def test_objects_come_back_as_what_they_are():
    m, x = model(), np.array([1.0, 2.0])
    value, g = qad.value_and_grad(lambda m: m(x))(m)
    assert type(g) is Model
    assert type(g.gates[0]) is Gate
    assert g.gates[0].name == "rx"
    assert g.mask is m.mask
    np.testing.assert_allclose(g.weights, -np.sin(m.weights * m.mask) * m.mask * x)
    np.testing.assert_allclose(qad.hvp(lambda m: m(x), (m,), (g,))[0].gates[0].angle, 2.0)
    better = qad.apply_updates(m, qad.tree_map(lambda d: -0.01 * d, g))
    assert better(x) < value == m(x)
    s = Slotted(np.ones(2))
    g = qad.grad(lambda s: np.sum(s.a**2))(s)
    assert (g.kind, g.a.tolist()) == ("slotted", [2, 2])


@pytest.mark.parametrize(
    "tree",
    [
        {"a": 1.0, "b": [np.ones(2), (np.ones((2, 2)), 2.0)]},
        OrderedDict(z=np.ones(2), a=np.ones(3)),
        Pair(np.ones(2), {"x": 1.0}),
        [Gate(np.ones(2), "n"), None, Gate(np.ones(1), "m")],
    ],
)
def test_gradients_have_the_shape_of_their_arguments(tree):
    def f(tree):
        return sum(np.sum(x**2) for x in qad.core.trees.flatten(tree)[0])

    g = qad.grad(f)(tree)
    (leaves, spec), (grads, same) = qad.core.trees.flatten(tree), qad.core.trees.flatten(g)
    assert spec == same
    for x, d in zip(leaves, grads, strict=True):
        np.testing.assert_array_equal(d, 2 * np.asarray(x))


def test_registration_says_what_is_wrong():
    with pytest.raises(ArgumentError, match=r'register_container\(Layer, "weights"'):
        qad.register_container(Model)
    with pytest.raises(ArgumentError, match="register it once"):
        qad.register_container(Model, "weights")


def test_updates():
    params = {"a": np.ones(2, np.float32), "b": [np.array(1j)], "c": 2.0}
    new = qad.apply_updates(params, {"a": np.full(2, 0.5), "b": [np.array(1.0)], "c": 1})
    assert new["a"].dtype == np.float32
    assert (new["a"].tolist(), complex(new["b"][0]), new["c"]) == ([1.5, 1.5], 1 + 1j, 3.0)
    assert params["a"].tolist() == [1, 1]
    with pytest.raises(GradientTypeError, match=r"update\.real"):
        qad.apply_updates({"a": 1.0}, {"a": 1j})
    with pytest.raises(ArgumentError, match="different structure"):
        qad.apply_updates([1.0], (1.0,))
    np.testing.assert_array_equal(qad.grad(lambda p: qad.apply_updates(p, [2.0])[0] ** 2)([3.0])[0], 10)


# -- what is no field ----------------------------------------------------------------------------------------------

X = np.array([0.3, 0.7, 1.1])


@dataclass
class Params:
    w: np.ndarray
    scale = 1.0  # without annotation, so that it is no field


@dataclass(frozen=True)
class Fixed:
    w: np.ndarray
    scale = 1.0


@dataclass
class Computed:
    w: np.ndarray
    label: str = field(default="c", metadata={"static": True})
    later: np.ndarray = field(init=False)
    factor: InitVar[float] = 2.0

    def __post_init__(self, factor):
        self.scale = factor * self.w.shape[0]


@dataclass(slots=True)
class InSlots:
    w: np.ndarray


class SlotMore(InSlots):
    __slots__ = ("scale",)


class Registered:
    def __init__(self, w):
        self.w = w


qad.register_container(Registered, "w")


def more(cls, *args):
    made = cls(*args)
    object.__setattr__(made, "scale", 5.0)
    return made


OBJECTS = {
    "dataclass": lambda: more(Params, X),
    "frozen": lambda: more(Fixed, X),
    "post init": lambda: Computed(X),
    "slots": lambda: more(SlotMore, X),
    "registered": lambda: more(Registered, X),
}


@pytest.mark.parametrize("case", OBJECTS)
def test_what_is_no_field_comes_along(case):
    p = OBJECTS[case]()

    def f(p):
        return p.scale * np.sum(p.w**2)

    value, slope = f(p), 2 * f(p) / np.sum(X**2) * X
    found, g = qad.value_and_grad(f)(p)
    np.testing.assert_allclose([found, *g.w], [value, *slope])
    assert type(g) is type(p)
    assert g.scale == p.scale
    primal, tangent = qad.jvp(f, (p,), (g,))
    np.testing.assert_allclose([primal, tangent], [value, slope @ slope])
    np.testing.assert_allclose(qad.hvp(f, (p,), (g,))[0].w, slope / X * slope)
    assert qad.tree_map(lambda x: 2 * x, p).scale == p.scale
    np.testing.assert_allclose(qad.vmap(lambda p: p.scale * p.w)(p), p.scale * X)


def test_fields_that_are_not_set_yet():
    c = Computed(X)
    assert not hasattr(qad.grad(lambda c: np.sum(c.w))(c), "later")
    c.later = X
    g = qad.grad(lambda c: np.sum(c.w * c.later))(c)
    np.testing.assert_array_equal([g.w, g.later], [X, X])
    assert g.label == "c"


def test_a_path_names_fields_and_entries():
    with pytest.raises(GradientTypeError, match=r"\.b has type int"):
        qad.grad(lambda p: np.sum(p.a))(Pair(X, 1))
    c = Computed(X)
    c.later = 1
    with pytest.raises(GradientTypeError, match=r"\.later has type int"):
        qad.grad(lambda c: np.sum(c.w))(c)


@pytest.mark.parametrize("cls", [Params, Registered])
def test_trees_of_one_structure_may_hold_different_things(cls):
    p, q = more(cls, X), more(cls, X)
    q.scale = 1.0
    assert qad.tree_map(np.add, p, q).scale == 5.0
    assert qad.tree_map(np.add, q, p).scale == 1.0
    np.testing.assert_allclose(qad.jvp(lambda p: p.scale * np.sum(p.w), (p,), (q,))[1], 5 * np.sum(X))


def test_static_fields_are_compared():
    p, q = Computed(X), Computed(X)
    q.label = "other"
    with pytest.raises(ArgumentError, match="different structure.*'c'.*'other'"):
        qad.tree_map(np.add, p, q)
    p.label, q.label = np.eye(2), np.eye(2)
    np.testing.assert_array_equal(qad.tree_map(np.add, p, q).w, 2 * X)


def test_what_is_computed_stands_in_fields():
    """An attribute that is no field is not handed out by a transform."""

    def f(w):
        made = Params(2 * w)
        made.norm = np.sum(w**2)
        return made

    made, slope = qad.jvp(f, (X,), (X,))
    np.testing.assert_array_equal([made.w, slope.w], [2 * X, 2 * X])
    with pytest.raises(LeakedTensorError, match="attribute"):
        made.norm + 1.0


# -- copies and pickles --------------------------------------------------------------------------------------------


COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    **{f"pickle {n}": (lambda x, n=n: pickle.loads(pickle.dumps(x, n))) for n in (2, pickle.HIGHEST_PROTOCOL)},
}


@pytest.mark.parametrize("way", COPIES)
def test_values_are_copied_and_pickled(way):
    duplicate = COPIES[way]
    constant = duplicate(qad.tensor([1 + 1j]))
    assert not constant.requires_grad
    constant[0] = 2
    np.testing.assert_array_equal(constant.numpy(), 2)
    x = qad.tensor([1.0, 2.0], requires_grad=True)
    other = duplicate(x)
    (other * other).sum().backward()
    np.testing.assert_array_equal(other.grad, [2, 4])
    assert x.grad is None
    b = qad.zeros(2)
    same = duplicate(b)
    same[0] = 1.0
    assert b.tolist() == [0, 0]
    for recorded in (x * 2, [x * 2]):
        if way != "copy" or type(recorded) is not list:
            with pytest.raises(RecordedTensorError, match=r"x\.numpy\(\).*x\.detach\(\)"):
                duplicate(recorded)


@pytest.mark.parametrize("way", COPIES)
def test_chains_and_plans(way):
    psi, h = qad.mps.MPS.random(n=4, bond=2, seed=0), qad.mps.heisenberg(4)
    other, operator = COPIES[way](psi), COPIES[way](h)
    assert type(other) is qad.mps.MPS
    assert qad.mps.energy(other, operator) == qad.mps.energy(psi, h)
    plan = qad.plan("ij,jk,ki->", (2, 3), (3, 4), (4, 2))
    same = COPIES[way](plan)
    arrays = [np.ones(shape) for shape in plan.shapes]
    assert same == plan
    assert same(*arrays) == plan(*arrays) == 24
    with pytest.raises(AttributeError):
        same.path = ()


def test_html_shows_what_it_is():
    html = (qad.tensor([[1.0, 2.0]], requires_grad=True) * 2)._repr_html_()
    assert "op=multiply" in html
    assert "shape (1, 2), float64" in html
    assert "[[2., 4.]]" in html
