"""Derivatives of special functions and of powers near 0 and far out, beside mpmath's."""

from functools import partial

import mpmath
import numpy as np
import pytest
from scipy import special

import qad

DIGITS = 60


def orders(f, x):
    """First and second derivative by the forward mode, twice, and for real numbers by the reverse mode."""
    one = x * 0 + 1

    def first(t):
        return qad.jvp(f, (t,), (one,))[1]

    found = [(first(x), qad.jvp(first, (x,), (one,))[1])]
    if not np.iscomplexobj(x):
        found.append((qad.grad(f)(x), qad.hvp(f, (x,), (1.0,))[0]))
    return found


def besseli(v, z):
    """I_v; of a negative integer order that of its modulus, for mpmath's series of the former does not converge."""
    return mpmath.besseli(abs(v) if mpmath.isint(v) else v, z)


BESSEL = {  # f_v' = (lower f_{v-1} + higher f_{v+1}) / 2
    "jv": (mpmath.besselj, 1, -1),
    "yv": (mpmath.bessely, 1, -1),
    "hankel1": (mpmath.hankel1, 1, -1),
    "hankel2": (mpmath.hankel2, 1, -1),
    "iv": (besseli, 1, 1),
    "kv": (mpmath.besselk, -1, -1),
}


def bessel(name, v, z):
    of, low, high = BESSEL[name]
    with mpmath.workdps(DIGITS):
        v, z = mpmath.mpf(v), mpmath.mpmathify(z)
        first = (low * of(v - 1, z) + high * of(v + 1, z)) / 2
        second = (low * low * of(v - 2, z) + 2 * low * high * of(v, z) + high * high * of(v + 2, z)) / 4
        return first, second


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", BESSEL)
@pytest.mark.parametrize("v", [-3, -2.5, -2, -1.5, -1, -0.5, 0, 0.5, 1, 2, 3])
@pytest.mark.sampled(18)
def test_bessel_functions_of_tiny_arguments(name, v):
    """The second derivative of ``iv(1, x)`` is ``3 x / 8`` there; ``yv(-3/2, x)`` is infinite."""
    for x in (1e-5, 0.9e-9, 1e-10, 1e-100, 1e-160):
        for z in (x, x * (0.6 + 0.8j)):
            if name.startswith("hankel"):
                z = complex(z)
            expected = bessel(name, v, z)
            for found in orders(lambda t: getattr(special, name)(v, t), z):
                for got, right in zip(found, expected, strict=True):
                    if 1e-290 < abs(right) < 1e290:
                        np.testing.assert_allclose(got, complex(right), rtol=1e-11)


def test_high_derivatives_of_modified_bessel_functions_of_tiny_arguments():
    f = partial(special.iv, 1)
    for right in (0.5, 3.75e-11, 0.375, 3.125e-11, 0.3125):
        f = qad.grad(f)
        np.testing.assert_allclose(f(1e-10), right, rtol=1e-13)


FAR = [1e10 + 1e10j, 1e100 + 1e100j, -1e300 + 1e300j, -1e10 - 20j, 1e300j, -1e6 + 16.1j, 17 + 1e160j, -1e10 + 0.25j]


@pytest.mark.parametrize("z", FAR)
def test_digamma_of_large_complex_numbers(z):
    """Where powers of `z` overflow, and far to the left."""
    with mpmath.workdps(40):
        one = 1 - mpmath.mpmathify(z)
        turn = (mpmath.pi / mpmath.sinpi(one)) ** 2 if abs(z.imag) < 100 else 0
        right = turn - mpmath.polygamma(1, one) if z.real < 0 else mpmath.polygamma(1, mpmath.mpmathify(z))

    def first(t):
        return qad.jvp(special.loggamma, (t,), (1 + 0j,))[1]

    for found in (qad.jvp(special.digamma, (z,), (1 + 0j,))[1], qad.jvp(first, (z,), (1 + 0j,))[1]):
        np.testing.assert_allclose(found, complex(right), rtol=1e-12)


def test_polygamma_far_to_the_left():
    for n, z in ((1, -20.25), (3, -1e6 + 0.375), (2, -1000.5 + 17j), (4, -30 + 3j), (1, -1e14 + 0.25)):
        with mpmath.workdps(60):
            x = mpmath.mpmathify(z)
            turn = mpmath.diff(lambda t: mpmath.pi * mpmath.cot(mpmath.pi * t), x, n)
            right = (-1) ** n * mpmath.polygamma(n, 1 - x) - turn
        np.testing.assert_allclose(qad.special.polygamma(n, z), complex(right), rtol=1e-12)
    assert qad.special.polygamma(1, -20.0) == np.inf


@pytest.mark.parametrize("x", [1e-300, 1e-160, 1e-155, 1e-100, 1e-6, 0.3, 2.0])
@pytest.mark.parametrize("power", [lambda t: t**t, lambda t: np.float_power(t, t)], ids=["**", "float_power"])
def test_the_curvature_of_x_to_the_x(power, x):
    """``p (p - 1) x^(p - 2)`` overflows; that of ``x^x`` is about ``1 / x``."""
    right = x**x * ((np.log(x) + 1) ** 2 + 1 / x)
    for _, second in orders(power, x):
        np.testing.assert_allclose(second, right, rtol=1e-13)
    batch = qad.vmap(qad.grad(qad.grad(power)))(np.array([x, 0.5]))
    np.testing.assert_allclose(batch[0], right, rtol=1e-13)
    curvature = qad.freeze(qad.grad(qad.grad(power)))
    np.testing.assert_allclose([curvature(0.5), curvature(x)], [batch[1], right], rtol=1e-13)


def test_the_curvature_of_tiny_constant_powers():
    np.testing.assert_allclose(qad.hvp(lambda x: x**1e-200, (1e-160,), (1.0,))[0], -1e120, rtol=1e-13)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "abc", [(0.7, 1.2, 1.9), (-0.5, 1.2, 0.7), (1 / 3, 2 / 3, 1), (0.1, 0.2, 3.3), (1.1, 1.2, 4.3)]
)
def test_hyp2f1_near_1(abc):
    """SciPy's ``hyp2f1(1.7, 2.2, 2.9, 0.999)`` is inf."""
    for z in (0.5, 0.93, 0.999, 0.99999, 1 - 1e-9, 0.95 + 0.1j):
        with mpmath.workdps(40):
            a, b, c = map(mpmath.mpf, abc)
            first = a * b / c * mpmath.hyp2f1(a + 1, b + 1, c + 1, z)
            second = a * b / c * (a + 1) * (b + 1) / (c + 1) * mpmath.hyp2f1(a + 2, b + 2, c + 2, z)
        for found in orders(lambda t: special.hyp2f1(*abc, t), z):
            np.testing.assert_allclose(found, [complex(first), complex(second)], rtol=1e-11)


def test_hyp2f1_where_no_digits_are_left():
    with pytest.raises(ValueError, match="nearly an integer"):
        qad.grad(lambda z: special.hyp2f1(0.7, 1.2, 1.9 + 1e-10, z))(0.999)
    with pytest.raises(ValueError, match="nearly an integer"):
        qad.grad(lambda z: special.hyp2f1(0.7, 1.2, 1.9 + 1e-10, z).real)(0.999 + 0.01j)


@pytest.mark.parametrize("x", [1.0, 37.0, 80.0, -80.0])
def test_softmax_where_one_term_dominates(x):
    """``1 - p`` has no digits."""
    right = np.exp(-abs(x - 1)) / (1 + np.exp(-abs(x - 1))) ** 2

    def first(t):
        return qad.special.softmax(qad.stack([t, t * 0 + 1]))[0]

    for slope, _ in orders(first, x):
        np.testing.assert_allclose(slope, right, rtol=1e-13)


def test_softmax_of_nothing():
    for shape in ((0,), (2, 0)):
        assert qad.grad(lambda x: np.sum(qad.special.softmax(x, -1) ** 2))(np.zeros(shape)).shape == shape
