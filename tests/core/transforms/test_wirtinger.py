"""`wirtinger` and `jacobian`."""

import numpy as np
import pytest

import qad
from qad.core.errors import GradientTypeError

Z = np.array([1 + 2j, 3 - 1j])


def test_wirtinger_of_a_mixed_function():
    dz, dzbar = qad.wirtinger(lambda z: z * z.conj() * z)(Z)
    np.testing.assert_allclose(dz, np.diag(2 * Z * Z.conj()))
    np.testing.assert_allclose(dzbar, np.diag(Z * Z))


def test_wirtinger_of_a_real_output():
    dz, dzbar = qad.wirtinger(lambda z: (z * z.conj()).real.sum())(Z)
    np.testing.assert_allclose(dz, Z.conj())
    np.testing.assert_allclose(dzbar, Z)
    np.testing.assert_allclose(2 * dzbar, qad.grad(lambda z: (z * z.conj()).real.sum())(Z))


def test_wirtinger_of_real_input_names_jacobian():
    with pytest.raises(GradientTypeError, match=r"qad\.jacobian"):
        qad.wirtinger(lambda x: x * x)(Z.real)


def test_jacobian():
    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(qad.jacobian(lambda x: x * x)(x), np.diag(2 * x))
    np.testing.assert_allclose(qad.jacobian(lambda x: x * 1j)(x), 1j * np.eye(2))
    np.testing.assert_allclose(qad.jacobian(lambda z: z * z, holomorphic=True)(Z), np.diag(2 * Z))


def test_holomorphy_is_checked():
    with pytest.raises(GradientTypeError, match="not holomorphic"):
        qad.jacobian(lambda z: z.conj(), holomorphic=True)(Z)
    with pytest.raises(GradientTypeError, match=r"qad\.wirtinger"):
        qad.jacobian(lambda z: z * z)(Z)


def test_derivatives_of_derivatives():
    x = np.array([1.0, 2.0])
    second = qad.jacobian(qad.jacobian(lambda x: x * x * x))(x)
    expected = np.zeros((2, 2, 2))
    expected[0, 0, 0], expected[1, 1, 1] = 6 * x
    np.testing.assert_allclose(second, expected)
