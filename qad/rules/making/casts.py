"""Changes of dtype, and copies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, GradientTypeError
from qad.extend import ENTRIES, attach, implements, on_stack, primitive, quick_with_metadata, rule, value_of
from qad.extend.memory import buffer, in_c_order, is_number

if TYPE_CHECKING:
    from qad.typing import Cotangent, DTypeLike, Value


def cast(x: Value, dtype: DTypeLike) -> Value:
    """`x` as another float or complex dtype, copied; never from complex to real."""
    return x.astype(dtype)


def _cast_rule(g: Cotangent, y: Value, x: Value, dtype: DTypeLike) -> Cotangent:
    """Back again, through the real part where `x` is real."""
    return (g.real if x.dtype.kind == "f" else g).astype(x.dtype)


rule(cast, _cast_rule, linear=True, batch=ENTRIES, fresh=True, name="astype")
_cast = quick_with_metadata(cast)


@implements(np.copy)
def copied(a: Value, order: str = "K", subok: bool = False) -> Value:
    """``np.copy``: a buffer, which may be written into, and whose views follow."""
    return buffer(a, order == "C" or in_c_order(a))


@implements(np.astype)
def astype(x: Value, dtype: DTypeLike, /, *, copy: bool = True, device: str | None = None) -> Value:
    """``np.astype``: integers and booleans come back plain; complex to real raises."""
    old, new = x.dtype, np.dtype(dtype)
    if new.kind not in "fc":
        return on_stack(lambda values: values.astype(new), x)
    if old.kind == "c" and new.kind == "f":
        raise GradientTypeError(
            f"astype from {old} to {new} would drop the imaginary part: write x.real (and then .astype({new}))"
        )
    if not copy and old == new:
        return x
    return _cast(x, new)


def narrowed(y: Value, dtype: DTypeLike | None) -> Value:
    """The result `y` of a reduction, in the dtype that was asked for: NumPy's sums of small integers are wider."""
    return y if dtype is None or y.dtype == dtype else y.astype(dtype)


def inexact(a: Value, dtype: DTypeLike | None, name: str) -> Value:
    """`a` in the dtype that is asked for, which must be one of floats or complex numbers."""
    if dtype is None:
        return a
    if np.dtype(dtype).kind not in "fc":
        raise GradientTypeError(
            f"{name} with dtype={np.dtype(dtype)} rounds inside: write {name}(x).astype({np.dtype(dtype)})"
        )
    return np.astype(a, dtype)


@primitive(name="nan_to_num")
def replace_nonfinite(x: Value, nan: float, posinf: float | None, neginf: float | None) -> Value:
    """``np.nan_to_num``, on real and imaginary parts separately."""
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


def _replace_rule(
    g: Cotangent, y: Value, z: Value, nan: float, posinf: float | None, neginf: float | None
) -> Cotangent:
    """What was replaced is constant."""
    if z.dtype.kind != "c":
        return g * np.isfinite(z)
    return g.real * np.isfinite(z.real) + 1j * (g.imag * np.isfinite(z.imag))


rule(replace_nonfinite, _replace_rule, batch=ENTRIES, fresh=True)


@implements(np.nan_to_num)
def nan_to_num(
    x: Value, copy: bool = True, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Value:
    """``np.nan_to_num``; without `copy` it writes into `x`."""
    y = replace_nonfinite(x, nan=nan, posinf=posinf, neginf=neginf)
    if copy:
        return y
    x[...] = y
    return x


def astype_method(
    x: Value, dtype: DTypeLike, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True,
    *, device: str | None = None,
) -> Value:  # fmt: skip
    """``x.astype(...)``, whose result lies in memory as `order` says."""
    if not np.can_cast(x.dtype, dtype, casting):
        raise GradientTypeError(f"x.astype: {x.dtype} is not cast to {np.dtype(dtype)} by casting={casting!r}")
    if order != "K" and not copy:
        raise ArgumentError(
            f"x.astype(..., order={order!r}, copy=False) of a Tensor: whether it copies depends on how x lies in memory"
            "; leave copy=False out"
        )
    y = astype(x, dtype, copy=copy)
    return y if order == "K" else y.copy(order=order)


attach("astype", astype_method)


def copy_method(x: Value, order: str = "C") -> Value:
    """``x.copy()``: a buffer; of a number another one."""
    number = is_number(x) and type(value_of(x)) is not np.ndarray
    return np.positive(x) if number else buffer(x, order == "C")


attach("copy", copy_method)
