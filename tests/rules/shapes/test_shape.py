"""Shapes and orders of axes."""

import numpy as np
import pytest

import qad
from tests.cases import KEYWORDS, Case, normal
from tests.rules.points import both_kinds, check_layouts


def squared(f):
    """Something whose second derivative needs the rule twice."""

    def g(x):
        y = f(x)
        return y * y

    return g


def mH(x):
    return x.mH if type(x) is qad.Tensor else x.mT.conj()


def H(x):
    return x.H if type(x) is qad.Tensor else x.T.conj()


TABLE = [
    (lambda x: x.T, (2, 3)),
    (lambda x: x.T, (2, 3, 4)),
    (lambda x: x.T, ()),
    (lambda x: x.T, (0, 3)),
    (lambda x: x.T, (3,)),
    (lambda x: x.mT, (2, 3, 4)),
    (mH, (2, 3, 4)),
    (mH, (0, 2)),
    (H, (2, 3)),
    (np.matrix_transpose, (2, 3)),
    (np.linalg.matrix_transpose, (3, 2, 1)),
    (lambda x: x.reshape(6), (2, 3)),
    (lambda x: x.reshape(3, 2), (2, 3)),
    (lambda x: x.reshape((3, -1)), (2, 3)),
    (lambda x: x.reshape(-1), (2, 3)),
    (lambda x: x.reshape(()), (1, 1)),
    (lambda x: x.reshape([1, 1]), ()),
    (lambda x: np.reshape(x, (3, 2)), (2, 3)),
    (lambda x: np.reshape(x, 6), (2, 3)),
    (lambda x: np.reshape(x, (0, 5)), (2, 0)),
    (lambda x: np.reshape(x, (4, 3, 2), order="F"), (2, 3, 4)),
    (lambda x: x.reshape(-1, order="F"), (2, 3)),
    (lambda x: x.reshape(3, -1, order="F"), (2, 3)),
    (np.ravel, (2, 3)),
    (lambda x: np.ravel(x, "F"), (2, 3)),
    (lambda x: x.ravel(order="F"), (2, 3)),
    (np.ravel, ()),
    (lambda x: x.flatten(), (2, 3)),
    (lambda x: x.flatten("F"), (2, 3)),
    (np.transpose, (2, 3, 4)),
    (lambda x: np.transpose(x, (2, 0, 1)), (2, 3, 4)),
    (lambda x: np.transpose(x, axes=[-1, 0, 1]), (2, 3, 4)),
    (lambda x: x.transpose(), (2, 3)),
    (lambda x: x.transpose(1, 2, 0), (2, 3, 4)),
    (lambda x: x.transpose((1, -1, 0)), (2, 3, 4)),
    (lambda x: x.transpose(None), (2, 3)),
    (lambda x: x.transpose(0), (3,)),
    (lambda x: np.permute_dims(x, (1, 2, 0)), (2, 3, 4)),
    (lambda x: np.swapaxes(x, 0, -1), (2, 3, 4)),
    (lambda x: x.swapaxes(1, 2), (2, 3, 4)),
    (lambda x: np.moveaxis(x, 0, -1), (2, 3, 4)),
    (lambda x: np.moveaxis(x, (0, 1), (-1, 0)), (2, 3, 4)),
    (lambda x: np.moveaxis(x, source=2, destination=0), (2, 3, 4)),
    (lambda x: np.rollaxis(x, 2), (2, 3, 4)),
    (lambda x: np.rollaxis(x, 0, 3), (2, 3, 4)),
    (lambda x: np.moveaxis(x, 0, 1), (0, 4)),
    (np.squeeze, (1, 3, 1)),
    (lambda x: np.squeeze(x, axis=0), (1, 3, 1)),
    (lambda x: x.squeeze(-1), (1, 3, 1)),
    (lambda x: x.squeeze(axis=(0, 2)), (1, 3, 1)),
    (lambda x: np.expand_dims(x, 1), (2, 3)),
    (lambda x: np.expand_dims(x, axis=(0, -1)), (2, 3)),
    (np.atleast_1d, ()),
    (np.atleast_2d, (3,)),
    (np.atleast_3d, (3, 2)),
    (np.atleast_3d, (2,)),
    (np.atleast_1d, (2, 3)),
    (lambda x: np.atleast_2d(x, x[0])[1], (3,)),
    (lambda x: np.broadcast_to(x, (4, 2, 3)), (2, 1)),
    (lambda x: np.broadcast_to(x, shape=(2,)), ()),
    (lambda x: np.broadcast_to(x, (0, 2)), (1, 2)),
    (lambda x: np.broadcast_arrays(x, np.ones((4, 1, 1)))[0], (2, 3)),
    (lambda x: np.broadcast_arrays(x[0], x)[0], (2, 3)),
]
if KEYWORDS:
    TABLE += [
        (lambda x: np.reshape(x, shape=(6, 1)), (2, 3)),
        (lambda x: np.reshape(x, (3, 2), copy=True), (2, 3)),
        (lambda x: x.reshape(3, 2, copy=False), (2, 3)),
    ]
CASES = both_kinds([(squared(f), shape) for f, shape in TABLE])
CASES = [Case(c.f, c.args, name=f"{i // 2}") for i, c in enumerate(CASES)]
IDS = [f"{i}" for i in range(len(TABLE))]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


@pytest.mark.parametrize("f, shape", TABLE, ids=IDS)
def test_values_are_those_of_numpy(f, shape):
    x = normal(*shape, complex)
    expected = x.conj().mT if f in (mH, H) else f(x)
    for t in (qad.tensor(x), qad.tensor(x, requires_grad=True)):
        assert f(t).shape == np.shape(expected)
        np.testing.assert_array_equal(f(t).numpy(), expected)


@pytest.mark.parametrize(
    "f", [lambda x: x.T, mH, lambda x: x.reshape(6), lambda x: x.ravel("F"), lambda x: np.moveaxis(x, 0, 1)]
)
def test_layouts(f):
    check_layouts(squared(f), (2, 3))


def test_adjoints_of_real_arrays_are_transposes():
    x = normal(2, 3)
    t = qad.tensor(x, requires_grad=True)
    np.testing.assert_array_equal(t.mH.numpy(), x.T)
    np.testing.assert_array_equal(t.H.numpy(), x.T)
    z = normal(4, 2, 3, complex)
    np.testing.assert_array_equal(qad.tensor(z).mH.numpy(), z.conj().mT)


def test_returned_gradients_do_not_alias():
    x = normal(2, 3)
    w = normal(3, 2)
    (g,) = qad.vjp(lambda x: x.T, x)[1](w)
    assert g.flags.writeable
    assert not np.shares_memory(g, w)


@pytest.mark.parametrize(
    "f, error",
    [
        (lambda x: x.reshape(4), ValueError),
        (lambda x: x.reshape(6, order="A"), qad.errors.ArgumentError),
        (lambda x: x.T.reshape(6, copy=False), qad.errors.ArgumentError),
        (lambda x: x.ravel("K"), qad.errors.ArgumentError),
        (lambda x: x[0].mT, qad.errors.ShapeError),
        (lambda x: x[0].H, qad.errors.ShapeError),
        (lambda x: x[None].H, qad.errors.ShapeError),
        (lambda x: x.transpose(0, 0), ValueError),
        (lambda x: x.squeeze(0), ValueError),
        (lambda x: np.moveaxis(x, 5, 0), ValueError),
        (lambda x: np.broadcast_to(x, (3, 3)), ValueError),
    ],
)
def test_what_is_refused(f, error):
    with pytest.raises(error):
        f(qad.tensor(normal(2, 3), requires_grad=True))


def test_several_arrays_of_which_one_is_recorded():
    x = np.array([1.0, 2.0])
    for f in (np.atleast_1d, np.atleast_2d, np.atleast_3d):
        plain = f(x, 3.0, [1, 2])
        for a, b in zip(f(qad.tensor(x, requires_grad=True), 3.0, [1, 2]), plain, strict=True):
            assert a.shape == b.shape and a.dtype == b.dtype
        qad.check_grads(lambda x, f=f: f(3.0, x)[1] ** 2, (x,))
