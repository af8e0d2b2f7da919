"""Slopes far out, near branch points and where they are infinite, in both modes; differences and axes of numbers."""

import numpy as np
import pytest

import qad
from qad.core.registry.define import PRIMITIVES


def slope(f, z):
    """``f'`` of a holomorphic function."""
    z = qad.extend.operand(z if hasattr(z, "dtype") else np.asarray(z))
    return np.conj(qad.vjp(f, z)[1](np.ones_like(qad.extend.value_of(z)))[0])


# -- extreme arguments ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("f", [np.arctan, np.arctanh, np.arcsin, np.arccos, np.arcsinh, np.arccosh, np.log1p, np.sqrt])
@pytest.mark.parametrize("size", [1e160, 1e200, 1e300])
def test_inverse_functions_far_out_in_the_plane(f, size):
    """``1 + z^2`` overflows there; its reciprocal does not."""
    z = np.array([size * (1 + 1j), size * (-1 + 0.5j), -1j * size])
    assert np.all(np.isfinite(slope(f, z)))
    assert np.all(np.isfinite(qad.jvp(lambda z: slope(f, z), (z,), (np.ones_like(z),))[1]))


@pytest.mark.parametrize("distance", [1e-9, 1e-12, 1e-15])
def test_inverse_functions_near_their_branch_points(distance):
    z = np.array([1 - distance])
    gap = (1 - z) * (1 + z)
    for f, expected in ((np.arctanh, 1 / gap), (np.arcsin, gap**-0.5), (np.arccos, -(gap**-0.5))):
        np.testing.assert_allclose(slope(f, z), expected, rtol=1e-14)
        np.testing.assert_allclose(slope(f, z + 0j), expected, rtol=1e-14)
    z = np.array([1j + distance])
    np.testing.assert_allclose(slope(np.arctan, z), 1 / (distance * (2j + distance)), rtol=1e-14)


@pytest.mark.parametrize("x", [10.0, 19.5, 40.0, 300.0])
def test_slopes_of_tanh_where_it_is_almost_1(x):
    """``1 - tanh(x)^2`` has no digits there."""
    np.testing.assert_allclose(slope(np.tanh, x), 4 * np.exp(-2 * x), rtol=1e-8)
    np.testing.assert_allclose(slope(np.tan, 1j * x), 4 * np.exp(-2 * x), rtol=1e-8)
    np.testing.assert_allclose(slope(np.expm1, -x), np.exp(-x), rtol=1e-14)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
@pytest.mark.parametrize("kind", [float, complex])
def test_norms_and_deviations_do_not_depend_on_the_scale(scale, kind):
    """Although squares overflow or vanish."""
    z = np.array([3.0, 4.0, 1.0]) + (1j * np.array([0.0, 2.0, -1.0]) if kind is complex else 0)
    for f in (
        np.linalg.norm,
        np.std,
        lambda z: np.linalg.norm(z, 3),
        lambda z: np.linalg.norm(z, 1),
        lambda z: np.linalg.norm(np.outer(z, [1.0, 2.0])),
        lambda z: np.sum(np.hypot(abs(z), 2 * abs(z))),
    ):
        np.testing.assert_allclose(qad.grad(f)(scale * z), qad.grad(f)(z), rtol=1e-12, atol=1e-13)
        found, expected = (qad.hvp(f, (s * z,), (s * z[::-1],))[0] for s in (scale, 1.0))
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(qad.tensor(scale * z)).numpy(), scale * np.linalg.norm(z), rtol=1e-14)


def test_the_curvature_of_a_modulus_along_a_long_side():
    """``1 / r - a^2 / r^3`` cancels: it is ``b^2 / r^3``."""
    for f in (np.hypot, lambda a, b: abs(a + 1j * b)):
        np.testing.assert_allclose(qad.hvp(f, (1.0, 1e-100), (1.0, 0.0))[0], 1e-200, rtol=1e-14)


def test_logaddexp_of_large_numbers():
    """``exp(a - y)`` has no digits where a is large."""
    a, b = 1e15, 1e15 + 2.0
    for found in qad.grad(np.logaddexp, argnums=(0, 1))(a, b):
        assert min(abs(found - 1 / (1 + np.exp(s))) for s in (2, -2)) < 1e-15


def test_sinc_of_large_numbers():
    """Whole turns are taken off before pi is rounded."""
    for x in (1e8, 1e15, 2.0**60):
        np.testing.assert_allclose(slope(np.sinc, x), 1 / x, rtol=1e-14)


def test_x_to_the_x_at_0():
    """Its slope ``x^x (log x + 1)`` is -inf."""
    with np.errstate(divide="ignore", invalid="ignore"):
        assert qad.grad(lambda x: x**x)(0.0) == -np.inf
        assert qad.jvp(lambda x: x**x, (0.0,), (1.0,))[1] == -np.inf
        assert qad.grad(lambda p: 0.0**p)(0.0) == -np.inf
    assert qad.grad(lambda p: 0.0**p)(0.5) == 0
    assert qad.grad(lambda x: x**0.0)(0.0) == 0


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-17, reason="long doubles are doubles here")
def test_long_doubles_meet_constants_of_their_own_precision():
    x = np.array([1.5], np.longdouble)
    two = np.longdouble(2)
    for f, expected in (
        (np.exp2, np.exp2(x) * np.log(two)),
        (np.log2, 1 / (x * np.log(two))),
        (np.degrees, 45 / np.arctan(np.longdouble(1))),
        (lambda x: np.logaddexp2(x, x), np.longdouble(1)),
    ):
        assert abs(slope(f, x) - expected)[0] < 1e-17 * expected


# -- both modes at singular points ---------------------------------------------------------------------------

SINGULAR = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf])
UNARY = [f for f, p in PRIMITIVES.items() if p.elementwise and getattr(f, "nin", 0) == 1 and f.nout == 1]


def both_modes(f, x):
    """NaN or not, of the derivatives of elementwise `f` in reverse and in forward mode, first and second."""
    ones = np.ones_like(x)
    with np.errstate(all="ignore"):
        reverse = qad.vjp(f, x)[1](ones)[0]
        forward = qad.jvp(f, (x,), (ones,))[1]
        tangent = qad.jvp(lambda x: qad.vjp(f, x)[1](ones)[0], (x,), (ones,))[1]
        cotangent = qad.vjp(lambda x: qad.jvp(f, (x,), (ones,))[1], x)[1](ones)[0]
    return [np.isnan(d) for d in (reverse, forward, tangent, cotangent)]


@pytest.mark.parametrize("f", UNARY, ids=lambda f: f.__name__)
def test_both_modes_agree_where_a_slope_is_infinite(f):
    for mask in (np.ones(6, bool), np.zeros(6, bool), np.arange(6) % 2 == 0):
        for program in (f, lambda x, f=f, mask=mask: np.where(mask, f(x), 0.0)):
            reverse, forward, tangent, cotangent = both_modes(program, SINGULAR)
            np.testing.assert_array_equal(reverse, forward)
            np.testing.assert_array_equal(tangent, cotangent)


def guarded(x):
    return np.where(x > 0, np.sqrt(x), 0)


def test_where_hides_no_infinite_slope_in_either_mode():
    """The cotangent 0 meets an infinite slope in one mode, an infinite tangent the factor 0 in the other: both NaN."""
    x = np.array([0.0, 1.0])
    with np.errstate(all="ignore"):
        for f in (guarded, lambda x: np.where(x > 0, x * np.log(x), 0)):
            derivatives = [
                qad.vjp(f, x)[1](np.ones(2))[0],
                qad.jvp(f, (x,), (np.ones(2),))[1],
                qad.vmap(qad.grad(f))(x),
                qad.vmap(lambda x, f=f: qad.jvp(f, (x,), (1.0,))[1])(x),
                qad.hvp(lambda x, f=f: f(x).sum(), (x,), (np.ones(2),))[0],
            ]
            for transform in (
                lambda f: qad.grad(lambda x: f(x).sum()),
                lambda f: lambda x: qad.jvp(f, (x,), (x + 1,))[1],
            ):
                frozen = qad.freeze(transform(f))
                derivatives += [frozen(x), frozen(x)]
            for derivative in derivatives:
                np.testing.assert_array_equal(np.isnan(derivative), [True, False])


def test_debug_names_the_line_behind_where():
    x = np.array([0.0, 1.0])
    for run in (
        lambda: qad.grad(lambda x: guarded(x).sum())(x),
        lambda: qad.jvp(guarded, (x,), (np.ones(2),)),
    ):
        with np.errstate(all="ignore"), qad.debug(), pytest.raises(qad.errors.NotFiniteError, match=r"sqrt") as error:
            run()
        assert "return np.where(x > 0, np.sqrt(x), 0)" in str(error.value)


def test_where_with_a_harmless_argument_is_right_in_both_modes():
    def f(x):
        inside = np.where(x > 0, x, 1.0)
        return np.where(x > 0, inside * np.log(inside), 0)

    x = np.array([0.0, 1.0])
    np.testing.assert_array_equal(qad.grad(lambda x: f(x).sum())(x), [0, 1])
    np.testing.assert_array_equal(qad.jvp(f, (x,), (np.ones(2),))[1], [0, 1])


# -- shapes --------------------------------------------------------------------------------------------------


def test_differences_of_order_0():
    """NumPy gives the array as it is, without what was to stand around it."""
    x = np.array([1.0, 4.0, 9.0])
    assert np.diff(qad.tensor(x, requires_grad=True), n=0, prepend=0.0).shape == np.diff(x, n=0, prepend=0.0).shape
    with pytest.raises(qad.errors.ArgumentError, match="order"):
        np.diff(qad.tensor(x, requires_grad=True), n=-1)


@pytest.mark.parametrize("f", [np.prod, np.sum, np.max, np.min, np.nanprod, np.cumsum, np.cumprod, np.ptp])
@pytest.mark.parametrize("axis", [0, -1])
def test_reductions_of_a_number_over_an_axis(f, axis):
    """NumPy lets a number have axis 0 here."""
    x = np.array(3.0)
    assert np.shape(f(x, axis=axis)) == f(qad.tensor(x, requires_grad=True), axis=axis).shape
    assert qad.grad(lambda x: np.sum(f(x, axis=axis)))(3.0) == (0 if f is np.ptp else 1)
    assert qad.jvp(lambda x: np.sum(f(x, axis=axis)), (3.0,), (1.0,))[1] == (0 if f is np.ptp else 1)
