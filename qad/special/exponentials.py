"""Exponentials, logarithms and sums of them."""

from __future__ import annotations

from math import factorial
from typing import TYPE_CHECKING

import numpy as np

from qad.extend import operand, primitive, rule, value_of
from qad.rules.elementwise import logsumexp as sums
from qad.rules.elementwise.constants import LN2, LN10
from qad.rules.elementwise.functions import cbrt_slope, nonzero, table
from qad.rules.elementwise.slopes import sech
from qad.rules.reductions.axes import axes_of
from qad.special import scipys as special
from qad.special.orders import every_order, inexact

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike, Axes, Value


@primitive(name="expi")
def exp_per(x: Value) -> Value:
    """``exp(x) / x``."""
    return np.exp(x) / x


@primitive(name="log")
def log_ratio(p: Value, q: Value) -> Value:
    """``log(p / q)``, also where the quotient overflows."""
    with np.errstate(all="ignore"):
        ratio = p / q
        return np.where((ratio > 0.1) & (ratio < 10), np.log(ratio), np.log(p) - np.log(q))[()]


rule(exp_per, lambda g, y, x: g * (y * ((x - 1) / x)), elementwise=True, fresh=True)
rule(log_ratio, lambda g, y, p, q: g / p, lambda g, y, p, q: -g / q, elementwise=True, fresh=True)


def expn_slope(n: Value, x: Value) -> Value:
    """``-E_{n-1}``, which SciPy does not have below order 0: ``E_{-1} = exp(-x) (1 + x) / x^2``, DLMF 8.19.2."""
    first = np.equal(n, 0)
    u = 1 / np.where(first, x, 1.0)
    return np.where(first, -np.exp(-x) * u * (1 + u), -special.expn(np.maximum(n, 1) - 1, x))


# -- ufuncs of SciPy -----------------------------------------------------------------------------------------
table(special.exp2, lambda g, y, x: g * (LN2(y) * y))
table(special.exp10, lambda g, y, x: g * (LN10(y) * y))
table(special.expm1, lambda g, y, x: g * np.exp(x))
table(special.log1p, lambda g, y, x: g / (1 + x))
table(special.cbrt, cbrt_slope)
table(special.cosm1, lambda g, y, x: g * -np.sin(x))
table(special.expi, lambda g, y, x: g * exp_per(x))
table(special.exp1, lambda g, y, x: g * exp_per(-x))
table(special.expn, None, lambda g, y, n, x: g * expn_slope(n, x))
table(special.expit, lambda g, y, x: g * (0.25 * sech(0.5 * x) ** 2))
table(special.log_expit, lambda g, y, x: g * special.expit(-x))
table(special.logit, lambda g, y, p: g * (1 / p + 1 / (1 - p)))
table(special.xlogy, lambda g, y, a, b: g * np.log(b), lambda g, y, a, b: g * (a / nonzero(b)))
table(special.xlog1py, lambda g, y, a, b: g * np.log1p(b), lambda g, y, a, b: g * (a / nonzero(1 + b)))
table(special.entr, lambda g, y, x: -g * (np.log(x) + 1))
table(special.rel_entr, lambda g, y, p, q: g * (log_ratio(p, q) + 1), lambda g, y, p, q: -g * (p / q))
table(special.kl_div, lambda g, y, p, q: g * log_ratio(p, q), lambda g, y, p, q: g * (1 - p / q))
table(special.exprel, lambda g, y, x: g * exprel_derivative(x, order=1))


# -- (exp(x) - 1) / x ----------------------------------------------------------------------------------------
@every_order("exprel")
def exprel_derivative(x: Value, order: int) -> Value:
    """The derivative of `exprel` of the given order, ``F_n = int_0^1 t^n exp(t x) dt``.

    ``F_n = (exp(x) - n F_{n-1}) / x`` far from 0; near it that loses digits, and the power series is summed instead.
    """
    small = abs(x) <= 2 + order
    far = np.where(small, 40.0, x)
    with np.errstate(over="ignore", invalid="ignore"):
        y, growth = np.expm1(far) / far, np.exp(far)
        for n in range(1, order + 1):
            y = np.where(np.isfinite(y), (growth - n * y) / far, growth)
    near, series = np.where(small, x, 0.0), 0.0
    for k in reversed(range(40 + 2 * order)):
        series = series * near + 1 / (factorial(k) * (k + order + 1))
    return np.where(small, series, y)


def exprel(x: ArrayLike) -> Array:
    """``(exp(x) - 1) / x``, exact at 0, of real and complex numbers.

    Parameters
    ----------
    x : array_like
        Real or complex, of any shape.

    Returns
    -------
    ndarray or scalar of the dtype of `x`

    Notes
    -----
    Its derivatives are ``int_0^1 t^n exp(t x) dt``: by the power series near 0, by recursion far from it.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(qad.special.exprel)(0.0)
    np.float64(0.5)
    """
    return exprel_derivative(inexact(x), order=0)


# -- Lambert's function --------------------------------------------------------------------------------------
@primitive(name="lambertw")
def lambertw_branch(z: Value, *, k: int) -> Value:
    """Branch `k` of Lambert's function."""
    return special.lambertw(z, k)


rule(lambertw_branch, lambda g, y, z, k: g / (np.exp(y) * (1 + y)), elementwise=True, fresh=True)


def lambertw(z: ArrayLike, k: int = 0) -> Array:
    """The solution w of ``w exp(w) = z``, on branch `k`; complex, as SciPy's.

    Parameters
    ----------
    z : array_like
        Real or complex, of any shape.
    k : int
        The branch.

    Returns
    -------
    ndarray or scalar, complex

    Notes
    -----
    ``w' = 1 / (exp(w) (1 + w))``, from the equation itself.

    Examples
    --------
    >>> import numpy as np, qad
    >>> w = qad.special.lambertw(1.0)
    >>> abs(w * np.exp(w) - 1) < 1e-15
    np.True_
    """
    return lambertw_branch(inexact(z), k=k)


# -- sums of exponentials ------------------------------------------------------------------------------------
def logsumexp(a: ArrayLike, axis: Axes = None, b: ArrayLike | None = None, keepdims: bool = False) -> Array:
    """``log(sum(b exp(a)))`` without overflow, of real and complex numbers.

    Parameters
    ----------
    a : array_like
        Real or complex, of any shape.
    axis : int or tuple of int, optional
        The axes to sum over; all of them by default.
    b : array_like, optional
        Weights that broadcast with `a`; a negative sum of real terms has no logarithm and gives NaN.
    keepdims : bool
        Whether the reduced axes stay, of size 1.

    Returns
    -------
    ndarray or scalar

    Notes
    -----
    The derivative is the softmax. Without `b` this is `qad.logsumexp`.

    Examples
    --------
    >>> import numpy as np, qad
    >>> float(qad.special.logsumexp(np.array([1000.0, 1000.0]), b=np.array([1.0, 3.0])))
    1001.3862943611199
    """
    if b is None:
        return sums.logsumexp(operand(a), axis=axis, keepdims=keepdims)
    a, b = np.broadcast_arrays(operand(a), operand(b))
    m = sums.largest_real(value_of(a), axis)
    y = np.log(np.sum(b * np.exp(a - m), axis=axis, keepdims=True)) + m
    return y if keepdims else np.squeeze(y, axes_of(axis, a.ndim))


def softmax(x: ArrayLike, axis: Axes = None) -> Array:
    """``exp(x) / sum(exp(x))`` without overflow.

    Parameters
    ----------
    x : array_like
        Real or complex, of any shape.
    axis : int or tuple of int, optional
        The axes to sum over; all of them by default.

    Returns
    -------
    ndarray of the shape of `x`

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.special.softmax(np.array([1000.0, 1000.0]))
    array([0.5, 0.5])
    """
    return _softmax(inexact(x), axis=axis)


def log_softmax(x: ArrayLike, axis: Axes = None) -> Array:
    """The logarithm of `softmax`.

    Parameters
    ----------
    x : array_like
        Real or complex, of any shape.
    axis : int or tuple of int, optional
        The axes to sum over; all of them by default.

    Returns
    -------
    ndarray of the shape of `x`

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.special.log_softmax(np.array([0.0, 0.0]))
    array([-0.69314718, -0.69314718])
    """
    x = inexact(x)
    return x - sums.logsumexp(x, axis=axis, keepdims=True)


@primitive(name="softmax")
def _softmax(x: Value, axis: Axes = None) -> Value:
    e = np.exp(x - sums.largest_real(x, axis))
    return e / e.sum(axis=axis, keepdims=True)


rule(_softmax, sums.softmax_rule, forward=sums.softmax_rule, fresh=True)
