"""Joining arrays and cutting them."""

import numpy as np
import pytest

import qad
from tests.cases import Case, normal

ONE = np.ones((2, 3))
JOINS = [  # functions of two arrays of shape (2, 3)
    lambda x, y: np.concatenate([x, y]),
    lambda x, y: np.concatenate((y, x, x), axis=1),
    lambda x, y: np.concatenate([x, y, y], -1),
    lambda x, y: np.concatenate([x, y[0]], axis=None),
    lambda x, y: np.concatenate([x, ONE, y]),
    lambda x, y: np.concatenate([x]),
    lambda x, y: np.concatenate([x[:0], y]),
    lambda x, y: np.concatenate([[[1, 2, 3]], x]),
    lambda x, y: np.concat([x, y], axis=1),
    lambda x, y: np.stack([x, y]),
    lambda x, y: np.stack((x, ONE, y), axis=-1),
    lambda x, y: np.stack([x, y], 1),
    lambda x, y: np.stack([x[0, 0], 2.0, y[0, 1]]),
    lambda x, y: np.stack([x[0], [1, 2, 3j]]),
    lambda x, y: np.stack([x, x]),
    lambda x, y: np.hstack([x, y]),
    lambda x, y: np.hstack([x[0], y[1]]),
    lambda x, y: np.hstack([x[0, 0], y[0, 0], 2.0]),
    lambda x, y: np.vstack([x, y]),
    lambda x, y: np.vstack([x[0], y]),
    lambda x, y: np.vstack([x[0], [1.0, 2.0, 3.0]]),
    lambda x, y: np.dstack([x, y]),
    lambda x, y: np.dstack([x[0], y[0], ONE[0]]),
    lambda x, y: np.column_stack([x, y]),
    lambda x, y: np.column_stack([x[0], y[0]]),
    lambda x, y: np.column_stack([x, y[:, 0], [5, 6]]),
    lambda x, y: np.append(x, y),
    lambda x, y: np.append(x, y, axis=1),
    lambda x, y: np.append(x, 2.0),
    lambda x, y: np.append(ONE, y),
    lambda x, y: np.block([x, y]),
    lambda x, y: np.block([[x, ONE], [2.0 * y, y]]),
    lambda x, y: np.block([[x[0]], [y]]),
    lambda x, y: np.block([[[x]], [[y]]]),
    lambda x, y: np.block([x[0, 0], y[0]]),
    lambda x, y: np.block([[np.eye(2), x]]),
]
CUTS = [  # functions of one array, and its shape
    (lambda x: np.split(x, 2), (4, 3)),
    (lambda x: np.split(x, [1, 3], axis=1), (2, 4)),
    (lambda x: np.split(x, [2, 9]), (4,)),
    (lambda x: np.split(x, (0, 2, 1), -1), (2, 4)),
    (lambda x: np.array_split(x, 3), (4, 2)),
    (lambda x: np.array_split(x, 3), (2,)),
    (lambda x: np.array_split(x, [1], axis=1), (2, 4)),
    (lambda x: np.hsplit(x, 2), (3, 4)),
    (lambda x: np.hsplit(x, [1]), (3,)),
    (lambda x: np.vsplit(x, 2), (4, 3)),
    (lambda x: np.dsplit(x, [1]), (2, 2, 3)),
    (lambda x: np.split(x, 1), (0, 2)),
]
if hasattr(np, "unstack"):
    CUTS += [(np.unstack, (3, 2)), (lambda x: np.unstack(x, axis=-1), (2, 3)), (np.unstack, (0, 2))]
KINDS = {"real": (float, float), "complex": (complex, complex), "mixed": (float, complex), "dexim": (complex, float)}
CASES = [
    Case(lambda x, y, f=f: f(x, y) * f(x, y), (normal(2, 3, a), normal(2, 3, b, seed=1)), name=f"join{i}-{kind}")
    for i, f in enumerate(JOINS)
    for kind, (a, b) in KINDS.items()
]
CASES += [
    Case(lambda x, f=f: f(x * x)[::-1], normal(*shape, kind), name=f"cut{i}")
    for i, (f, shape) in enumerate(CUTS)
    for kind in (float, complex)
]
CASES += [Case(lambda x: np.concatenate(x) * np.stack(x).reshape(-1), normal(2, 3, complex), name="one Tensor")]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


@pytest.mark.parametrize("f", JOINS)
def test_values_are_those_of_numpy(f):
    x, y = normal(2, 3), normal(2, 3, complex)
    expected = f(x, y)
    for t, u in (
        (qad.tensor(x, requires_grad=True), y),
        (x, qad.tensor(y)),
        (qad.tensor(x), qad.tensor(y, requires_grad=True)),
    ):
        found = f(t, u)
        found = found.numpy() if isinstance(found, qad.Tensor) else found
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("f, shape", CUTS)
def test_pieces_are_those_of_numpy(f, shape):
    x = normal(*shape)
    found, expected = f(qad.tensor(x, requires_grad=True)), f(x)
    assert type(found) is type(expected)
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a.numpy(), b)


@pytest.mark.parametrize("f", JOINS[:6])
def test_layouts_and_single_precision(f):
    z = normal(3, 2, complex)
    for x, y in ((z.T, np.asfortranarray(z.T)), (z.T[::-1], normal(4, 6, complex)[::2, ::2])):
        Case(f, (x, y), order=1).check()
    Case(f, (normal(2, 3, np.float32), normal(2, 3, np.complex64)), order=1).check()


def test_a_real_array_among_complex_ones_has_a_real_gradient():
    g = qad.grad(lambda x: qad.tensor(1j).numpy().imag * np.concatenate([x, np.array([1j])])[0].real)(np.ones(1))
    assert g.dtype == float
    np.testing.assert_array_equal(g, [1.0])


@pytest.mark.parametrize(
    "f, error",
    [
        (lambda x: np.concatenate([x, x], dtype=complex), qad.errors.ArgumentError),
        (lambda x: np.stack([x, x], out=np.zeros((2, 2, 3))), qad.errors.ArgumentError),
        (lambda x: np.hstack([x, x], casting="no"), qad.errors.ArgumentError),
        (lambda x: np.block([[x], x]), qad.errors.ArgumentError),
        (lambda x: np.concatenate([x, x[0]]), ValueError),
        (lambda x: np.stack([x, x[0]]), ValueError),
        (lambda x: np.concatenate([]), ValueError),
        (lambda x: np.split(x, 4), ValueError),
        (lambda x: np.vsplit(x[0], 1), ValueError),
        (lambda x: np.concatenate([x, x], axis=5), ValueError),
        (lambda x: np.split(x, 1, axis=5), ValueError),
    ],
)
def test_what_is_refused(f, error):
    with pytest.raises(error):
        f(qad.tensor(normal(2, 3), requires_grad=True))
