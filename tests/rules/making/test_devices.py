"""`qad.to_device`: the host for real, the other side by a stand-in for CuPy that is as strict."""

import re
import sys

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from qad.installed import command
from qad.rules.making.devices import moved
from tests.cases import Case, normal
from tests.strict_array import StrictArray, fake_cupy, home


def test_derivatives():
    Case(lambda x: np.sin(moved(x, device="cpu")), normal(2, 3, complex)).check()


@pytest.fixture
def cupy(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy())


def loss(x):
    there = qad.to_device(x, "cuda")
    return np.sum(np.sin(there) * qad.to_device(np.arange(3.0), "cuda"))


X = np.array([0.1, 0.2, 0.3])


def test_trees_move_and_what_is_no_array_stays(cupy):
    psi = qad.mps.MPS.random(4, 3, seed=0)
    tree = {"x": X, "of": [np.arange(3), 2.0, None, "name"], "psi": psi}
    there = qad.to_device(tree, "cuda")
    assert type(there["x"]) is type(there["of"][0]) is StrictArray and there["of"][1:] == [2.0, None, "name"]
    assert all(type(site) is StrictArray for site in there["psi"].tensors)
    assert qad.to_device(there, "cuda:0")["x"] is there["x"]  # where it is already
    back = qad.to_device(there, "cpu")
    np.testing.assert_array_equal(back["x"], X)
    np.testing.assert_array_equal(back["psi"].to_dense(), psi.to_dense())


def test_on_the_host_nothing_moves():
    x = qad.tensor(X)
    assert qad.to_device(X, "cpu") is X and qad.to_device([x], "cpu")[0] is x
    np.testing.assert_array_equal(qad.grad(lambda x: np.sum(qad.to_device(x, "cpu") ** 2))(X), 2 * X)
    assert qad.vmap(lambda x: qad.to_device(x, "cpu"))(X[None]).shape == (1, 3)


def test_gradients_come_back_where_the_argument_was(cupy):
    gradient = qad.grad(loss)(X)
    assert type(gradient) is np.ndarray
    np.testing.assert_allclose(gradient, np.cos(X) * np.arange(3))
    value, slope = qad.jvp(loss, (X,), (np.ones(3),))
    assert type(value) is type(slope) is StrictArray
    np.testing.assert_allclose(home(slope), np.sum(np.cos(X) * np.arange(3)))
    np.testing.assert_allclose(qad.hvp(loss, (X,), (X,))[0], -np.sin(X) * np.arange(3) * X)
    np.testing.assert_allclose(qad.vmap(qad.grad(loss))(np.stack([X, 2 * X]))[1], np.cos(2 * X) * np.arange(3))
    there = qad.grad(lambda x: np.sum(np.sin(qad.to_device(x, "cpu"))))(StrictArray(X.copy()))
    assert type(there) is StrictArray
    np.testing.assert_allclose(home(there), np.cos(X))


def test_the_method_of_a_tensor_is_the_same(cupy):
    x = qad.tensor(X, requires_grad=True)
    np.sum(x.to_device("cuda") ** 2).backward()
    np.testing.assert_array_equal(x.grad, 2 * X)


def test_a_frozen_function_that_moves_is_refused(cupy):
    with pytest.raises(ArgumentError, match=r"qad\.freeze: moved returned StrictArray.*qad\.extend\.primitive"):
        qad.freeze(qad.grad(loss))(X)
    on_the_host = qad.freeze(qad.grad(lambda x: np.sum(qad.to_device(x, "cpu") ** 2)))
    for x in (X, X, 3 * X):
        np.testing.assert_allclose(on_the_host(x), 2 * x)


def test_what_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)  # importing it fails
    with pytest.raises(ImportError, match=re.escape(command("cuda"))):
        qad.to_device(X, "cuda")
    for device in ("gpu", "cuda:x", 0, None):
        with pytest.raises(ArgumentError, match="the devices are"):
            qad.to_device(X, device)
