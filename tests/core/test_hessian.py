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
