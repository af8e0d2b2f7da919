"""Containers of one's own, steps of parameters, and what can be pickled and copied."""

import copy
import pickle
from collections import OrderedDict, namedtuple
from dataclasses import dataclass, field

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, GradientTypeError, RecordedTensorError


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
