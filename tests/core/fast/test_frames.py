"""Batches of tangents as a stack times one factor: every elementwise step right, whatever it meets."""

import numpy as np
import pytest

import qad
from qad.core.vmap.batched import scaled
from tests.cases import normal

W, X = normal(3, 4, seed=7), normal(4, seed=8)


def sums_of_one_stack(x):
    y = np.sin(x)
    return y * x + y / (2 - x) - 3 * y


def sums_of_two_stacks(x):
    y = np.exp(W @ x)
    z = W[::-1] @ x
    return y * z + y / (3 + z) - z


def broadcast(x):
    y = np.cos(x)
    return (y[:, None] - 2 * y) * W[:, :, None] + y[0]


def into_more_axes(x):
    return np.sin(x) * W + W / (3 + np.cos(x) * 2)


def real_and_complex(x):
    y = np.sin(x) * (1 + 2j)
    return y * x + np.exp(y) / x


def powers(x):
    return x**2 + (x**2 + 1) ** 1.5 + 2**x - np.maximum(x, 0.3) * np.abs(x)


def of_several_levels(x):
    return qad.grad(lambda y: np.sum(np.sin(y * x) * y**2))(x * x) * x


def through_what_is_not_elementwise(x):
    y = np.tanh(3 * x)
    return np.cumsum(y) * y + np.sort(y * 2) + np.sum(y) * np.where(x > 0, y, -x) + (y[::-1] * 2).reshape(2, 2).ravel()


FUNCTIONS = (
    sums_of_one_stack, sums_of_two_stacks, broadcast, into_more_axes, real_and_complex, powers, of_several_levels,
    through_what_is_not_elementwise,
)  # fmt: skip


@pytest.mark.parametrize("dtype", [float, complex, np.float32])
@pytest.mark.parametrize("f", FUNCTIONS)
def test_a_batch_of_tangents_is_a_loop(f, dtype):
    if dtype is complex and f in (powers, of_several_levels, through_what_is_not_elementwise):
        return  # of real numbers alone
    kind = complex if dtype is complex else float
    x, moves = (normal(*shape, kind, seed=2).astype(dtype) for shape in ((4,), (3, 4)))

    def along(t):
        return qad.jvp(f, (x,), (t,))[1]

    expected = np.stack([along(t) for t in moves])
    batch = qad.vmap(along)(moves)
    assert batch.dtype == expected.dtype
    np.testing.assert_allclose(batch, expected, rtol=1e-5 if dtype is np.float32 else 1e-13, atol=1e-13)


def test_a_factor_is_no_array_of_the_user():
    """The product is formed late, and the array may have changed by then."""

    def f(x, w):
        w = w.copy()
        y = x * w
        w += 1
        z = y * w
        w *= 5
        return z / 1.0

    x, w = normal(4), normal(4, seed=1)
    moved = qad.vmap(lambda t: qad.jvp(lambda x: f(x, w), (x,), (t,))[1])(np.eye(4))
    np.testing.assert_allclose(moved, np.diag(w * (w + 1)), rtol=1e-13)


def test_tangents_of_two_batches():
    def product(s, t):
        return qad.jvp(lambda x, y: np.sin(x) * 2 * (np.cos(y) * 3) + x * y, (X, X + 1), (s, t))[1]

    s, t = normal(2, 4, seed=5), normal(2, 4, seed=6)
    found = qad.vmap(lambda t: qad.vmap(lambda s: product(s, t))(s))(t)
    np.testing.assert_allclose(found, [[product(a, b) for a in s] for b in t], rtol=1e-13)


def test_writing_into_what_was_multiplied():
    def f(x):
        y = np.sin(x) * 2
        out = qad.zeros(4)
        out[:] = y
        out[1] = y[0] * 3
        y[3] = x[0]
        y[:2] += np.cos(x[2:])
        y = out * 2 - 3 * y
        out[2:] += y[2:] * x[:2]
        return out * y

    x = normal(4)
    jacobian = qad.vmap(lambda t: qad.jvp(f, (x,), (t,))[1])(np.eye(4)).T
    np.testing.assert_allclose(jacobian, qad.jacobian(f)(x), rtol=1e-12, atol=1e-13)


def test_products_are_formed_once_and_when_needed():
    batch = scaled(np.ones((2, 3)), np.arange(3.0), 1)
    assert batch.shape == (3,) and batch.dtype == float and batch.ndim == 1 and batch.size == 3 and batch.nbytes == 48
    np.testing.assert_array_equal(batch.array, [[0, 1, 2]] * 2)
    assert batch.array is batch.array
