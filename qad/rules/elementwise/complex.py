"""Functions of complex numbers that are not holomorphic, right at zero.

Where the answer is real its cotangent g is real too, and a rule ``g * w`` means ``dy = Re(w dz)``; forward mode
then takes the real part of the same product, so such rules are flagged elementwise as well.
Derivatives at z = 0, where there is a kink: abs, angle and sign take 0.  `abs2` is smooth there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import (
    ENTRIES,
    One,
    Tensor,
    attach,
    implements,
    primitive,
    quick,
    rule,
    same_root,
    square_of_root,
    stack_of,
    value_of,
)
from qad.extend.memory import held
from qad.rules.elementwise.constants import RADIAN
from qad.rules.elementwise.functions import nonzero, per_size, table, zero
from qad.rules.elementwise.slopes import cosine

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike, Cotangent, Tangent, Value


@primitive(name="abs2")
def square_of_size(z: Value) -> Value:
    """What `abs2` records."""
    return np.multiply(z, np.conjugate(z)).real


rule(square_of_size, lambda g, y, z: g * (2 * z.conj()), elementwise=True, fresh=True)
_abs2 = quick(square_of_size)


def abs2(z: ArrayLike) -> Array:
    """Absolute square ``|z|^2``, elementwise and real, with the right derivatives at zero to every order.

    Parameters
    ----------
    z : array_like
        Real or complex, of any shape.

    Returns
    -------
    ndarray of the real dtype that belongs to `z`, of its shape

    Notes
    -----
    ``d|z|^2 = 2 Re(conj(z) dz)``, so that the gradient of ``abs2(z).sum()`` is ``2 z``. The square of an absolute
    value, ``abs(z) ** 2``, ``abs(z) * abs(z)``, ``np.square(abs(z))`` and so on, is recorded as this function; other
    functions of ``abs(z)`` take second derivative 0 at z = 0, where the root has a kink.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.abs2(np.array([3 + 4j]))
    array([25.])
    """
    if type(z) is Tensor:
        return _abs2(z)
    y = square_of_size(z)
    own = y.base is None if type(y) is np.ndarray else not hasattr(y, "__qad_array__")
    return y if own else y.copy(order="K")  # without the gaps that a real part has


def real_part(z: Value) -> Value:
    """``z.real`` as a function."""
    return z.real


def imag_part(z: Value) -> Value:
    """``z.imag`` as a function."""
    return z.imag


@primitive(name="direction")
def direction(z: Value, r: Value) -> Value:
    """``conj(z) / |z|``, given ``r = |z|``, for which NumPy's sign takes long."""
    return per_size(z.conj(), r)


def _turned(g: Cotangent, u: Value, z: Value, r: Value) -> Cotangent:
    """``du = -i u Im(u dz) / |z|``, a turn; all of it is the derivative in z, for r is no variable of its own."""
    return -1j * u * (g * u).imag / nonzero(r)


rule(direction, _turned, zero, forward=(_turned, zero), batch=ENTRIES, fresh=True)


def _size_rule(g: Cotangent, y: Value, z: Value) -> Cotangent:
    """``d|z| = Re(conj(z) dz) / |z|``."""
    return g * (direction(z, y) if z.dtype.kind == "c" else np.sign(z))


rule(real_part, lambda g, y, z: g, linear=True, batch=ENTRIES, shows="real", lazy=(One,), name="real")
rule(imag_part, lambda g, y, z: g * -1j, linear=True, batch=ENTRIES, shows="imag", fresh=True, name="imag")
rule(np.conjugate, lambda g, y, z: g.conj(), linear=True, batch=ENTRIES)


def _absolute_squared(x: Value) -> Value:
    """``|x|^2``, also where `x` is an absolute value itself."""
    square = square_of_root(x)
    return abs2(x) if square is None else square


def _sum_of_squares(x: Value, y: Value) -> Value:
    return abs2(x) + abs2(y)


table(np.absolute, _size_rule, root=_absolute_squared)
table(np.fabs, lambda g, y, x: g * np.sign(x), root=_absolute_squared)
table(np.hypot, lambda g, y, a, b: g * cosine(a, b), lambda g, y, a, b: g * cosine(b, a), root=_sum_of_squares)


def _angle_rule(g: Cotangent, y: Value, z: Value, deg: bool = False) -> Cotangent:
    """``d arg z = Im(dz / z)``."""
    return g * ((RADIAN(z) if deg else 1.0) * -1j) * (z != 0) / nonzero(z)


def _sign_rule(g: Cotangent, y: Value, z: Value) -> Cotangent:
    """``s = z / |z|: ds = i s Im(conj(s) dz) / |z|``; steps where z is real."""
    if z.dtype.kind != "c":
        return g * 0
    return 1j * y.conj() * (g * y).imag / nonzero(np.absolute(z))


def _sign_forward(t: Tangent, y: Value, z: Value) -> Tangent:
    if z.dtype.kind != "c":
        return t * 0
    return 1j * y * (y.conj() * t).imag / nonzero(np.absolute(z))


rule(np.angle, _angle_rule, elementwise=True, fresh=True)
rule(np.sign, _sign_rule, forward=_sign_forward, batch=ENTRIES, fresh=True)

_real, _imag, _conj = quick(real_part), quick(imag_part), quick(np.conjugate)
_sign, _absolute = quick(np.sign), quick(np.absolute)
_square = quick(np.square, operator=lambda x: x * x)


@implements(np.real)
def real(val: Tensor) -> Value:
    """The real part; a real Tensor is its own."""
    return _real(val) if val.value.dtype.kind == "c" else val


@implements(np.imag)
def imag(val: Tensor) -> Value:
    """The imaginary part; plain zeros for a real Tensor."""
    return _imag(val) if val.value.dtype.kind == "c" else value_of(val).imag


@implements(np.conjugate)
def conj(x: Tensor) -> Value:
    """The complex conjugate; of a real Tensor a copy."""
    if x.value.dtype.kind == "c":
        return _conj(x)
    return held(x) if x.shape and not x.is_leaf else np.positive(x)


def conj_method(x: Tensor) -> Value:
    """The complex conjugate; a real Tensor is its own, as an array is."""
    return _conj(x) if x.value.dtype.kind == "c" else x


@implements(np.sign)
def sign(x: Tensor) -> Value:
    """``z / |z|`` of complex numbers; steps without derivative of real ones."""
    return _sign(x) if x.value.dtype.kind == "c" else np.sign(value_of(x))


@implements(np.square)
def square(x: Tensor) -> Value:
    """``x * x``; the square of an absolute value is `abs2`, which is smooth at zero."""
    smooth = square_of_root(x)
    return _square(x) if smooth is None else smooth


def _product(x: Value, y: Value) -> Value | None:
    """The square that a product is, or None: of one Tensor, or of two that are the absolute values of one."""
    if x is y:
        if type(x) is not Tensor or (x.node is None and x.dtype.kind == "b"):  # whose square is a number
            return None
        return square(x)
    return square_of_root(x) if type(x) is type(y) is Tensor and same_root(x, y) else None


table(np.multiply, lambda g, y, a, b: g * b, lambda g, y, a, b: g * a, canonical=_product)


@implements(np.real_if_close)
def real_if_close(a: Tensor, tol: float = 100) -> Value:
    """The real part if all imaginary parts are close to zero, else `x` itself."""
    return real(a) if np.isrealobj(np.real_if_close(stack_of(a), tol)) else a


attach("real", real, property=True)
attach("imag", imag, property=True)
attach("conj", conj_method)
attach("conjugate", conj_method)
attach("__abs__", _absolute)
