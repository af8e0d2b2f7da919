"""`hessian`, real and complex, against `hvp`."""

import numpy as np

import qad

Z = np.array([1 + 2j, 3 - 1j])
V = np.array([0.5 - 1j, 2.0])


def loss(z):
    return (z * z.conj() * z).real.sum() * (z * z * 1j).real.sum()


def test_real_hessian():
    x = np.array([0.5, 2.0])
    h = qad.hessian(lambda x: (x * x).sum() * x.sum())(x)
    np.testing.assert_allclose(h @ x, qad.hvp(lambda x: (x * x).sum() * x.sum(), (x,), (x,))[0])
    np.testing.assert_allclose(h, h.T)


def test_complex_hessian_has_the_stated_blocks():
    h = qad.hessian(loss)(Z)
    np.testing.assert_allclose(h.zz, h.zz.T)
    np.testing.assert_allclose(h.zzbar, h.zzbar.conj().T)
    np.testing.assert_allclose(2 * np.conj(h.zz @ V + h.zzbar @ V.conj()), qad.hvp(loss, (Z,), (V,))[0])


def test_hessian_of_a_matrix_argument():
    x = np.arange(4.0).reshape(2, 2)
    assert qad.hessian(lambda x: (x * x * x).sum())(x).shape == (2, 2, 2, 2)


def test_hessian_of_nothing():
    assert qad.hessian(lambda x: np.sum(x**2))(np.zeros(0)).shape == (0, 0)
    assert qad.hessian(lambda z: np.sum(np.abs(z)))(np.zeros((0, 2), complex)).zzbar.shape == (0, 2, 0, 2)


def test_hessians_can_be_written_into():
    x, a = np.arange(3.0), np.arange(9.0).reshape(3, 3)
    functions = (
        np.sum, lambda x: 3.0, lambda x: 0.5 * np.sum(x * x), lambda x: x[0] * x[1], lambda x: 0.5 * np.sum((a @ x) * x)
    )  # fmt: skip
    for f in functions:
        h = qad.hessian(f)(x)
        expected = qad.hessian(f)(x).copy()
        assert not any(np.may_share_memory(h, each) for each in (x, a))
        h += 7
        np.testing.assert_array_equal(qad.hessian(f)(x), expected)
    tall = np.arange(21.0).reshape(7, 3)
    assert not np.may_share_memory(qad.jacobian(lambda x: tall @ x)(x), tall)
    j = qad.jacobian(lambda x: np.concatenate([x, x, x, x]))(x)
    j[...] = 5
    np.testing.assert_array_equal(qad.jacobian(lambda x: np.concatenate([x, x, x, x]))(x), np.vstack([np.eye(3)] * 4))


def test_products_with_unit_vectors():
    def f(x, a):
        return np.sum(qad.abs2(np.sin(a @ x)))

    x = np.array([0.1, -0.2, 0.3])
    for a in (np.arange(6.0).reshape(2, 3), np.arange(6).reshape(2, 3), 1j * np.arange(6.0).reshape(2, 3)):
        one_by_one = np.stack([qad.hvp(f, (x, a + 0.0), (e, 0.0 * a))[0] for e in np.eye(3)])
        np.testing.assert_allclose(qad.hessian(f)(x, a), one_by_one, rtol=1e-12, atol=1e-12)
