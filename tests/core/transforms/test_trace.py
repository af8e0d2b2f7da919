"""What is recorded: by whom, in which directions, which operations."""

from operator import getitem

import numpy as np

import qad
from qad.extend.recording import directions, operations, recording_level

X = np.array([0.5, 1.0])


def found(transform, *more):
    """What `directions` says of the argument of a function inside of a transform."""
    seen = []

    def f(x):
        seen.append(directions(x))
        return np.sum(np.sin(x) * x)

    transform(f)(X, *more)
    return seen[0]


def test_directions_from_the_inside_out():
    assert directions(X) == directions(qad.tensor(X)) == []
    assert directions(qad.tensor(X, requires_grad=True)) == ["backward"]
    assert found(qad.grad) == ["backward"]
    assert found(lambda f: lambda x: qad.jvp(f, (x,), (x,))) == ["forward"]
    assert found(lambda f: lambda x: qad.hvp(f, (x,), (x,))) == ["backward", "forward"]
    assert found(lambda f: qad.vmap(qad.grad(f))) == ["backward"]
    assert found(lambda f: qad.grad(lambda x: np.sum(qad.grad(f)(x)))) == ["backward", "backward"]


def test_directions_of_a_factor_are_those_of_its_matrix():
    seen = []

    def f(a):
        w, v = np.linalg.eigh(a)
        seen.append(directions(v))
        return np.trace((v * np.exp(w)) @ v.T)

    qad.grad(f)(np.eye(2))
    assert seen == [["backward"]]


def test_the_recording_level():
    assert recording_level([X, qad.tensor(X)]) is None
    x = qad.tensor(X, requires_grad=True)
    assert recording_level([X, x]) is x.level
    with qad.no_grad():
        assert recording_level([x]) is None
    seen = []
    qad.jvp(lambda y: (seen.append(recording_level([y, x])), y)[1], (X,), (X,))
    assert seen == [None]  # the highest level pushes


def test_operations_in_the_order_in_which_they_ran():
    leaves, ran, outputs, spec = operations(lambda x: (np.sin(x) * x, 2.0), X)
    assert [op.fn for op in ran] == [np.sin, np.multiply]
    sine, product = ran
    assert sine.parents == {0: leaves[0]} and product.parents == {0: sine.number, 1: leaves[0]}
    assert np.array_equal(sine.args[0], X) and sine.keywords == {}
    (made, value), constant = outputs
    assert made == product.number and np.array_equal(value, np.sin(X) * X)
    assert constant == (None, 2.0) and spec.num_leaves == 2


def test_one_of_several_outputs_is_an_entry():
    _, ran, _, _ = operations(lambda a: np.linalg.qr(a)[1], np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert ran[-1].fn is getitem and ran[-1].args == (None, 1) and ran[-1].parents == {0: ran[-2].number}
