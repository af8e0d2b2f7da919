"""Arrays of Tensors and numbers: `qad.array`, `qad.r_`, `qad.c_`, as NumPy's of the values."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, RecordedTensorError, ShapeError
from tests.cases import normal

X, Y, M, T = normal(3), normal(3, seed=1), normal(3, 2), np.array(0.3)

LISTS = {
    "numbers and scalars": lambda array, t, x: array([[t, -t], [1, 2.5]]),
    "vectors": lambda array, t, x: array([x, x]),
    "a list beside a vector": lambda array, t, x: array([[1, 2, 3], x]),
    "a tuple, complex": lambda array, t, x: array((t, 1j)),
    "three axes": lambda array, t, x: array([[x, x], [x, [1, 2, t]]]),
    "one entry, deep": lambda array, t, x: array([[[t]]]),
    "no list": lambda array, t, x: array(t),
    "two precisions": lambda array, t, x: array([x.astype(np.float32), [1, 2, 3]]),
    "a dtype": lambda array, t, x: array([t, 1], dtype=complex),
    "single precision": lambda array, t, x: array([np.float32(1), t.astype(np.float32)]),
    "nothing recorded": lambda array, t, x: array([[1, 2], [3, 4]]),
}

JOINED = {
    "a vector between numbers": lambda r, c, x, y, m, t: r[x, 0.0, y],
    "columns": lambda r, c, x, y, m, t: c[x, y],
    "a matrix and a column": lambda r, c, x, y, m, t: c[m, x],
    "rows by a directive": lambda r, c, x, y, m, t: r["0,2", x, y],
    "columns by a directive": lambda r, c, x, y, m, t: r["1,2,0", x, y],
    "rows, the vector's axis last": lambda r, c, x, y, m, t: r["0,2,-1", x, y],
    "an axis in the middle": lambda r, c, x, y, m, t: r["0,3,1", x, y],
    "matrices in a stack": lambda r, c, x, y, m, t: r["0,3", m, m],
    "matrices, another place": lambda r, c, x, y, m, t: r["0,3,1", m, m],
    "the last axis": lambda r, c, x, y, m, t: r["-1", m, m],
    "ranges": lambda r, c, x, y, m, t: r[1:4, x, 0:1:3j],
    "a range as a column": lambda r, c, x, y, m, t: c[1:4, x],
    "scalars": lambda r, c, x, y, m, t: r[t, 1, 2.5],
    "scalars in columns": lambda r, c, x, y, m, t: c[t, t],
    "a list": lambda r, c, x, y, m, t: r[[1, 2], x, 3],
    "one entry": lambda r, c, x, y, m, t: r[x],
    "single precision and a number": lambda r, c, x, y, m, t: r[x.astype(np.float32), 2.0],
    "complex numbers": lambda r, c, x, y, m, t: r[x, 1j],
}


def leaf(x):
    return qad.tensor(x, requires_grad=True)


def agree(found, expected):
    found = found.numpy() if type(found) is qad.Tensor else found
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", LISTS)
def test_nested_lists_are_as_in_numpy(name):
    f = LISTS[name]
    expected = f(np.array, T, X)
    agree(f(qad.array, leaf(T), leaf(X)), expected)
    agree(f(qad.array, T, X), expected)
    assert type(f(qad.array, T, X)) is np.ndarray
    if name not in ("two precisions", "single precision", "nothing recorded"):
        qad.check_grads(lambda t, x: f(qad.array, t, x), (T, X))


@pytest.mark.parametrize("name", JOINED)
def test_joining_is_as_in_numpy(name):
    f = JOINED[name]
    arguments = X, Y, M, T
    expected = f(np.r_, np.c_, *arguments)
    agree(f(qad.r_, qad.c_, *arguments), expected)
    agree(f(qad.r_, qad.c_, *map(leaf, arguments)), expected)
    if name != "single precision and a number":
        qad.check_grads(lambda *args: f(qad.r_, qad.c_, *args), arguments)


def rotation(t):
    return qad.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])


def test_a_rotation_matrix_in_every_transform():
    by = np.array([[-np.sin(0.3), -np.cos(0.3)], [np.cos(0.3), -np.sin(0.3)]])
    np.testing.assert_allclose(qad.jacobian(rotation)(0.3), by)
    np.testing.assert_allclose(qad.jvp(rotation, (0.3,), (1.0,))[1], by)
    np.testing.assert_allclose(qad.freeze(qad.jacobian(rotation))(T), by)
    np.testing.assert_allclose(qad.freeze(rotation)(T), rotation(T))
    np.testing.assert_allclose(qad.vmap(rotation)(np.array([0.0, 0.3]))[1], rotation(0.3))
    np.testing.assert_allclose(qad.jacobian(qad.checkpoint(rotation))(0.3), by)
    np.testing.assert_allclose(qad.vmap(lambda t: qad.c_[t, t])(np.ones((5, 2))), np.ones((5, 2, 2)))


def test_the_result_may_be_written_into():
    def f(t):
        m = rotation(t)
        m[0] = 0.0
        return np.sum(m * m) + m[1, 1]

    np.testing.assert_allclose(qad.grad(f)(0.3), -np.sin(0.3))


def test_what_qad_makes_is_new():
    x = leaf(X)
    y = qad.array(x)
    y[0] = 7.0
    assert x.numpy()[0] == X[0]
    plain = qad.array(X)
    plain[0] = 7.0
    assert X[0] != 7.0


@pytest.mark.parametrize("force", [lambda t: np.array([[t, -t], [t, t]]), lambda t: np.asarray([t, 1.0])])
def test_the_error_of_numpy_names_the_way(force):
    with pytest.raises(RecordedTensorError, match=r"qad\.array\(\[x, y\]\) for np\.array"):
        qad.grad(lambda t: force(t).sum())(0.3)
    with pytest.raises(ArgumentError, match=r"qad\.array"):
        np.sum(leaf(X) * [leaf(T), 1.0, 2.0])


def test_ragged_lists_and_ranges_of_tensors_are_refused():
    with pytest.raises(ShapeError, match=r"shapes \(1,\) and \(2,\)"):
        qad.array([[leaf(T)], [1, 2]])
    with pytest.raises(ShapeError, match="np.concatenate"):
        qad.array([leaf(X), leaf(X)[:2]])
    with pytest.raises(ArgumentError, match="5j"):
        qad.r_[0 : leaf(T)]
    with pytest.raises(ArgumentError, match="axis,ndmin"):
        qad.r_["r", leaf(X)]
    qad.check_grads(lambda t: qad.r_[0:t:4j], (T,))
