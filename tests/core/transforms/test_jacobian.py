"""Jacobians by rows, by columns and in portions; `vhp`, `value_and_jacobian`, `is_holomorphic`, the real Hessian."""

import numpy as np
import pytest

import qad
from qad.core.errors import GradientTypeError
from qad.core.transforms import jacobian as jacobians
from tests.cases import normal

A = normal(3, 7)


def counting(f):
    calls = []

    def counted(x):
        calls.append(1)
        return f(x)

    return counted, calls


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("shape", [(), (2,), (2, 3)])
@pytest.mark.parametrize("tall", [False, True])
def test_rows_and_columns_agree(shape, dtype, tall):
    """A tall Jacobian takes a forward pass, for which the function is called once more."""
    x = normal(*shape, dtype)
    weights = normal(40 if tall else 1, x.size, complex if dtype is complex else float)
    f, calls = counting(lambda x: np.sin(weights @ np.reshape(x, -1)) * np.exp(x).sum())
    jacobian = qad.jacobian(f, holomorphic=dtype is complex)(x)
    assert len(calls) == 1 + tall
    assert jacobian.shape == (len(weights), *shape)
    v = normal(*shape, dtype, seed=1)
    moved = qad.jvp(f, (x,), (v,))[1]
    np.testing.assert_allclose((jacobian * v).reshape(len(weights), -1).sum(-1), moved, atol=1e-11)


@pytest.mark.parametrize("tall", [False, True])
def test_wirtinger_of_many_outputs(tall):
    z, weights = normal(2, complex), normal(30 if tall else 3, 2, complex)

    def f(z):
        return np.abs(weights @ z) ** 2 * z[0].conj()

    by_z, by_conj = qad.wirtinger(f)(z)
    v = normal(2, complex, seed=1)
    np.testing.assert_allclose(by_z @ v + by_conj @ v.conj(), qad.jvp(f, (z,), (v,))[1], atol=1e-12)


def test_complex_output_of_a_real_argument():
    x = normal(3)

    def f(x):
        return np.exp(1j * A.T @ x)

    np.testing.assert_allclose(qad.jacobian(f)(x), 1j * f(x)[:, None] * A.T)


def test_portions_make_no_difference(monkeypatch):
    x = normal(7)

    def f(x):
        return np.tanh(A @ x)

    def loss(x):
        return np.sum(f(x) ** 4)

    rows, hessian = qad.jacobian(lambda x: f(x) @ A)(x), qad.hessian(loss)(x)
    monkeypatch.setattr(jacobians, "PORTION", 15)
    np.testing.assert_allclose(qad.jacobian(lambda x: f(x) @ A)(x), rows)
    np.testing.assert_allclose(qad.hessian(loss)(x), hessian)


def test_rules_that_want_numbers_get_them():
    @qad.extend.primitive
    def cube(x):
        return x**3

    qad.extend.defvjp(cube, lambda g, ans, x: np.stack([v * 3 * u**2 if v else v for u, v in zip(x, g, strict=True)]))
    x = normal(5)
    np.testing.assert_allclose(qad.jacobian(cube)(x), np.diag(3 * x**2))
    np.testing.assert_allclose(qad.hessian(lambda x: cube(x).sum())(x), np.diag(6 * x))


def test_constant_and_empty_outputs():
    x = normal(3)
    np.testing.assert_array_equal(qad.jacobian(lambda x: np.ones(5))(x), np.zeros((5, 3)))
    assert qad.jacobian(lambda x: x[:0])(x).shape == (0, 3)
    np.testing.assert_array_equal(qad.hessian(lambda x: x.sum())(x), np.zeros((3, 3)))


def test_value_and_jacobian():
    x = normal(3)
    value, jacobian = qad.value_and_jacobian(lambda x, *, k: np.sin(k * x))(x, k=2)
    np.testing.assert_allclose(value, np.sin(2 * x))
    np.testing.assert_allclose(jacobian, np.diag(2 * np.cos(2 * x)))
    value[0] = 7  # it is ours


def test_vhp_is_hvp():
    z, w = normal(3, complex), normal(2)

    def f(z, w):
        return np.abs(np.sum(z**3) * w[0]) ** 2 + np.sin(w).sum()

    v = normal(3, complex, seed=1), normal(2, seed=1)
    for one, two in zip(qad.vhp(f, (z, w), v), qad.hvp(f, (z, w), v), strict=True):
        np.testing.assert_allclose(one, two)


def test_is_holomorphic():
    z = normal(3, complex)
    assert qad.is_holomorphic(lambda z: np.linalg.solve(np.outer(z, z) + np.eye(3), np.exp(z)))(z)
    assert not qad.is_holomorphic(lambda z: z * z.conj())(z)
    assert qad.is_holomorphic(lambda z: {"a": z["x"] ** 2, "b": 3.0j * z["x"]})({"x": z})
    assert not qad.is_holomorphic(lambda z: (z**2, z.conj()))(z)  # one of its results alone
    assert not qad.is_holomorphic(lambda a, z: a @ z.real, argnums=1)(A[:, :3], z)
    assert qad.is_holomorphic(lambda z: np.conj(2j) * z, argnums=0)(z)
    with pytest.raises(GradientTypeError, match="astype"):
        qad.is_holomorphic(np.exp)(z.real)


def test_real_form_of_a_complex_hessian():
    z = normal(2, 2, complex)

    def f(z):
        return np.abs(np.sum(z**3 * z.conj())) ** 2 + (z[0] * z[1]).real.sum()

    by_parts = qad.hessian(lambda x: f((x[:4] + 1j * x[4:]).reshape(2, 2)))(
        np.concatenate([z.real.ravel(), z.imag.ravel()])
    )
    np.testing.assert_allclose(qad.hessian(f)(z).real, by_parts, atol=1e-11)


def test_hessians_nest():
    x = normal(3)

    def f(x):
        return np.sum(np.sin(x) * x[0])

    third = qad.jacobian(qad.hessian(f))(x)
    expected = qad.jacobian(qad.jacobian(qad.jacobian(f)))(x)
    np.testing.assert_allclose(third, expected, atol=1e-12)
    np.testing.assert_allclose(qad.grad(lambda x: qad.hessian(f)(x).sum())(x), expected.sum((0, 1)), atol=1e-12)


@pytest.mark.parametrize("tall", [False, True])
def test_jacobians_by_several_arguments(tall):
    a, b = normal(3), normal(2, 2)

    def f(a, b):
        return np.outer(np.sin(a), b * b)[:, : 4 if tall else 1] * (np.ones((9, 1, 1)) if tall else 1)

    value, both = qad.value_and_jacobian(f, (1, 0))(a, b)
    np.testing.assert_array_equal(value, f(a, b))
    np.testing.assert_allclose(both[0], qad.jacobian(f, 1)(a, b), atol=1e-14)
    np.testing.assert_allclose(both[1], qad.jacobian(f, 0)(a, b), atol=1e-14)
    assert both[0].shape == value.shape + b.shape


def test_wirtinger_by_several_arguments():
    y, z = normal(2, complex), normal(2, complex, seed=1)
    (dy, dy_conj), (dz, dz_conj) = qad.wirtinger(lambda y, z: y * z.conj(), (0, 1))(y, z)
    np.testing.assert_allclose(dy, np.diag(z.conj()))
    np.testing.assert_allclose(dz_conj, np.diag(y))
    assert not dy_conj.any()
    assert not dz.any()


def test_hessian_by_several_arguments():
    a, b = normal(3), normal(2, 2)

    def f(a, b, *, k):
        return np.sum(np.outer(a, b) ** k) + a[0] ** 4

    blocks = qad.hessian(f, (0, 1))(a, b, k=2)

    def whole(x):
        return f(x[:3], x[3:].reshape(2, 2), k=2)

    expected = qad.hessian(whole)(np.concatenate([a, b.reshape(-1)]))
    assert blocks[0][1].shape == (3, 2, 2)
    joined = np.block([[block.reshape(x.size, -1) for block in row] for x, row in zip((a, b), blocks, strict=True)])
    np.testing.assert_allclose(joined, expected, atol=1e-12)
    mixed = qad.hessian(lambda a, b: np.abs(f(a, b, k=2)) ** 2, (0, 1))(a, 1j * b)
    assert mixed.zzbar[0][1].shape == (3, 2, 2)
