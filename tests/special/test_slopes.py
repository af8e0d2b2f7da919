"""Slopes of special functions where their textbook formulas lose digits, or have none."""

import mpmath
import numpy as np
import pytest
from scipy import special

import qad


def first_and_second(f, x):
    return qad.grad(f)(x), qad.hvp(f, (x,), (1.0,))[0]


@pytest.mark.parametrize("x", [-1e4, -1e7, -1e9, -1e30, -1e160])
def test_log_ndtr_far_left(x):
    """Its slope is ``-x - 1/x`` there, and its curvature -1."""
    slope, curvature = first_and_second(special.log_ndtr, x)
    np.testing.assert_allclose(slope, -x - 1 / x, rtol=1e-12)
    np.testing.assert_allclose(curvature, -1 + 1 / x / x, rtol=1e-10)


POLYNOMIALS = [
    (special.eval_legendre, ()),
    (special.eval_chebyt, ()),
    (special.eval_chebyu, ()),
    (special.eval_laguerre, ()),
    (special.eval_genlaguerre, (0.5,)),
    (special.eval_gegenbauer, (0.5,)),
    (special.eval_jacobi, (0.5, 1.5)),
]


@pytest.mark.parametrize("f, shape", POLYNOMIALS, ids=lambda x: getattr(x, "__name__", ""))
@pytest.mark.parametrize("degree", [0.25, 0.5, 0.9])
def test_second_derivatives_of_polynomials_of_degree_between_0_and_1(f, shape, degree):
    qad.check_grads(lambda x: f(degree, *shape, x), (np.array([0.1, 0.4, 0.7]),), order=2)
    assert np.all(qad.hvp(lambda x: f(degree, *shape, x), (0.4,), (1.0,))[0] != 0)


@pytest.mark.parametrize("degree", [-4, -3, -2])
def test_polynomials_of_negative_degree(degree):
    """Those of Legendre and Chebyshev are the ones of a positive degree again."""
    for f in (special.eval_legendre, special.eval_chebyt, special.eval_chebyu):
        qad.check_grads(lambda x, f=f: f(degree, x), (np.array([0.1, 0.4, 0.7]),), order=2)


def test_the_slope_of_a_legendre_polynomial_at_tiny_arguments():
    np.testing.assert_allclose(qad.grad(lambda x: special.eval_legendre(2, x))(1e-200), 3e-200, rtol=1e-14)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_exponential_integrals_of_low_order(n):
    """``E_0 = exp(-x) / x``, whose derivative SciPy's function of order -1 does not have."""
    qad.check_grads(lambda x: special.expn(n, x), (np.array([0.3, 1.0, 4.0]),), order=2)
    slope = qad.grad(lambda x: special.expn(0, x))(0.5)
    np.testing.assert_allclose(slope, -np.exp(-0.5) * (2 + 4), rtol=1e-14)
    qad.check_grads(lambda x: special.expn([0, 1, 3], x).sum(), (0.7,), order=2)


def test_erfcx_and_its_kin_far_out():
    """``1 - 2 x F(x)`` has no digits where ``F`` is ``1 / 2x``."""
    for x in (50.0, 1e4, 1e10, 1e100):
        root = np.sqrt(np.pi)
        np.testing.assert_allclose(qad.grad(special.erfcx)(x), (-1 + 1.5 / x**2) / root / x / x, rtol=1e-5)
        np.testing.assert_allclose(qad.grad(special.dawsn)(x), -0.5 / x / x, rtol=2e-3)
        np.testing.assert_allclose(qad.hvp(special.dawsn, (x,), (1.0,))[0], 1 / x / x / x, rtol=3e-3)
    np.testing.assert_array_equal(qad.vmap(qad.grad(special.dawsn))(np.array([np.inf, -np.inf, 1e300])), 0.0)


def test_rgamma_at_its_zeros():
    """``1 / Gamma`` has the slope ``(-1)^n n!`` at -n, where its value times digamma is 0 times infinity."""
    x = np.array([0.0, -1.0, -2.0, -5.0])
    found = qad.grad(lambda x: special.rgamma(x).sum())(x)
    np.testing.assert_allclose(found, [1, -1, 2, -120], rtol=1e-13)
    np.testing.assert_allclose(qad.hvp(special.rgamma, (0.0,), (1.0,))[0], 2 * np.euler_gamma, rtol=1e-13)


def test_slopes_of_betaln_where_digammas_cancel():
    """``psi(a) - psi(a + b)`` is ``-b / a`` for b far below a."""
    for a, b in ((1e10, 1e-160), (47.0, 1e-10), (1.0, 1e-100)):
        np.testing.assert_allclose(qad.grad(special.betaln)(a, b), -b * special.polygamma(1, a), rtol=1e-9)


def test_modified_bessel_functions_at_tiny_arguments():
    """SciPy gives ``iv(-1, 1e-200)`` as 0."""
    np.testing.assert_allclose(qad.grad(lambda x: special.iv(0, x))(1e-200), 5e-201, rtol=1e-14)
    np.testing.assert_allclose(qad.hvp(special.i1, (1e-200,), (1.0,))[0], 3e-200 / 8, rtol=1e-14)


def test_the_curvature_of_expit_at_tiny_arguments():
    np.testing.assert_allclose(qad.hvp(special.expit, (1e-200,), (1.0,))[0], -1e-200 / 8, rtol=1e-14)


def test_entropies_of_numbers_far_apart():
    np.testing.assert_allclose(qad.grad(special.rel_entr)(1e10, 1e-300), np.log(10) * 310 + 1, rtol=1e-14)
    np.testing.assert_allclose(qad.grad(special.kl_div)(1e-160, 1e160), -np.log(10) * 320, rtol=1e-14)


@pytest.mark.parametrize("offset", [0.0, 1e10, -1e15, 1e300])
def test_softmax_of_large_numbers(offset):
    """``exp(x - logsumexp(x))`` has no digits where the spacing of x is not small."""
    x = np.array([2.0, 0.0, -40.0]) * max(1.0, np.spacing(abs(offset))) + offset
    d = x - x.max()
    expected = np.exp(d) / np.exp(d).sum()
    np.testing.assert_allclose(qad.grad(qad.logsumexp)(x), expected, rtol=1e-13)
    np.testing.assert_allclose(qad.jvp(qad.logsumexp, (x,), (np.ones(3),))[1], 1, rtol=1e-13)


def test_the_curvature_of_logsumexp_where_one_term_dominates():
    """``p (1 - p)`` is the share of the others."""
    x = np.array([0.0, -60.0, -80.0])
    found = qad.hvp(qad.logsumexp, (x,), (np.eye(3)[0],))[0]
    np.testing.assert_allclose(found, [np.exp(-60) + np.exp(-80), -np.exp(-60), -np.exp(-80)], rtol=1e-12)


@pytest.mark.parametrize("pole", [-1, -2, -5, -14])
def test_gradients_of_gamma_functions_have_all_digits_beside_their_poles(pole):
    """SciPy's digamma has an error of 1e-7 at 1e-9 from a pole, of 1e-2 at 1e-14."""
    for x in pole + np.array([1e-13, 1e-9, 1e-6, -1e-9, -1e-6]):
        with mpmath.workdps(40):
            exact = float(mpmath.digamma(mpmath.mpf(x)))
        assert qad.grad(special.gammaln)(x) == pytest.approx(exact, rel=1e-14)
        assert qad.grad(special.gamma)(x) == pytest.approx(special.gamma(x) * exact, rel=1e-14)
