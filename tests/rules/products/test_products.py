"""Products of arrays: every combination of vectors, matrices and stacks."""

import operator

import numpy as np
import pytest

import qad
from tests.cases import Case, normal


def by_method(x, y):
    """``x.dot(y)``, where ndarray's method does not know Tensors."""
    return x.dot(y) if isinstance(x, qad.Tensor) else np.dot(x, y)


MATMUL = [
    ((2, 3), (3, 4)),
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 2)),
    ((5, 2, 3), (5, 3, 4)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((5, 1, 2, 3), (4, 3, 2)),
    ((1, 2, 3), (5, 3, 2)),
    ((5, 2, 3), (3,)),
    ((3,), (5, 3, 2)),
    ((2, 0), (0, 3)),
    ((0, 2), (2, 3)),
    ((0,), (0,)),
    ((0, 2, 3), (3, 4)),
    ((2, 0, 3), (3, 4)),
    ((1, 1), (1, 1)),
    ((4, 5, 2, 3), (3, 2)),
]
DOT = [
    *MATMUL[:4],
    ((), (2, 3)),
    ((2, 3), ()),
    ((), ()),
    ((2, 4, 3), (3,)),
    ((3,), (2, 3, 4)),
    ((2, 3), (4, 3, 2)),
    ((2, 2, 3), (2, 3, 2)),
    ((4, 2, 3), (3, 2)),
    ((2, 0), (3, 0, 2)),
]
TABLE = [
    (operator.matmul, MATMUL),
    (np.matmul, MATMUL[:8]),
    (np.linalg.matmul, [MATMUL[0], MATMUL[4]]),
    (np.dot, DOT),
    (by_method, DOT[:7]),
    (np.vdot, [((3,), (3,)), ((2, 3), (2, 3)), ((2, 3), (6,)), ((), ()), ((0,), (0,))]),
    (
        np.inner,
        [
            ((3,), (3,)),
            ((2, 3), (3,)),
            ((3,), (2, 3)),
            ((2, 3), (4, 3)),
            ((2, 2, 3), (2, 2, 3)),
            ((), (2,)),
            ((2,), ()),
            ((), ()),
        ],
    ),
    (np.outer, [((3,), (2,)), ((2, 2), (3,)), ((), (3,)), ((2,), (0,))]),
    (np.linalg.outer, [((3,), (2,))]),
    (
        np.kron,
        [((2, 3), (3, 2)), ((2,), (3,)), ((2,), (2, 3)), ((2, 2, 1), (2,)), ((), (2, 2)), ((), ()), ((0, 2), (2,))],
    ),
    (np.vecdot, [((3,), (3,)), ((2, 3), (3,)), ((2, 1, 3), (4, 3)), ((2, 0), (2, 0))]),
    (lambda x, y: np.linalg.vecdot(x, y, axis=0), [((3, 2), (3, 2))]),
    (np.cross, [((3,), (3,)), ((2, 3), (3,)), ((2, 1, 3), (4, 3))]),
    (lambda x, y: np.cross(x, y, axis=0), [((3, 2), (3, 2))]),
    (lambda x, y: np.cross(x, y, axisa=0, axisb=1, axisc=0), [((3, 2), (2, 3))]),
    (lambda x, y: np.linalg.cross(x, y, axis=0), [((3, 2), (3, 2))]),
]
if hasattr(np, "matvec"):
    TABLE += [
        (np.matvec, [((2, 3), (3,)), ((4, 2, 3), (3,)), ((2, 3), (4, 3))]),
        (np.vecmat, [((3,), (3, 2)), ((4, 3), (3, 2)), ((3,), (4, 3, 2))]),
    ]
PAIRS = [(i, f, a, b) for i, (f, shapes) in enumerate(TABLE) for a, b in shapes]
KINDS = [(float, float), (complex, complex), (float, complex), (complex, float)]
CASES = [
    Case(f, (normal(*a, k), normal(*b, m, seed=1)), name=f"{i}-{getattr(f, '__name__', '')}")
    for i, f, a, b in PAIRS
    for k, m in KINDS
]
CASES += [
    Case(lambda z: (z @ z) @ z.T, normal(3, 3, complex), name="powers"),
    Case(lambda z: z @ np.ones((2, 3, 3)) @ z, normal(3, 3, complex), name="constant stack"),
    Case(lambda z: np.trace(z @ z.T) * np.trace(z.T @ z), normal(2, 3, complex), name="traces"),
    Case(
        lambda a, b: np.trace(a @ b, axis1=-2, axis2=-1),
        (normal(5, 2, 3), normal(3, 2, complex)),
        name="traces-of-stack",
    ),
    Case(
        lambda a, b: np.trace(a @ b, axis1=-2, axis2=-1),
        (normal(5, 2, 3), normal(4, 1, 3, 2, complex)),
        name="traces-of-stacks",
    ),
    Case(lambda a, b: np.trace(a @ b), (normal(2, 3), normal(3, 4, complex)), name="trace-of-oblong"),
    Case(lambda a, b: np.linalg.trace(a @ b), (normal(2, 2, 3), normal(3, 4, complex)), name="traces-of-oblongs"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


@pytest.mark.parametrize("i, f, a, b", PAIRS)
def test_values_are_those_of_numpy(i, f, a, b):
    x, y = normal(*a, complex), normal(*b)
    expected = f(x, y)
    tensors = [qad.tensor(x, requires_grad=True), qad.tensor(y, requires_grad=True), qad.tensor(x), qad.tensor(y)]
    for t, u in (
        (tensors[0], tensors[1]),
        (tensors[0], y),
        (x, tensors[1]),
        (tensors[2], tensors[1]),
        (tensors[0], tensors[3]),
    ):
        found = f(t, u)
        assert found.dtype == expected.dtype
        assert found.shape == np.shape(expected)
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize(
    "f, a, b",
    [
        (np.matmul, (2, 3), (3, 2)),
        (np.matmul, (5, 2, 3), (3, 2)),
        (np.dot, (2, 3), (4, 3, 2)),
        (np.kron, (2, 3), (2, 2)),
    ],
)
def test_layouts_and_single_precision(f, a, b):
    x, y = normal(*a, complex), normal(*b, complex)
    for change in (
        np.asfortranarray,
        lambda x: np.repeat(x, 2, -1)[..., ::2],
        lambda x: x[::-1],
        lambda x: x.mT.copy().mT,
    ):
        Case(f, (change(x), change(y)), order=1).check()
    Case(f, (x.astype(np.complex64), y.real.astype(np.float32)), order=1).check()
    Case(f, (x.real.astype(np.float32), y.astype(np.complex64)), order=1).check()


def test_lists_and_numbers_as_operands():
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    for f in (
        lambda t: t @ [[1, 2], [3, 4]],
        lambda t: [[1, 2], [3, 4]] @ t,
        lambda t: t.dot([1, 2]),
        lambda t: np.dot(2.0, t),
        lambda t: np.dot(t, 3),
        lambda t: np.inner(t, 2.0),
        lambda t: np.kron(2.0, t),
        lambda t: np.kron(t, 2),
        lambda t: np.outer([1, 2], t),
        lambda t: np.vdot([1, 2, 3, 4], t),
        lambda t: np.vdot(2, t[0, 0]),
        lambda t: np.vdot(t[0, 0], 2j),
        lambda t: np.outer(2.0, t),
        lambda t: np.outer(t, 1j),
        lambda t: np.outer(b=t, a=[1, 2]),
        lambda t: np.vecdot([1, 2j], t),
        lambda t: np.dot(np.float32(2), t),
    ):
        qad.check_grads(f, (x,))
        assert f(qad.tensor(x.astype(np.float32))).dtype == f(x.astype(np.float32)).dtype


def test_products_across_levels():
    """An inner derivative of a product with a matrix that an outer one moves."""
    x, y = normal(2, 3, complex), normal(3, 2, complex)

    def inner(y):
        g = qad.grad(lambda x: np.trace(x @ y @ x @ y).real)(x)
        return (g * g).sum().real

    qad.check_grads(inner, (y,))


@pytest.mark.parametrize(
    "f, error",
    [
        (lambda x: x @ x, ValueError),
        (lambda x: x @ 2.0, ValueError),
        (lambda x: x @ np.ones(2), ValueError),
        (lambda x: np.dot(x, x), ValueError),
        (lambda x: np.inner(x, x.T), ValueError),
        (lambda x: np.vdot(x, x[0]), ValueError),
        (lambda x: np.dot(x, x.T, out=np.zeros((2, 2))), qad.errors.ArgumentError),
        (lambda x: np.matmul(x, x.T, out=np.zeros((2, 2))), qad.errors.ArgumentError),
        (lambda x: np.cross(x[:, :2], x[:, :2]), qad.errors.ArgumentError),
    ],
)
def test_what_is_refused(f, error):
    with pytest.raises(error):
        f(qad.tensor(normal(2, 3), requires_grad=True))
