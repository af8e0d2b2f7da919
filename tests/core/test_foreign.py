"""Arrays of other libraries: how they are known, what is made like them, and what a recording holds of them."""

import numpy as np
import pytest

import qad
from qad.extend import as_array, is_foreign, like
from tests.strict_array import StrictArray


def test_what_is_an_array_of_another_library():
    assert is_foreign(StrictArray(np.ones(2)))
    for x in (np.ones(2), np.float64(1), np.int8(1), 1.0, True, None, [1.0], "x", qad.tensor([1.0]), slice(3)):
        assert not is_foreign(x)


def test_as_array_leaves_it():
    x = StrictArray(np.ones(2))
    assert as_array(x) is x and type(as_array([1.0])) is np.ndarray


@pytest.mark.parametrize(
    "name, args",
    [
        ("zeros", (3,)),
        ("ones", (3,)),
        ("eye", (2, 3)),
        ("full", (3, 2.0)),
        ("arange", (4,)),
        ("asarray", ([1.0, 2.0],)),
    ],
)
def test_like_creates(name, args):
    made, usual = getattr(like(StrictArray(np.ones(1))), name)(*args), getattr(np, name)(*args)
    assert type(made) is StrictArray and made.dtype == usual.dtype
    np.testing.assert_array_equal(made.held, usual)


def test_the_first_of_several_that_is_foreign_decides():
    x = StrictArray(np.ones(2))
    for operands in ((x,), (qad.tensor(x),), (1.0, np.ones(2), x)):
        assert type(like(*operands).zeros(3)) is StrictArray
    assert like() is like(np.ones(2), 1.0, qad.tensor([1.0])) is np


def test_like_of_a_batch_is_like_its_examples():
    kinds = []
    qad.vmap(lambda x: kinds.append(type(like(x).ones(1))) or x)(StrictArray(np.ones((2, 3))))
    assert kinds == [StrictArray]


def test_like_of_what_is_frozen_is_numpy():
    kinds = []
    qad.freeze(lambda x: kinds.append(like(x)) or x + 1)(np.ones(2))
    assert set(kinds) == {np}


def test_a_tensor_holds_one():
    x = qad.tensor(StrictArray(np.ones(2)), requires_grad=True)
    (x * x).sum().backward()
    assert type(x.value) is type(x.grad) is StrictArray and x.grad.tolist() == [2.0, 2.0]


def test_gradients_are_memory_of_their_own():
    w = StrictArray(np.array([2.0, 3.0]))
    g = qad.grad(lambda x: (x * w).sum())(StrictArray(np.ones(2)))
    g[...] = 0.0
    value, _ = qad.vjp(lambda x: x, w)
    value[...] = 0.0
    assert w.tolist() == [2.0, 3.0]


@pytest.mark.parametrize("f", [lambda x, w: x * w, lambda x, w: np.stack([x, w]) ** 2, lambda x, w: np.outer(w, x)])
def test_a_constant_may_change_afterwards(f):
    """What a node holds of the caller's is a copy."""
    x, w = np.array([2.0, 3.0]), np.array([5.0, 7.0])
    expected = qad.grad(lambda x: f(x, w).sum())(x)
    there = StrictArray(w.copy())

    def loss(x):
        y = f(x, there).sum()
        there[...] = 0.0
        return y

    np.testing.assert_allclose(qad.grad(loss)(StrictArray(x)).held, expected)


def test_an_argument_may_change_before_the_pullback():
    x = StrictArray(np.array([2.0, 3.0]))
    _, pullback = qad.vjp(lambda x: x * x, x)
    x[...] = 0.0
    assert pullback(StrictArray(np.ones(2)))[0].tolist() == [4.0, 6.0]


def test_a_frozen_function_of_one_is_the_function_itself():
    f = qad.freeze(lambda x: np.sin(x) * 2)
    x = StrictArray(np.ones(2))
    assert type(f(x)) is StrictArray and not f.stats.recordings
    assert qad.grad(lambda x: f(x).sum())(x).tolist() == qad.grad(lambda x: (np.sin(x) * 2).sum())(x).tolist()


def test_a_sparse_matrix_is_none():
    scipy = pytest.importorskip("scipy.sparse")
    assert not is_foreign(scipy.csr_array(np.eye(2)))
