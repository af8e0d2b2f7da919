"""Polynomials as NumPy's old functions have them: coefficients in one array, the highest power first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import Tensor, implements, like, operand, stack_of
from qad.rules.products.series import polynomial
from qad.rules.shapes.resizing import within_zeros

if TYPE_CHECKING:
    from qad.typing import Value


def _coefficients(p: Value) -> Value:
    return np.atleast_1d(operand(p))


def _beside(p: Value, k: Value) -> Value:
    """Coefficients `k`, of the kind of `p`."""
    return _coefficients(k if type(k) is Tensor else like(p).asarray(k))


@implements(np.polyval)
def polyval(p: Value, x: Value) -> Value:
    """``np.polyval``, by Horner's rule."""
    x = operand(x)
    y = x * 0
    for c in _coefficients(p):
        y = y * x + c
    return y


implements(np.polyadd)(np.polyadd.__wrapped__)  # which NumPy writes in functions that have handlers
implements(np.polysub)(np.polysub.__wrapped__)


@implements(np.polymul)
def polymul(a1: Value, a2: Value) -> Value:
    """``np.polymul``: the convolution of the coefficients."""
    return np.convolve(_coefficients(a1), _coefficients(a2))


@implements(np.polyder)
def polyder(p: Value, m: int = 1) -> Value:
    """``np.polyder``."""
    p = _coefficients(p)
    for _ in range(m):
        p = p[:-1] * like(p).arange(len(p) - 1, 0, -1)
    return p


@implements(np.polyint)
def polyint(p: Value, m: int = 1, k: Value = None) -> Value:
    """``np.polyint``; `k` are the constants of integration."""
    p = _coefficients(p)
    k = like(p).zeros(m) if k is None else _beside(p, k)
    k = np.broadcast_to(k, (m,)) if k.size == 1 else k
    for i in range(m):
        p = np.concatenate([p / like(p).arange(len(p), 0, -1), k[i : i + 1]])
    return p


@implements(np.poly)
def poly(seq_of_zeros: Value) -> Value:
    """``np.poly``: the polynomial with these zeros, or the characteristic one of a matrix."""
    zeros = _coefficients(seq_of_zeros)
    zeros = np.linalg.eigvals(zeros) if zeros.ndim == 2 else zeros
    p = like(zeros).ones(1, zeros.dtype)
    for z in zeros:
        p = np.convolve(p, np.stack([z * 0 + 1, -z]))
    values = stack_of(zeros)
    paired = zeros.dtype.kind == "c" and np.all(np.sort(values, axis=-1) == np.sort(values.conj(), axis=-1))
    return p.real.copy() if paired else p


@implements(np.roots)
def roots(p: Value) -> Value:
    """``np.roots``: the eigenvalues of the companion matrix."""
    p = _coefficients(p)
    if p.ndim != 1:
        raise ShapeError(f"np.roots takes one vector of coefficients, not shape {p.shape}")
    first, last = within_zeros(p)
    if first == len(p):
        return like(p).zeros(0)
    q, zeros = p[first:last], like(p).zeros(len(p) - last)
    if len(q) < 2:
        return zeros
    companion = np.concatenate([(-q[1:] / q[0])[None, :], like(p).eye(len(q) - 2, len(q) - 1)])
    return np.concatenate([np.linalg.eigvals(companion), zeros])


@implements(np.vander)
def vander(x: Value, N: int | None = None, increasing: bool = False) -> Value:
    """``np.vander``: powers in columns, each from the one before."""
    x = operand(x)
    size = len(x) if N is None else N
    if not size:
        return like(x).zeros((len(x), 0), x.dtype)
    columns = [x * 0 + 1]
    for _ in range(size - 1):
        columns.append(columns[-1] * x)
    return np.stack(columns if increasing else columns[::-1], axis=1)


@implements(np.polyfit)
def polyfit(
    x: Value, y: Value, deg: int, rcond: float | None = None, full: bool = False, w: Value = None,
    cov: bool = False,
) -> Value:  # fmt: skip
    """``np.polyfit``: only the coefficients, by least squares."""
    if full or cov:
        raise ArgumentError(
            "np.polyfit of Tensors gives only the coefficients: for the covariance write np.linalg.inv(V.T @ V) of "
            "V = np.vander(x, deg + 1)"
        )
    return np.flip(polynomial.polyfit(x, y, deg, rcond, w=w), 0)
