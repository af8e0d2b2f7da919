"""What the transforms take, give and refuse: numbers out of Tensors, trees, memory, pickles."""

import copy
import pickle
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

import qad
from qad.core.errors import BatchError, GradientTypeError, RecordedTensorError
from qad.core.trees import flatten, unflatten
from tests.cases import normal

OUT = {
    "item": lambda x: x.item(),
    "item at an index": lambda x: x.reshape(1).item(0),
    "tolist": lambda x: x.tolist(),
    "tolist of a vector": lambda x: x.reshape(1).tolist()[0],
    "float": float,
    "complex": complex,
    "array": np.asarray,
}


@pytest.mark.parametrize("name", OUT)
def test_a_way_out_that_loses_the_gradient_is_refused(name):
    f = OUT[name]
    for transform in (qad.grad, lambda f: lambda x: qad.jvp(f, (x,), (1.0,)), qad.hessian, qad.jacobian):
        with pytest.raises(RecordedTensorError, match=r"x\.numpy\(\).*qad\.stop_gradient\(x\)"):
            transform(lambda x: x * f(x))(2.0)
    with pytest.raises(RecordedTensorError, match=r"x\.detach\(\)"):
        f(qad.tensor(2.0, requires_grad=True))
    with pytest.raises(BatchError, match="keep it a Tensor"):
        qad.vmap(f)(np.ones(3))
    assert f(qad.tensor(2.0)) == 2.0
    with qad.no_grad():
        assert f(2.0 * qad.tensor(1.0, requires_grad=True)) == 2.0


def test_ways_out_on_purpose_have_no_derivative():
    for out in (lambda x: x.detach().item(), lambda x: float(x.detach()), lambda x: x.numpy(), qad.stop_gradient):
        assert qad.grad(lambda x, out=out: x * out(x))(3.0) == 3.0


def test_steps_branches_and_text_are_no_losses_of_a_gradient():
    assert qad.grad(lambda x: x * int(x) if x > 0 else 0 * x)(2.5) == 2.0
    assert qad.grad(lambda x: x * len(f"{x:.1f} {x}"))(2.5) == len(f"{2.5:.1f} {2.5}")
    assert qad.grad(lambda x: sum([x for _ in range(int(x))], 0 * x))(3.0) == 3.0


# -- trees ---------------------------------------------------------------------------------------------------------


@dataclass
class Layer:
    """Parameters of a layer."""

    weights: np.ndarray
    bias: np.ndarray


Pair = namedtuple("Pair", "left right")


def layer(kind=float):
    return Layer(normal(2, 3, kind), normal(2, seed=1))


def outputs(p, x):
    """A dict of a vector and a number."""
    y = np.tanh(p.weights @ x + p.bias)
    return {"y": y, "norm": [np.sum(qad.abs2(y))]}


TREES = {
    "a dict": ({"a": normal(3), "b": normal(2, 2)}, lambda p: np.outer(np.sin(p["a"]), p["b"]) * p["b"][0, 0]),
    "a list": ([normal(3), np.array(0.4)], lambda p: p[0] * np.exp(p[1])),
    "a tuple": ((normal(3), normal(3, seed=1)), lambda p: p[0] * p[1]),
    "a dataclass": (layer(), lambda p: p.weights @ np.ones(3) * p.bias),
    "a named tuple": (Pair(normal(2), normal(3)), lambda p: np.outer(p.left, p.right)),
    "a tree of trees": ({"layers": [layer(), layer()]}, lambda p: p["layers"][0].weights @ p["layers"][1].weights.T),
    "a number": ({"t": 0.3}, lambda p: qad.array([np.cos(p["t"]), np.sin(p["t"])])),
}


def leaves_of(tree):
    return [np.asarray(x) for x in flatten(tree)[0]]


def moved(point, i, k, step):
    """The tree `point` with entry `k` of its leaf number `i` changed by `step`."""
    leaves, spec = flatten(point)
    leaf = np.array(leaves[i], dtype=np.result_type(leaves[i], type(step)))
    leaf.reshape(-1)[k] += step
    changed = [leaf if j == i else x for j, x in enumerate(leaves)]
    return unflatten(spec, changed)


def slope(f, point, i, k, direction=1.0):
    """The five-point difference of every leaf of ``f(point)``."""
    h = 1e-3
    at = {m: leaves_of(f(moved(point, i, k, m * h * direction))) for m in (-2, -1, 1, 2)}
    return [(a - 8 * b + 8 * c - d) / (12 * h) for a, b, c, d in zip(at[-2], at[-1], at[1], at[2], strict=True)]


def check_against_differences(jacobian, f, point):
    """Each block of a Jacobian, a tree of trees, against differences."""
    outer, inner = leaves_of(f(point)), leaves_of(point)
    blocks = leaves_of(jacobian)
    assert [b.shape for b in blocks] == [y.shape + x.shape for y in outer for x in inner]
    for i, x in enumerate(inner):
        for k in range(x.size):
            for j, d in enumerate(slope(f, point, i, k)):
                found = blocks[j * len(inner) + i].reshape(*d.shape, -1)[..., k]
                np.testing.assert_allclose(found, d, atol=1e-9)


@pytest.mark.parametrize("name", TREES)
def test_the_jacobian_of_a_tree_is_a_tree(name):
    point, f = TREES[name]
    jacobian = qad.jacobian(f)(point)
    assert type(jacobian) is type(point)
    check_against_differences(jacobian, f, point)
    tall = qad.jacobian(lambda p: np.concatenate([np.reshape(f(p), -1)] * 40))(point)  # by tangents
    check_against_differences(tall, lambda p: np.concatenate([np.reshape(f(p), -1)] * 40), point)


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("copies", [1, 40])
def test_the_jacobian_of_trees_of_outputs_is_a_tree_of_trees(name, copies):
    point, f = TREES[name]

    def both(p):
        return {"many": [np.concatenate([np.reshape(f(p), -1)] * copies)], "one": np.sum(f(p)) ** 2}

    jacobian = qad.jacobian(both)(point)
    assert set(jacobian) == {"many", "one"}
    assert type(jacobian["many"][0]) is type(jacobian["one"]) is type(point)
    check_against_differences(jacobian, both, point)


def test_the_jacobian_by_several_trees():
    p, x = layer(), normal(3)
    value, jacobian = qad.value_and_jacobian(outputs, (0, 1))(p, x)
    np.testing.assert_array_equal(value["y"], outputs(p, x)["y"])
    assert type(jacobian["norm"][0]) is tuple
    assert type(jacobian["norm"][0][0]) is Layer
    np.testing.assert_allclose(jacobian["y"][1], qad.jacobian(lambda x: outputs(p, x)["y"])(x))
    np.testing.assert_allclose(
        jacobian["y"][0].weights, qad.jacobian(lambda w: outputs(Layer(w, p.bias), x)["y"])(p.weights)
    )
    last = qad.jacobian(outputs, -1)(p, x)
    np.testing.assert_allclose(last["y"], jacobian["y"][1])


@pytest.mark.parametrize("copies", [1, 30])
def test_wirtinger_derivatives_of_trees(copies):
    point = {"z": normal(2, complex), "w": [normal(3, complex)]}

    def f(p):
        y = np.outer(p["z"], np.conj(p["w"][0])) * p["z"][0]
        return {"y": np.concatenate([y.reshape(-1)] * copies), "r": [np.sum(qad.abs2(y))]}

    dz, dzbar = qad.wirtinger(f)(point)
    assert dz["y"]["w"][0].shape == (6 * copies, 3)
    for i, x in enumerate(leaves_of(point)):
        for k in range(x.size):
            along, across = slope(f, point, i, k), slope(f, point, i, k, 1j)
            for j, (a, b) in enumerate(zip(along, across, strict=True)):
                found = [leaves_of(tree)[2 * j + i].reshape(*a.shape, -1)[..., k] for tree in (dz, dzbar)]
                np.testing.assert_allclose(found[0], (a - 1j * b) / 2, atol=1e-8)
                np.testing.assert_allclose(found[1], (a + 1j * b) / 2, atol=1e-8)
    by_one, by_other = qad.wirtinger(lambda z, p: f({"z": z, "w": p})["y"], (0, 1))(point["z"], point["w"])
    np.testing.assert_allclose(by_one[1], dzbar["y"]["z"])
    np.testing.assert_allclose(by_other[1][0], dzbar["y"]["w"][0])
    with pytest.raises(GradientTypeError, match="qad.jacobian"):
        qad.wirtinger(lambda p: p["z"] * p["x"])({"z": point["z"], "x": normal(2)})


@pytest.mark.parametrize("name", TREES)
def test_the_hessian_of_a_tree_is_a_tree_of_trees(name):
    point, f = TREES[name]

    def loss(p):
        return np.sum(np.cosh(f(p)) * np.sum(f(p)))

    hessian = qad.hessian(loss)(point)
    assert type(hessian) is type(point)
    check_against_differences(hessian, qad.grad(loss), point)
    several = qad.hessian(lambda p, x: loss(p) * np.sum(x**2), (0, 1))(point, np.ones(2))
    np.testing.assert_allclose(leaves_of(several[0])[0], 2 * leaves_of(hessian)[0])
    gradient = leaves_of(qad.grad(loss)(point))[0]
    np.testing.assert_allclose(leaves_of(several[1][0])[0], 2 * np.broadcast_to(gradient, (2, *gradient.shape)))


def complex_loss(p):
    return np.sum(qad.abs2(p["z"] ** 2 * p["x"] + p["w"][0].conj())) + np.sum((p["w"][0] * p["x"] ** 3).real)


def test_the_hessian_of_a_complex_tree():
    point = {"z": normal(2, complex), "w": [normal(2, complex, seed=1)], "x": normal(2, seed=2)}
    h = qad.hessian(complex_loss)(point)
    v = {"z": normal(2, complex, seed=3), "w": [normal(2, complex, seed=4)], "x": normal(2, seed=5)}
    product = qad.hvp(complex_loss, (point,), (v,))[0]
    for a, x in zip(leaves_of(product), (("w",), ("x",), ("z",)), strict=True):
        row, conj = (leaves_of(tree[x[0]]) for tree in (h.zz, h.zzbar))
        expected = sum(2 * np.conj(zz @ t + zb @ t.conj()) for zz, zb, t in zip(row, conj, leaves_of(v), strict=True))
        np.testing.assert_allclose(a, expected, atol=1e-12)
    np.testing.assert_allclose(h.zz["z"]["w"][0], h.zz["w"][0]["z"].T)
    np.testing.assert_allclose(h.zzbar["z"]["x"], h.zzbar["x"]["z"].conj().T)
    assert h.real.shape == (12, 12)
    np.testing.assert_allclose(h.real, h.real.T, atol=1e-12)
    alone = qad.hessian(lambda z: complex_loss({**point, "z": z}))(point["z"])
    np.testing.assert_allclose(h.zzbar["z"]["z"], alone.zzbar)
    np.testing.assert_allclose(alone.real[:2, :2], h.real[4:6, 4:6])


def test_hessians_of_trees_nest():
    point = {"a": normal(2), "b": np.array(0.5)}
    third = qad.jacobian(qad.hessian(lambda p: np.sum(np.sin(p["a"]) * p["b"] ** 2)))(point)
    np.testing.assert_allclose(third["a"]["b"]["b"], 2 * np.diag(np.cos(point["a"])) @ np.eye(2)[:, :2].sum(0) * 1.0)
    batch = {"a": normal(4, 2), "b": normal(4)}
    stacked = qad.vmap(qad.hessian(lambda p: np.sum(np.sin(p["a"]) * p["b"] ** 2)))(batch)
    assert stacked["a"]["b"].shape == (4, 2)


# -- pickles and methods -------------------------------------------------------------------------------------------


def cubes(x):
    """The sum of cubes."""
    return np.sum(x**3)


def both_ways(x):
    return np.sum(x**3), x


class Model:
    """Transforms as decorators of methods."""

    scale = 2.0

    @qad.checkpoint
    def layer(self, x):
        return np.sin(self.scale * x)

    def loss(self, x):
        return np.sum(self.layer(x) ** 2)

    slope = qad.grad(loss, argnums=1)
    curve = qad.hessian(loss, argnums=1)


MADE = {
    "grad": lambda: qad.grad(cubes),
    "grad as in jax": lambda: qad.grad(cubes, convention="jax"),
    "grad with aux": lambda: qad.grad(both_ways, has_aux=True),
    "value_and_grad": lambda: qad.value_and_grad(cubes, (0,)),
    "hessian": lambda: qad.hessian(cubes),
    "jacobian": lambda: qad.jacobian(cubes),
    "value_and_jacobian": lambda: qad.value_and_jacobian(cubes),
    "vmap": lambda: qad.vmap(cubes, in_axes=0),
    "checkpoint": lambda: qad.checkpoint(cubes),
    "nested": lambda: qad.vmap(qad.grad(qad.checkpoint(cubes))),
    "wirtinger": lambda: qad.wirtinger(cubes),
    "is_holomorphic": lambda: qad.is_holomorphic(cubes),
}


@pytest.mark.parametrize("name", MADE)
def test_what_a_transform_makes_pickles(name):
    f = MADE[name]()
    x = np.array([[1.0, 2.0], [3.0, 4.0]]) + (1j if name in ("wirtinger", "is_holomorphic") else 0)
    again = [pickle.loads(pickle.dumps(f)), copy.deepcopy(f), copy.copy(f)]
    for g in again:
        for a, b in zip(leaves_of(f(x)), leaves_of(g(x)), strict=True):
            np.testing.assert_array_equal(a, b)
        assert g.__name__ == f.__name__
    if "aux" not in name:
        assert f.__name__ == "cubes"
        assert f.__doc__ == "The sum of cubes."


def test_what_does_not_pickle_says_so():
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(qad.grad(lambda x: x))


def test_transforms_of_methods_are_methods():
    x = np.array([0.1, 0.2])
    expected = 4 * np.sin(2 * x) * np.cos(2 * x)
    np.testing.assert_allclose(Model().slope(x), expected)
    np.testing.assert_allclose(Model.slope(Model(), x), expected)
    np.testing.assert_allclose(qad.grad(Model().loss)(x), expected)
    np.testing.assert_allclose(Model().curve(x), np.diag(8 * np.cos(4 * x)))
