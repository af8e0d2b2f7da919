"""`logsumexp`, and the softmax, which is its derivative."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import AXIS, as_array, primitive, rule, unrecorded
from qad.rules.elementwise.functions import nonzero
from qad.rules.reductions.axes import axes_of
from qad.rules.reductions.reduce import weighted

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike, Axes, Cotangent, Value


@primitive
def logsumexp(x: ArrayLike, axis: Axes = None, keepdims: bool = False) -> Array:
    """Logarithm of a sum of exponentials, without overflow.

    Parameters
    ----------
    x : array_like
        Real or complex, of any shape.
    axis : int or tuple of int, optional
        The axes to sum over; all of them by default.
    keepdims : bool
        Whether the reduced axes stay, of size 1.

    Returns
    -------
    ndarray or scalar
        ``m + log(sum(exp(x - m)))`` with m the largest real part: of the dtype of `x`, and on the principal
        branch of the logarithm up to the imaginary part of m, which is 0. It is -inf for an empty sum of
        zeros (all x = -inf).

    Examples
    --------
    >>> import numpy as np, qad
    >>> float(qad.logsumexp(np.array([1000.0, 1000.0])))
    1000.6931471805599
    """
    x = as_array(x)
    m = largest_real(x, axis)
    with np.errstate(divide="ignore"):
        y = np.log(np.exp(x - m).sum(axis=axis, keepdims=True)) + m
    return y if keepdims else y.reshape([n for i, n in enumerate(x.shape) if i not in axes_of(axis, x.ndim)])[()]


@primitive(name="softmax")
def softmax_over(x: Value, axis: Axes = None) -> Value:
    """``exp(x) / sum(exp(x))``, which is ``exp(x - logsumexp(x))`` without cancellation; 0 where all x are -inf."""
    m = largest_real(x, axis)
    e = np.exp(x - m)
    return e / nonzero(e.sum(axis=axis, keepdims=True))


def largest_real(x: Value, axis: Axes) -> Value:
    """The largest real part, 0 where that is infinite, or that of nothing."""
    if not x.size:
        return x.real.sum(axis=axis, keepdims=True)
    m = x.real.max(axis=axis, keepdims=True)
    finite = np.isfinite(m)
    return m if type(finite) is np.ndarray and finite.all() else np.where(finite, m, 0)


def softmax_rule(g: Cotangent, p: Value, x: Value, axis: Axes = None) -> Cotangent:
    """``p (g - sum(p g))``, with `g` counted from where p is largest: ``1 - p`` would lose its digits there."""
    if not x.size:
        return g * p
    size = np.absolute(unrecorded(p))
    first = size == np.max(size, axis=axis, keepdims=True)
    d = g - np.sum(g * first, axis=axis, keepdims=True) / np.sum(first, axis=axis, keepdims=True)
    return p * (d - np.sum(p * d, axis=axis, keepdims=True))


rule(softmax_over, softmax_rule, forward=softmax_rule, batch=AXIS, fresh=True)


weighted(logsumexp, lambda y, x, axis, keepdims: (softmax_over(x, axis=axis), 1))
