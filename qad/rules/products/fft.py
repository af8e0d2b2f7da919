"""Fourier transforms, with every ``n``, ``axis`` and ``norm``.

The matrix F of a transform is symmetric, so in the unconjugated inside convention its adjoint is F itself, applied
to the cotangent padded or cut to the transform's length.  Transforms of several axes, the Hermitian ones and the
shifts are composed of ``fft``, ``ifft``, ``rfft``, ``irfft`` (and ``roll``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from qad.core.errors import ArgumentError
from qad.extend import AXIS, implements, like, primitive, refuse_out, rule
from qad.rules.reductions.axes import axes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.typing import Cotangent, Function, Rule, Value

_INVERSE = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def fit(x: Value, n: int, axis: int) -> Value:
    """`x` cut, or padded with zeros at the end, to length `n` along an axis."""
    have = x.shape[axis]
    if have == n:
        return x
    x = np.moveaxis(x, axis, -1)
    if have > n:
        x = x[..., :n]
    else:
        x = np.concatenate([x, like(x).zeros((*x.shape[:-1], n - have), x.dtype)], axis=-1)
    return np.moveaxis(x, -1, axis)


def _primitive(fn: Function) -> Function:
    """A primitive of the four transforms of one axis; `n` counts points of the time domain and is always given."""

    def transform(x, n, axis, norm):
        return fn(x if x.shape[axis] else fit(x, 1, axis), n, axis, norm)  # NumPy's irfft makes chance of nothing

    transform.__name__ = fn.__name__
    transform.__qualname__ = f"{fn.__name__}_along"  # by which stored programs name it
    return primitive(transform)


fft_along: Function = _primitive(np.fft.fft)
ifft_along: Function = _primitive(np.fft.ifft)
rfft_along: Function = _primitive(np.fft.rfft)
irfft_along: Function = _primitive(np.fft.irfft)


def _symmetric(transform: Function) -> Rule:
    def rule(g, y, x, n, axis, norm):
        return fit(transform(g, n=n, axis=axis, norm=norm), x.shape[axis], axis)

    return rule


def _rfft_rule(g: Cotangent, y: Value, x: Value, n: int, axis: int, norm: str | None) -> Cotangent:
    """The first half of the rows of F."""
    return fit(fft_along(g, n=n, axis=axis, norm=norm).real, x.shape[axis], axis)


def _irfft_rule(g: Cotangent, y: Value, x: Value, n: int, axis: int, norm: str | None) -> Cotangent:
    """Each entry stands for itself and its conjugate, but the first and (n even) the last."""
    c = rfft_along(g, n=n, axis=axis, norm=_INVERSE[norm]).conj()
    weights = like(c).full(n // 2 + 1, 2, y.dtype)
    weights[0] = 1
    if n % 2 == 0:
        weights[-1] = 1
    c = c * weights.reshape((-1,) + (1,) * (y.ndim - 1 - axis % y.ndim))
    return fit(c, x.shape[axis], axis)


rule(fft_along, _symmetric(fft_along), linear=True, batch=AXIS)
rule(ifft_along, _symmetric(ifft_along), linear=True, batch=AXIS)
rule(rfft_along, _rfft_rule, linear=True, batch=AXIS)
rule(irfft_along, _irfft_rule, linear=True, batch=AXIS)


# -- NumPy's names -------------------------------------------------------------------------------------------
def _along(transform: Function, name: str, points: Callable[[int], int]) -> Function:
    """A handler of the signature of ``np.fft.fft``; `points` counts them in the time domain by default."""

    def handler(a, n=None, axis=-1, norm=None, out=None):
        refuse_out(out, f"np.fft.{name}")
        n = points(a.shape[normalize_axis_index(axis, a.ndim)]) if n is None else n
        return transform(a, n=n, axis=axis, norm=norm)

    return handler


fft: Function = implements(np.fft.fft)(_along(fft_along, "fft", lambda m: m))
ifft: Function = implements(np.fft.ifft)(_along(ifft_along, "ifft", lambda m: m))
rfft: Function = implements(np.fft.rfft)(_along(rfft_along, "rfft", lambda m: m))
irfft: Function = implements(np.fft.irfft)(_along(irfft_along, "irfft", lambda m: 2 * (m - 1)))


@implements(np.fft.hfft)
def hfft(a: Value, n: int | None = None, axis: int = -1, norm: str | None = None, out: object = None) -> Value:
    """``np.fft.hfft``: of the half of a Hermitian-symmetric signal."""
    return irfft(a if a.dtype.kind == "b" else np.conjugate(a), n, axis, _INVERSE[norm], out)


@implements(np.fft.ihfft)
def ihfft(a: Value, n: int | None = None, axis: int = -1, norm: str | None = None, out: object = None) -> Value:
    """``np.fft.ihfft``."""
    return rfft(a, n, axis, _INVERSE[norm], out).conj()


def _sizes(a: Value, s: Sequence[int | None] | None, axes: Sequence[int] | None) -> list[tuple[int | None, int]]:
    """Pairs of length (None: as it is) and axis."""
    if axes is None:
        axes = range(-(a.ndim if s is None else len(s)), 0)
    s = (None,) * len(axes) if s is None else tuple(None if n == -1 else n for n in s)
    if len(s) != len(axes):
        raise ArgumentError(f"s has {len(s)} lengths for {len(axes)} axes: give one each")
    return list(zip(s, axes, strict=True))


def _fftn(first: Function, others: Function, real_last: bool, name: str, default: tuple[int, int] | None) -> Function:
    """Over several axes: `first` over the last axis (at the end if `real_last`), `others` over the rest."""

    def handler(a, s=None, axes=default, norm=None, out=None):
        refuse_out(out, f"np.fft.{name}")
        *rest, last = _sizes(a, s, axes)
        if not real_last:
            a = first(a, last[0], last[1], norm)
        for n, axis in reversed(rest):
            a = others(a, n, axis, norm)
        return first(a, last[0], last[1], norm) if real_last else a

    return handler


for _name, _first, _others in (("fft", fft, fft), ("ifft", ifft, ifft), ("rfft", rfft, fft), ("irfft", irfft, ifft)):
    for _end, _default in (("2", (-2, -1)), ("n", None)):
        _fn = getattr(np.fft, _name + _end)
        implements(_fn)(_fftn(_first, _others, _name == "irfft", _name + _end, _default))


def _shift(sign: int) -> Function:
    def handler(x, axes=None):
        axes = axes_of(tuple(axes) if np.iterable(axes) else axes, x.ndim)
        return np.roll(x, tuple(sign * (x.shape[a] // 2) for a in axes), axes)

    return handler


fftshift: Function = implements(np.fft.fftshift)(_shift(1))
ifftshift: Function = implements(np.fft.ifftshift)(_shift(-1))
