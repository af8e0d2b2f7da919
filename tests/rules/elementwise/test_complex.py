"""Kinks and branch cuts: what is right at zero, and on which side of a cut."""

import numpy as np
import pytest

import qad
from tests.cases import Case, normal

Z0 = np.array([0, 1 + 1j])
CASES = [
    Case(lambda z: qad.abs2(z), Z0, name="abs2-at-0"),
    Case(lambda z: abs(z) ** 2 + np.square(np.abs(z)), Z0, name="abs-squared-at-0"),
    Case(lambda x: abs(x) ** 2, np.array([0.0, -1.0]), name="real-abs-squared-at-0"),
    Case(lambda z: abs(z) * abs(z), Z0, order=1, name="abs-times-abs-at-0"),
    Case(lambda z: qad.abs2(z * z - 1), (np.array([1.0 + 0j]),), name="abs2-of-0"),
    Case(lambda z: z.real * z.imag + z.conjugate().imag, normal(3, complex), name="methods"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


def test_second_order_of_abs2_at_zero():
    v = np.array([1.0, 1j])
    np.testing.assert_array_equal(qad.hvp(lambda z: qad.abs2(z).sum(), (np.zeros(2, complex),), (v,))[0], 2 * v)
    np.testing.assert_array_equal(qad.hvp(lambda x: qad.abs2(x).sum(), (np.zeros(2),), (v.real,))[0], 2 * v.real)
    np.testing.assert_array_equal(qad.hvp(lambda z: (abs(z) ** 2).sum(), (np.zeros(2, complex),), (v,))[0], 2 * v)


@pytest.mark.parametrize("f", [np.abs, np.angle, lambda z: np.sign(z).real, lambda z: np.hypot(z.real, z.imag)])
def test_kinks_at_zero_have_derivative_zero(f):
    g = qad.grad(lambda z: f(z).sum())(np.zeros(2, complex))
    np.testing.assert_array_equal(g, 0)


def test_gradient_of_abs_is_the_direction():
    np.testing.assert_allclose(qad.grad(abs)(3 + 4j), 0.6 + 0.8j)
    np.testing.assert_allclose(qad.grad(lambda z: np.angle(z))(2j), -0.5)


CUTS = [  # function, points on its cuts
    (np.sqrt, [-2.0]),
    (np.log, [-2.0]),
    (np.arcsin, [2.0, -2.0]),
    (np.arccos, [2.0, -2.0]),
    (np.arccosh, [-2.0, 0.5]),
    (np.arctanh, [2.0, -2.0]),
    (np.arcsinh, [2j, -2j]),
    (np.arctan, [2j, -2j]),
]


@pytest.mark.parametrize("f, points", CUTS, ids=lambda x: getattr(x, "__name__", ""))
def test_derivatives_on_both_sides_of_a_cut(f, points):
    """A signed zero says on which side a point lies; the derivative is that of the branch that NumPy took."""
    for p in map(complex, points):
        along = 1.0 if p.imag == 0 else 1j
        for side in (1.0, -1.0):
            z = complex(p.real, side * 0.0) if p.imag == 0 else complex(side * 0.0, p.imag)
            near = complex(p.real, side * 1e-9) if p.imag == 0 else complex(side * 1e-9, p.imag)
            expected = (f(near + 1e-4 * along) - f(near - 1e-4 * along)) / (2e-4 * along)
            found = qad.vjp(f, np.array([z]))[1](np.array([1.0 + 0j]))[0].conj()
            np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_powers_at_special_points():
    zeros = np.zeros(4)
    p = np.array([0.0, 1.0, 2.0, 3.0])
    for x in (zeros, zeros + 0j):
        np.testing.assert_array_equal(qad.grad(lambda x: (x**p).sum().real)(x), [0, 1, 0, 0])
        np.testing.assert_array_equal(qad.hvp(lambda x: (x**p).sum().real, (x,), (x + 1,))[0], [0, 0, 2, 0])
        for n, slope, curvature in ((0, 0, 0), (1, 1, 0), (2, 0, 2), (3, 0, 0), (0.0, 0, 0), (2.0, 0, 2)):
            np.testing.assert_array_equal(qad.grad(lambda x, n=n: (x**n).sum().real)(x), slope)
            np.testing.assert_array_equal(qad.hvp(lambda x, n=n: (x**n).sum().real, (x,), (x + 1,))[0], curvature)


def test_powers_of_negative_bases():
    x = np.array([-1.5, -2.0, -3.0])
    for p in (2, 3, -1, -2.0, np.array([0, 1, 3]), np.array([0, 1, 3], np.uint8)):
        Case(lambda x, p=p: x**p, x).check()


def test_exponents_at_base_zero():
    """0**p is 0 for every p > 0."""
    np.testing.assert_array_equal(qad.grad(lambda p: (np.zeros(2) ** p).sum())(np.array([1.0, 2.5])), 0)
    np.testing.assert_array_equal(qad.grad(lambda p: (0.0**p).sum())(np.array([1.0, 2.5])), 0)


def test_powers_by_constants_and_by_arrays():
    for z in (normal(3, complex), abs(normal(3)) + 0.5):
        for p in (2, 0.5, -1, 3, 1.5, 0.3 + 0.2j):
            if not np.iscomplexobj(p) or np.iscomplexobj(z):
                Case(lambda z, p=p: z**p, z).check()
            if p != -1 and (np.isrealobj(p) or np.iscomplexobj(z)):
                Case(lambda z, p=p: p**z, z).check()
    Case(lambda x, p: x**p, (abs(normal(3)) + 0.5, normal(3))).check()
    Case(lambda x: x**x, (abs(normal(3)) + 0.5,)).check()


def test_sinc_at_and_near_zero():
    x = np.array([0.0, 1e-9, -1e-3, 0.999, 1.0, 1.001, 7.5])
    Case(np.sinc, x, order=3).check()
    np.testing.assert_allclose(qad.hvp(lambda x: np.sinc(x).sum(), (np.zeros(1),), (np.ones(1),))[0], -(np.pi**2) / 3)


def test_real_tensors_are_their_own_real_part_and_conjugate():
    t = qad.tensor([1.0, 2.0], requires_grad=True)
    assert all(x is t for x in (t.real, t.conj(), np.real(t)))  # as of NumPy's arrays
    assert np.conj(t) is not t
    np.testing.assert_array_equal(np.conj(t).numpy(), t.numpy())
    assert type(t.imag) is np.ndarray
    np.testing.assert_array_equal(t.imag, 0)
    assert type(np.sign(t)) is np.ndarray


def test_real_input_gets_a_real_gradient_from_complex_functions():
    x = np.array([0.5, 1.5])
    for f in (np.angle, lambda x: abs(x * (1 + 2j)), lambda x: qad.abs2(np.exp(1j * x) + x), lambda x: np.imag(x * 2j)):
        Case(f, x).check()


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize(
    "f", [lambda z: abs(z) ** 2, lambda z: np.square(np.abs(abs(z))), lambda z: np.power(abs(z), 2.0)]
)
def test_the_square_of_a_modulus_is_smooth_at_zero_in_every_mode(f, dtype):
    """Forward and reverse in any nesting: the second derivative of ``|z|^2`` along v is ``2 |v|^2``."""
    z, v = np.zeros(2, dtype), np.array([1.0, 2j] if dtype is complex else [1.0, 2.0])

    def loss(z):
        return f(z).sum()

    def slope(z):
        return qad.jvp(loss, (z,), (v,))[1]

    np.testing.assert_array_equal(qad.hvp(loss, (z,), (v,))[0], 2 * v)
    np.testing.assert_array_equal(qad.grad(slope)(z), 2 * v)
    np.testing.assert_array_equal(qad.grad(lambda z: (qad.grad(loss)(z) * v.conj()).real.sum())(z), 2 * v)
    assert qad.jvp(slope, (z,), (v,))[1] == 10.0
    assert qad.jvp(lambda z: qad.jvp(slope, (z,), (v,))[1], (z,), (v,))[1] == 0.0
