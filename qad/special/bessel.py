"""Bessel and Airy functions: holomorphic in the argument, with constant order."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from qad.extend import primitive, rule
from qad.rules.elementwise.functions import table
from qad.special import scipys as special

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Cotangent, Function, Value

_SMALL = 1e-9  # up to here two terms of the power series have all digits


def _of_order(f: Function, lower: float, higher: float) -> None:
    """``f_v' = (lower f_{v-1} + higher f_{v+1}) / 2``: Abramowitz and Stegun 9.1.27 and 9.6.26."""
    of = {special.iv: _iv, special.yv: _yv}.get(f, partial(_reflected, f))
    for function in (f,) if isinstance(of, partial) else (f, of):
        table(function, None, lambda g, y, v, z: g * (0.5 * lower * of(v - 1, z) + 0.5 * higher * of(v + 1, z)))


def _reflected(f: Function, v: Value, z: Value) -> Value:
    """``f_v``, for whole negative v by reflection: SciPy loses small arguments there."""
    odd = 1 if f in (special.iv, special.kv) else -1
    whole = (v < 0) & (v == np.rint(v))
    return f(np.where(whole, -v, v)[()], z) * np.where(whole & (v % 2 == 1), odd, 1)[()]


@primitive(name="iv")
def _iv(v: Value, z: Value) -> Value:
    """``iv``, which SciPy gives as 0 or NaN at small arguments: by two terms of the power series."""
    small = abs(z) < _SMALL
    order = np.where((v < 0) & (v == np.rint(v)), -v, v)[()]
    with np.errstate(all="ignore"):
        half = 0.5 * np.where(small, z, 1.0)
        series = half**order * (special.rgamma(order + 1) + half * half * special.rgamma(order + 2))
    return np.where(small, series, _reflected(special.iv, v, np.where(small, 1.0, z)))[()]


@primitive(name="yv")
def _yv(v: Value, z: Value) -> Value:
    """``yv``, for half a negative odd v by ``Y_{-n-1/2} = (-1)^n J_{n+1/2}``, where SciPy's is infinite near 0."""
    n = -v - 0.5
    half = (n >= 0) & (n == np.rint(n))
    y = _reflected(special.yv, v, z)
    return np.where(half, np.where(n % 2 == 1, -1, 1) * special.jv(np.where(half, -v, 0.5), z), y)[()]


for _f in (special.jv, special.yv, special.hankel1, special.hankel2):
    _of_order(_f, 1, -1)
_of_order(special.iv, 1, 1)
_of_order(special.kv, -1, -1)

table(special.j0, lambda g, y, x: -g * special.j1(x))
table(special.y0, lambda g, y, x: -g * special.y1(x))
table(special.i0, lambda g, y, x: g * special.i1(x))
table(special.k0, lambda g, y, x: -g * special.k1(x))
table(special.j1, lambda g, y, x: g * (0.5 * (special.j0(x) - special.jv(2, x))))
table(special.y1, lambda g, y, x: g * (0.5 * (special.y0(x) - special.yv(2, x))))
table(special.i1, lambda g, y, x: g * (0.5 * (special.i0(x) + _iv(2.0, x))))
table(special.k1, lambda g, y, x: g * (-0.5 * (special.k0(x) + special.kv(2, x))))


def _airy_rule(needed: Sequence[int], g: Sequence[Cotangent | None], y: tuple[Value, ...], z: Value) -> list[Cotangent]:
    """``Ai'' = z Ai``, and so for Bi."""
    ai, aip, bi, bip = y
    parts = zip(g, (aip, z * ai, bip, z * bi), strict=True)
    return [sum(part * slope for part, slope in parts if part is not None)]


rule(special.airy, shared=_airy_rule, fresh=True)
