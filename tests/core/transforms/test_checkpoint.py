"""`checkpoint`: same derivatives, less memory, and no silent constants."""

import tracemalloc

import numpy as np
import pytest

import qad

Z = np.array([1 + 2j, 3 - 1j])


def block(z, w):
    for _ in range(3):
        z = z * w * 0.5 + z.conj()
    return {"z": z, "w": (w * z,)}


def test_derivatives_are_those_of_the_function():
    def through(f):
        def loss(z, w):
            out = f(z, w)
            again = f(out["z"], w)
            return (again["z"] * out["w"][0]).real.sum()

        return loss

    args = (Z, Z.real.copy())
    plain, saved = (qad.value_and_grad(through(f), argnums=(0, 1))(*args) for f in (block, qad.checkpoint(block)))
    assert plain[0] == saved[0]
    for a, b in zip(plain[1], saved[1], strict=True):
        np.testing.assert_allclose(a, b)
    qad.check_grads(through(qad.checkpoint(block)), args)


def test_memory_is_that_of_the_boundary():
    def deep(x):
        for _ in range(50):
            x = x * 1.01
        return x

    def peak(f):
        x = np.ones(10**4)
        tracemalloc.start()
        qad.grad(lambda x: f(f(f(f(x)))).sum())(x)
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    assert peak(qad.checkpoint(deep)) < 0.5 * peak(deep)


def test_a_closure_over_a_recorded_tensor_is_recorded_as_it_is():
    x, y = np.array([0.5, 2.0]), np.array([3.0, -1.0])
    both = qad.grad(lambda x: qad.checkpoint(lambda y: np.sin(y * x))(x * 2.0).sum())(x)
    one = qad.grad(lambda x: qad.checkpoint(lambda y: np.sin(y * x))(y).sum())(x)
    np.testing.assert_allclose(both, np.cos(2 * x * x) * 4 * x, rtol=1e-14)
    np.testing.assert_allclose(one, np.cos(x * y) * y, rtol=1e-14)
    weight = qad.tensor(x, requires_grad=True)
    qad.checkpoint(lambda y: (weight * weight * y).sum())(y).backward()
    np.testing.assert_allclose(weight.grad, 2 * x * y, rtol=1e-14)
    inner = qad.hessian(lambda x: qad.checkpoint(lambda y: np.sum(y * x**3))(y))
    np.testing.assert_allclose(inner(x), np.diag(6 * x * y), rtol=1e-14)


def test_plain_arrays_stay_plain():
    assert type(qad.checkpoint(lambda x: x * 2)(np.ones(2))) is np.ndarray


def test_keyword_arguments_are_arguments():
    layer = qad.checkpoint(lambda x, *, w, power=1: np.sin(x * w) ** power)
    x, w = np.array([0.5, 1.0]), np.array([2.0, 3.0])
    g = qad.grad(lambda w: layer(x, w=w, power=2).sum())(w)
    np.testing.assert_allclose(g, np.sin(2 * x * w) * x)


X = np.array([0.3, 0.7, 1.1])


@pytest.mark.parametrize("still", [3, True, "text", None, len])
def test_outputs_that_are_no_arrays(still):
    f = qad.checkpoint(lambda x: (x**2, still, [still, 2 * x]))
    assert f(X)[1] is still

    def loss(x):
        return (np.sum(f(x)[0] * f(x)[2][1]), f(x)[2][0])

    (value, aux), g = qad.value_and_grad(loss, has_aux=True)(X)
    np.testing.assert_allclose([value, *g], [2 * np.sum(X**3), *(6 * X**2)])
    assert aux is still
    np.testing.assert_allclose(qad.hvp(lambda x: loss(x)[0], (X,), (X,))[0], 12 * X**2)
    np.testing.assert_allclose(qad.jvp(lambda x: loss(x)[0], (X,), (X,))[1], 6 * np.sum(X**3))
    np.testing.assert_allclose(qad.vmap(lambda x: f(x)[0])(np.stack([X, X])), [X**2, X**2])
    np.testing.assert_allclose(qad.grad(lambda x: np.sum(qad.vmap(lambda x: f(x)[0])(x)))(np.stack([X])), [2 * X])
    only = qad.checkpoint(lambda x: still)
    np.testing.assert_allclose(qad.grad(lambda x: np.sum(x) if only(x) is still else 0 * np.sum(x))(X), 1.0)
