"""Gates of one qubit on a chunk of real and imaginary parts.

A gate on bit p of the index mixes entries k and k + 2^p of every row of 2^(p+1).  For the lowest bits such rows are
shorter than a vector register; their length is then a constant of the kernel, which the compiler unrolls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import numpy as np

Kernel: TypeAlias = Callable[..., Any]  # a function that is compiled: its numbers take the type of what it is given


def real_of(fixed: int) -> Kernel:
    """A real matrix on real (or imaginary) parts."""

    def kernel(x, stride, a, b, c, d):
        h = fixed if fixed else stride
        for s in range(x.size // (2 * h)):
            for k in range(2 * h * s, 2 * h * s + h):
                u, w = x[k], x[k + h]
                x[k] = a * u + b * w
                x[k + h] = c * u + d * w

    return kernel


def complex_of(fixed: int) -> Kernel:
    """A complex matrix of real parts a to d and imaginary parts e to q."""

    def kernel(x, y, stride, a, b, c, d, e, f, g, q):
        h = fixed if fixed else stride
        for s in range(x.size // (2 * h)):
            for k in range(2 * h * s, 2 * h * s + h):
                u, w, v, z = x[k], x[k + h], y[k], y[k + h]
                x[k] = a * u - e * v + b * w - f * z
                y[k] = a * v + e * u + b * z + f * w
                x[k + h] = c * u - g * v + d * w - q * z
                y[k + h] = c * v + g * u + d * z + q * w

    return kernel


def pairings_of(fixed: int) -> Kernel:
    """The four sums of products of the entries of two real arrays."""

    def kernel(y, x, stride):
        h = fixed if fixed else stride
        aa = ab = ba = bb = 0.0
        for s in range(x.size // (2 * h)):
            for k in range(2 * h * s, 2 * h * s + h):
                aa += y[k] * x[k]
                ab += y[k] * x[k + h]
                ba += y[k + h] * x[k]
                bb += y[k + h] * x[k + h]
        return aa, ab, ba, bb

    return kernel


def paired_of(fixed: int) -> Kernel:
    """A real matrix on parts of the state and of its cotangent; sums of products of this and of that."""

    def kernel(x, e, stride, a, b, c, d):
        h = fixed if fixed else stride
        aa = ab = ba = bb = 0.0
        for s in range(x.size // (2 * h)):
            for k in range(2 * h * s, 2 * h * s + h):
                u, w, p, q = x[k], x[k + h], e[k], e[k + h]
                y, z = a * u + b * w, c * u + d * w
                aa += p * y
                ab += p * z
                ba += q * y
                bb += q * z
                x[k], x[k + h] = y, z
                e[k], e[k + h] = a * p + b * q, c * p + d * q
        return aa, ab, ba, bb

    return kernel


def phases_of(fixed: int) -> Kernel:
    """The diagonal matrix of entries a + i b and c + i d."""

    def kernel(x, y, stride, a, b, c, d):
        h = fixed if fixed else stride
        for s in range(x.size // (2 * h)):
            for k in range(2 * h * s, 2 * h * s + h):
                u, w, v, z = x[k], x[k + h], y[k], y[k + h]
                x[k] = a * u - b * v
                y[k] = a * v + b * u
                x[k + h] = c * w - d * z
                y[k + h] = c * z + d * w

    return kernel


class RowKernels(NamedTuple):
    """The kernels for rows of one length."""

    real: Kernel
    complex: Kernel
    pairings: Kernel
    paired: Kernel
    phases: Kernel


def rows_of(fixed: int) -> RowKernels:
    """The kernels for rows of `fixed` pairs, or, where that is 0, of a number given at run time."""
    return RowKernels(real_of(fixed), complex_of(fixed), pairings_of(fixed), paired_of(fixed), phases_of(fixed))


ANY: RowKernels = rows_of(0)
ONE: RowKernels = rows_of(1)
TWO: RowKernels = rows_of(2)
FOUR: RowKernels = rows_of(4)


def apply_real(re: np.ndarray, im: np.ndarray, bit: int, a: float, b: float, c: float, d: float) -> None:
    """A real matrix on one bit of a chunk."""
    for part in (re, im):
        if bit == 0:
            ONE.real(part, 1, a, b, c, d)
        elif bit == 1:
            TWO.real(part, 2, a, b, c, d)
        elif bit == 2:
            FOUR.real(part, 4, a, b, c, d)
        else:
            ANY.real(part, 1 << bit, a, b, c, d)


def apply_complex(
    re: np.ndarray, im: np.ndarray, bit: int, a: float, b: float, c: float, d: float, e: float, f: float, g: float,
    q: float,
) -> None:  # fmt: skip
    """A complex matrix on one bit of a chunk."""
    if bit == 0:
        ONE.complex(re, im, 1, a, b, c, d, e, f, g, q)
    elif bit == 1:
        TWO.complex(re, im, 2, a, b, c, d, e, f, g, q)
    elif bit == 2:
        FOUR.complex(re, im, 4, a, b, c, d, e, f, g, q)
    else:
        ANY.complex(re, im, 1 << bit, a, b, c, d, e, f, g, q)


def apply_phases(re: np.ndarray, im: np.ndarray, bit: int, a: float, b: float, c: float, d: float) -> None:
    """A diagonal matrix on one bit of a chunk."""
    if bit == 0:
        ONE.phases(re, im, 1, a, b, c, d)
    elif bit == 1:
        TWO.phases(re, im, 2, a, b, c, d)
    elif bit == 2:
        FOUR.phases(re, im, 4, a, b, c, d)
    else:
        ANY.phases(re, im, 1 << bit, a, b, c, d)


def pairings(left: np.ndarray, right: np.ndarray, bit: int) -> tuple[float, float, float, float]:
    """Sums over a chunk of left[.., i, ..] right[.., j, ..] for the values i, j of one bit."""
    if bit == 0:
        return ONE.pairings(left, right, 1)
    if bit == 1:
        return TWO.pairings(left, right, 2)
    if bit == 2:
        return FOUR.pairings(left, right, 4)
    return ANY.pairings(left, right, 1 << bit)


def paired(
    state: np.ndarray, dual: np.ndarray, bit: int, a: float, b: float, c: float, d: float
) -> tuple[float, float, float, float]:
    """A real matrix on one bit of parts of the state and of its cotangent, and the sums of products."""
    if bit == 0:
        return ONE.paired(state, dual, 1, a, b, c, d)
    if bit == 1:
        return TWO.paired(state, dual, 2, a, b, c, d)
    if bit == 2:
        return FOUR.paired(state, dual, 4, a, b, c, d)
    return ANY.paired(state, dual, 1 << bit, a, b, c, d)


def take_back_real(
    re: np.ndarray, im: np.ndarray, lr: np.ndarray, li: np.ndarray, bit: int, vr: np.ndarray, start: int,
    slopes: np.ndarray,
) -> None:  # fmt: skip
    """Take a real matrix back from both chunks in one pass; the cotangents of its entries are added to `slopes`."""
    for state, dual in ((re, lr), (im, li)):
        sums = paired(state, dual, bit, vr[start], vr[start + 1], vr[start + 2], vr[start + 3])
        for k, total in enumerate(sums):
            slopes[start + k, 0] += total


def reduce_complex(
    lr: np.ndarray, li: np.ndarray, re: np.ndarray, im: np.ndarray, bit: int, slopes: np.ndarray, start: int
) -> None:
    """Add the complex cotangents of the matrix's entries to `slopes` (E, 2)."""
    same, other = pairings(lr, re, bit), pairings(li, im, bit)
    ahead, behind = pairings(lr, im, bit), pairings(li, re, bit)
    for k, (x, y, u, v) in enumerate(zip(same, other, ahead, behind)):  # noqa: B905 (kernels know no keywords)
        slopes[start + k, 0] += x + y
        slopes[start + k, 1] += u - v
