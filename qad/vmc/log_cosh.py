"""``log cosh``, the activation of Boltzmann machines, in real arithmetic: NumPy's complex functions cost far more.

With ``z = x + iy``, ``T = tanh x`` and ``t = tan y``, ``cosh z = cosh x cos y (1 + i T t)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import primitive, rule

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike, Value


@primitive
def log_cosh(z: ArrayLike) -> Array:
    """The logarithm of ``cosh z``, elementwise, for every size of z.

    Parameters
    ----------
    z : array_like
        Real or complex, of any shape.

    Returns
    -------
    array
        Of its shape and dtype.

    Notes
    -----
    The imaginary part goes on as that of z does, beyond pi, so that it does not jump on the way to large real parts.
    It is -inf where the cosine of an imaginary number is zero.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.vmc.log_cosh(np.array([0.0, -1000.0])).round(6)
    array([  0.      , 999.306853])
    >>> bool(np.isclose(np.exp(qad.vmc.log_cosh(1 + 2j)), np.cosh(1 + 2j)))
    True
    """
    z = np.asarray(z)
    x = np.abs(z.real)
    size = x + np.log1p(np.exp(-2 * x)) - np.log(2)
    if z.dtype.kind != "c":
        return size
    t = np.tan(z.imag.copy())  # parts that lie apart take thrice the time
    turned = t * np.tanh(z.real.copy())
    found = np.empty_like(z)
    with np.errstate(divide="ignore"):
        found.real = size + 0.5 * np.log((1 + turned * turned) / (1 + t * t))
    found.imag = np.arctan(turned) + np.pi * np.rint(z.imag / np.pi)
    return found


@primitive
def tanh(z: Value) -> Value:
    """The hyperbolic tangent, the derivative of `log_cosh`; NumPy's takes long for complex numbers, too."""
    if z.dtype.kind != "c":
        return np.tanh(z)
    t, x = np.tan(z.imag.copy()), np.tanh(z.real.copy())
    square = t * t
    found = np.empty_like(z)
    below = 1 + x * x * square
    found.real = x * (1 + square) / below
    found.imag = t * (1 - x * x) / below
    return found


rule(log_cosh, lambda g, y, z: g * tanh(z), elementwise=True, fresh=True)
rule(tanh, lambda g, y, z: g * (1 - y * y), elementwise=True, fresh=True)
