"""Circuits whose angles are entries of one recorded array: one step of the tape, and the numbers of many."""

import numpy as np
import pytest

import qad
from qad.circuit.gates import angles_by_index, parameters
from qad.circuit.gates.table import BUILT_IN
from qad.circuit.program import builder
from qad.circuit.program.sequence import Sequence
from tests.cases import Case, normal

N = 3
H = qad.PauliSum({"ZZI": 1.0, "IXX": 0.5, "YIZ": -0.3})


def one_by_one(x):
    c = qad.Circuit(N)
    for layer in range(2):
        for q in range(N):
            c.ry(x[layer, 0, q], q).rz(x[layer][1][q], q)
        c.cx(0, 1).cx(1, 2)
    return c


def depth_one(x):
    c = qad.Circuit(N)
    for layer in range(2):
        for q in range(N):
            c.ry(x[layer, 0, q], q).rz(x[layer, 1, q], q)
    return c.cx(0, 1).rx(x[-1, -1, np.int64(-1)], 0)


def vectors(x):
    c = qad.Circuit(N)
    for layer in range(2):
        c.ry(x[layer, 0], range(N)).rz(x[layer, 1, ::-1], range(N)).cx(0, 1).ry(x[layer, ..., 0], [0, 2])
    return c


def nested(x):
    c = qad.Circuit(N)
    for row in x[:, 0]:
        for angle in row:
            c.ry(angle, 1).cx(1, 2)
    return c


def some(x):
    return qad.Circuit(N).ry(x[1, 0, 2], 0).cx(0, 1).rz(x[0, 1, 0], 1).ry(x[1, 0, 2], 1)


def mixed(x):
    return qad.Circuit(N).ry(x[1, 0], range(N)).cx(0, 1).rz(x[0, 1, 0], 1)


def others(x):
    return qad.Circuit(N).ry(x[1, 0, 2], 0).cx(0, 1).rz(2 * x[0, 1, 0], 1).ry(0.3, 2)


def by_arrays(x):
    """Indices that name entries twice, and masks."""
    c = qad.Circuit(N).ry(x[0, 1, [0, 0, 2]], range(N)).rz(x[True][0, 0, 0, 1], 0).cx(0, 1)
    return c.ry(x[np.array([1, 0]), 0, 1], [0, 2])


def by_tuples(x):
    """Tuples within an index are arrays of integers, and no slices."""
    return qad.Circuit(N).ry(x[0, 0, (0, 2)], [0, 2]).cx(0, 1).rz(x[0, 1, (0, 1)], [0, 1])


def by_slices(x):
    return qad.Circuit(N).ry(x[0, 0][0:2], [0, 2]).cx(0, 1).rz(x[0][1][1:], [0, 1]).ry(x[1][0, ::2], [1, 2])


def by_one_number(x):
    y = x.reshape(-1)
    return qad.Circuit(N).ry(y[0], 0).cx(0, 1).rz(y[-2], 1).ry(y[3:][1], 1).rx(y[np.int64(4)], 1)


FORMS = [
    one_by_one, depth_one, vectors, nested, some, mixed, others, by_arrays, by_tuples, by_slices, by_one_number,
]  # fmt: skip
ONE_STEP = {depth_one, vectors, nested, some}
X = normal(2, 2, N)


def energy(form):
    return lambda x: form(x).expectation(H)


@pytest.fixture
def steps(monkeypatch):
    """What `together` has given."""
    found = []

    def noted(pieces):
        found.append(angles_by_index.together(pieces))
        return found[-1]

    monkeypatch.setattr(parameters, "together", noted)
    return found


CASES = [
    Case(
        lambda x: angles_by_index.taken(x, places=angles_by_index.places_of(x.shape, (((0, 1),), ((1, 0),)))),
        normal(2, 3),
    )
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_entries_taken_together(case):
    case.check()


@pytest.mark.parametrize("form", FORMS, ids=lambda f: f.__name__)
def test_derivatives(form):
    Case(energy(form), X, name=form.__name__).check()


@pytest.mark.parametrize("form", FORMS, ids=lambda f: f.__name__)
def test_the_same_as_without(form, steps, monkeypatch):
    with_it = qad.value_and_grad(energy(form))(X), qad.hessian(energy(form))(X), form(X).parameters
    assert (steps[0] is not None) == (form in ONE_STEP)
    monkeypatch.setattr(parameters, "together", lambda pieces: None)
    (value, slope), curvature, angles = (
        qad.value_and_grad(energy(form))(X), qad.hessian(energy(form))(X), form(X).parameters
    )  # fmt: skip
    assert with_it[0][0] == value
    np.testing.assert_allclose(with_it[0][1], slope, atol=1e-14)
    np.testing.assert_allclose(with_it[1], curvature, atol=1e-13)
    np.testing.assert_array_equal(with_it[2], angles)


def test_frozen_and_batched():
    for form in FORMS:
        gradient = qad.grad(energy(form))
        expected = gradient(X)
        frozen = qad.freeze(gradient)
        frozen(2 * X)
        np.testing.assert_allclose(frozen(X), expected, atol=1e-14)
        np.testing.assert_allclose(qad.vmap(gradient)(np.stack([X, -X]))[0], expected, atol=1e-14)
        np.testing.assert_allclose(qad.jvp(energy(form), (X,), (X,))[1], (expected * X).sum(), atol=1e-13)


def test_angles_that_are_written_into():
    """An angle is what it was, or what a view of it is, when the circuit is asked."""

    def f(x):
        y = qad.zeros((2, N))
        y[0] = x[0, 0] * 2
        y[1] = x[1, 1]
        c = qad.Circuit(N).ry(y[0], range(N)).cx(0, 1).rz(y[1, 0], 0)
        number = y[0, 1]
        y[0, 1] = 5.0 * x[0, 1, 0]
        return c.cx(1, 2).ry(number, 2).expectation(H)

    def plain(x):
        first = qad.stack([2 * x[0, 0, 0], 5 * x[0, 1, 0], 2 * x[0, 0, 2]])
        c = qad.Circuit(N).ry(first, range(N)).cx(0, 1).rz(x[1, 1, 0] + 0, 0)
        return c.cx(1, 2).ry(2 * x[0, 0, 1], 2).expectation(H)

    (value, slope), (expected, right) = qad.value_and_grad(f)(X), qad.value_and_grad(plain)(X)
    np.testing.assert_allclose(value, expected, atol=1e-14)
    np.testing.assert_allclose(slope, right, atol=1e-14)


def test_an_argument_that_changes_under_the_circuit():
    """Numbers that were read stay."""

    def f(x):
        c = qad.Circuit(1).ry(x[0], 0).rz(x[1], 0).ry(x[2], 0)
        given[:] = 0.0
        return c.expectation("Z")

    given = np.array([0.3, 0.4, 0.5])
    expected = qad.Circuit(1).ry(0.3, 0).rz(0.4, 0).ry(0.5, 0).expectation("Z")
    np.testing.assert_allclose(qad.value_and_grad(f)(given)[0], expected, atol=1e-15)


def test_two_arrays_and_constants(steps):
    def f(x, y):
        return qad.Circuit(2).ry(x[0], 0).cx(0, 1).rz(y[0], 1).ry(x[1], 1).expectation("ZX")

    x, y = np.array([0.3, 0.5]), np.array([0.7])
    for argnums in (0, 1, (0, 1)):
        gradient, flat = qad.grad(f, argnums)(x, y), []
        for a in gradient if type(argnums) is tuple else [gradient]:
            flat.append(a)
        for k, g in zip(np.atleast_1d(argnums), flat, strict=True):
            for i in range(len(g)):
                step = [1e-6 * np.eye(len(v))[i] if j == k else 0 * v for j, v in enumerate((x, y))]
                slope = (f(x + step[0], y + step[1]) - f(x - step[0], y - step[1])) / 2e-6
                np.testing.assert_allclose(g[i], slope, atol=1e-8)
    assert not any(found is not None for found in steps)


def test_one_step_of_the_tape():
    def f(x):
        found.append(depth_one(x).parameters)
        return found[-1].sum()

    found = []
    qad.grad(f)(X)
    assert found[0].node[1] is angles_by_index.TAKEN


def test_nothing_is_recorded_where_nothing_shall_be(steps):
    def f(x):
        with qad.no_grad():
            c = some(x).parameters
        return x.sum() + np.sum(c)

    np.testing.assert_array_equal(qad.grad(f)(X), np.ones(X.shape))


def test_large_arrays_are_left_alone(steps):
    x = np.zeros(angles_by_index.LARGEST + 1)
    qad.grad(lambda x: qad.Circuit(1).ry(x[3], 0).ry(x[5], 0).expectation("Z"))(x)
    assert steps == [None]


def test_methods_of_gates_hide_nothing():
    for name in BUILT_IN:
        assert not hasattr(Sequence, name)
        assert vars(builder.Builder)[name].__name__ == name


def test_names_are_told_once():
    names = dir(qad.Circuit(1))
    assert len(set(names)) == len(names)
    assert set(BUILT_IN) < set(names)
