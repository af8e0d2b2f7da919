"""Angles of every real type, coefficients in frozen programs, batches of no examples, gates of callable objects."""

import pickle
from functools import partial

import numpy as np
import pytest

import qad
from qad.circuit.gates.table import GATES
from tests.circuit.dense import needs_compiler

ENGINES = ["numpy", pytest.param("compiled", marks=needs_compiler)]
H = qad.PauliSum({"ZZ": 1.0, "XY": 0.3, "YI": 0.2})


def written(angles, engine, dtype=complex):
    return qad.Circuit(2, dtype=dtype, engine=engine).ry(angles[:2], range(2)).crx(angles[2], 0, 1).rzz(angles[3], 0, 1)


def energy(angles, engine, dtype=complex):
    return written(angles, engine, dtype).expectation(H)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.float16, np.float32, np.longdouble, ">f8"])
def test_angles_of_every_real_type(kind, engine):
    angles = np.array([1, 2, 3, 1], kind)
    same = angles.astype(float)
    assert energy(angles, engine) == energy(same, engine)
    np.testing.assert_array_equal(written(angles, engine).state(), written(same, engine).state())
    assert written(same, engine).with_parameters(angles).expectation(H) == energy(same, engine)
    assert qad.Circuit(1, engine=engine).rx(1, 0).expectation("Z") == pytest.approx(np.cos(1.0), abs=1e-15)
    if np.dtype(kind).kind == "f":
        slope = qad.grad(energy)(angles, engine)
        assert slope.dtype == angles.dtype
        np.testing.assert_array_equal(slope, qad.grad(energy)(same, engine).astype(kind))


@pytest.mark.parametrize("engine", ENGINES)
def test_angles_of_single_precision_under_transforms(engine):
    angles, f = np.array([0.5, 0.25, -1.5, 2.0]), partial(energy, engine=engine)
    for transform in (qad.grad, qad.hessian, lambda f: qad.freeze(qad.grad(f))):
        found = transform(f)(angles.astype(np.float32))
        np.testing.assert_allclose(found, transform(f)(angles), rtol=0, atol=1e-6)
    rows = np.stack([angles, 2 * angles])
    np.testing.assert_array_equal(qad.vmap(f)(rows.astype(np.float32)), qad.vmap(f)(rows))


def test_coefficients_that_are_numbers_of_a_frozen_program():
    c = written(np.array([0.1, 0.2, 0.3, 0.4]), "auto")

    def f(x):
        return c.expectation(qad.PauliSum({"ZZ": x[0], "XY": 0.3, "YI": x[1]}))

    frozen, x = qad.freeze(f), np.array([2.0, -1.0])
    frozen(np.ones(2))
    assert frozen(x) == pytest.approx(f(x), rel=1e-15)
    np.testing.assert_array_equal(qad.freeze(qad.grad(f))(x), qad.grad(f)(x))


@pytest.mark.parametrize("dtype", [complex, np.complex64])
@pytest.mark.parametrize("engine", ENGINES)
def test_no_examples(engine, dtype):
    f, none = partial(energy, engine=engine, dtype=dtype), np.zeros((0, 4))
    for transform in (lambda f: f, qad.grad, qad.hessian, lambda f: qad.grad(lambda x: qad.jvp(f, (x,), (x,))[1])):
        g = transform(f)
        found, one = qad.vmap(g)(none), np.asarray(g(np.ones(4)))
        assert found.shape == (0, *one.shape)
        assert found.dtype == one.dtype
    assert qad.vmap(lambda x: written(x, engine, dtype).state())(none).shape == (0, 2, 2)
    with pytest.raises(qad.errors.ArgumentError, match="at least one example"):
        written(np.ones(4), engine, dtype).with_parameters(none).state()


def test_reshapes_of_no_examples_know_their_lengths():
    for shape in (-1, (1, -1), (-1, 3), (2, -1, 1)):
        found = qad.vmap(lambda x, shape=shape: x.reshape(shape))(np.zeros((0, 2, 3)))
        assert found.shape == (0, *np.zeros((2, 3)).reshape(shape).shape)


def turned(speed, theta):
    c, s = np.cos(speed * theta), np.sin(speed * theta)
    return qad.circuit.matrix([[c, -s], [s, c]])


class Turned:
    def __call__(self, theta):
        return turned(2.0, theta)


@pytest.mark.parametrize("function", [partial(turned, 2.0), Turned()], ids=["partial", "object"])
def test_gates_of_callable_objects_can_be_pickled(function, monkeypatch):
    monkeypatch.setitem(GATES, "turned", None)
    del GATES["turned"]
    qad.circuit.register_gate("turned", 1, function)
    c = qad.Circuit(1).turned(0.3, 0)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(c)).state(), c.state())
