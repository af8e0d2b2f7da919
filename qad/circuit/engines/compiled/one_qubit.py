"""Gates of one qubit on a chunk of real and imaginary parts.

A gate on bit p of the index mixes entries k and k + h of every row of 2 h, where h = 2^p.  For the lowest bits such
rows are shorter than a vector register; their length is then a constant of the kernel, which the compiler unrolls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np

    Parts: TypeAlias = tuple[np.ndarray, ...]  # real or imaginary parts of a chunk
    Entries: TypeAlias = tuple[float, ...]  # of the matrix, row by row


def in_rows(kernel: Callable[[int, Parts, Entries], Any], bit: int, parts: Parts, entries: Entries) -> Any:
    """What a kernel gives for gates on this bit."""
    if bit == 0:
        return kernel(1, parts, entries)
    if bit == 1:
        return kernel(2, parts, entries)
    if bit == 2:
        return kernel(4, parts, entries)
    if bit == 3:
        return kernel(8, parts, entries)
    return kernel(1 << bit, parts, entries)


def real(h: int, parts: Parts, entries: Entries) -> int:
    """A real matrix on real (or imaginary) parts."""
    (x,), (a, b, c, d) = parts, entries
    for s in range(x.size // (2 * h)):
        for k in range(2 * h * s, 2 * h * s + h):
            u, w = x[k], x[k + h]
            x[k] = a * u + b * w
            x[k + h] = c * u + d * w
    return 0


def complex_(h: int, parts: Parts, entries: Entries) -> int:
    """A complex matrix of real parts a to d and imaginary parts e to q."""
    (x, y), (a, b, c, d, e, f, g, q) = parts, entries
    for s in range(x.size // (2 * h)):
        for k in range(2 * h * s, 2 * h * s + h):
            u, w, v, z = x[k], x[k + h], y[k], y[k + h]
            x[k] = a * u - e * v + b * w - f * z
            y[k] = a * v + e * u + b * z + f * w
            x[k + h] = c * u - g * v + d * w - q * z
            y[k + h] = c * v + g * u + d * z + q * w
    return 0


def pairings(h: int, y: np.ndarray, x: np.ndarray) -> tuple[float, float, float, float]:
    """The sums of products of the entries of two real arrays, for the values of one bit, ``h = 2^p``, in each."""
    aa = ab = ba = bb = 0.0
    for k in range(x.size - h):  # one loop, however short rows are: half of what it adds is zero
        p, q = (y[k], y[k + h]) if k & h == 0 else (0.0, 0.0)
        aa += p * x[k]
        ab += p * x[k + h]
        ba += q * x[k]
        bb += q * x[k + h]
    return aa, ab, ba, bb


def paired(h: int, x: np.ndarray, e: np.ndarray, entries: Entries) -> tuple[float, float, float, float]:
    """A real matrix on parts of the state and of its cotangent; sums of products of this and of that."""
    a, b, c, d = entries
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


def take_back_real(
    re: np.ndarray, im: np.ndarray, lr: np.ndarray, li: np.ndarray, bit: int, vr: np.ndarray, start: int,
    slopes: np.ndarray,
) -> None:  # fmt: skip
    """Take a real matrix back from both chunks in one pass; the cotangents of its entries are added to `slopes`."""
    entries = vr[start], vr[start + 1], vr[start + 2], vr[start + 3]
    for x, e in ((re, lr), (im, li)):
        if bit < 4:  # rows are so short that sums of each take longer than another pass
            in_rows(real, bit, (x,), entries)
            sums = pairings(1 << bit, e, x)
            in_rows(real, bit, (e,), entries)
        else:
            sums = paired(1 << bit, x, e, entries)
        for k, total in enumerate(sums):
            slopes[start + k, 0] += total


def reduce_complex(
    lr: np.ndarray, li: np.ndarray, re: np.ndarray, im: np.ndarray, bit: int, slopes: np.ndarray, start: int
) -> None:
    """Add the complex cotangents of the matrix's entries to `slopes` (E, 2)."""
    h = 1 << bit
    same, other, ahead, behind = pairings(h, lr, re), pairings(h, li, im), pairings(h, lr, im), pairings(h, li, re)
    for k, (x, y, u, v) in enumerate(zip(same, other, ahead, behind)):  # noqa: B905 (kernels know no keywords)
        slopes[start + k, 0] += x + y
        slopes[start + k, 1] += u - v
