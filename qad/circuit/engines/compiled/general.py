"""Gates of several qubits on a chunk: dense matrices with controls, exchanges of amplitudes, Pauli rotations.

Where no mask has a low bit, amplitudes are moved in runs of up to 16 that lie side by side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def exchange(re: np.ndarray, im: np.ndarray, ones: int, zeros: int, change: int, run: int) -> None:
    """Exchange amplitudes i and ``i ^ change`` where i has the bits `ones` set and the bits `zeros` clear."""
    for i in range(0, re.size, run):
        if i & ones == ones and i & zeros == 0:
            j = i ^ change
            for part in (re, im):
                x, y = part[i : i + run], part[j : j + run]
                for k in range(run):
                    u = x[k]
                    x[k] = y[k]
                    y[k] = u


def dense(
    re: np.ndarray, im: np.ndarray, targets: int, controls: int, run: int, offsets: np.ndarray, vr: np.ndarray,
    vi: np.ndarray, start: int, tr: np.ndarray, ti: np.ndarray,
) -> None:  # fmt: skip
    """A matrix of ``len(offsets)`` rows on the amplitudes at i + offsets; these are copied to `tr`, `ti` first."""
    d = offsets.size
    for i in range(0, re.size, run):
        if i & targets or i & controls != controls:
            continue
        for a in range(d):
            at = i + offsets[a]
            x, y, u, v = re[at : at + run], im[at : at + run], tr[a], ti[a]
            for k in range(run):
                u[k], v[k], x[k], y[k] = x[k], y[k], 0, 0
        for a in range(d):
            at = i + offsets[a]
            x, y = re[at : at + run], im[at : at + run]
            for c in range(d):
                m, n, u, v = vr[start + a * d + c], vi[start + a * d + c], tr[c], ti[c]
                for k in range(run):
                    x[k] += m * u[k] - n * v[k]
                    y[k] += m * v[k] + n * u[k]


def reduce_dense(
    lr: np.ndarray, li: np.ndarray, re: np.ndarray, im: np.ndarray, targets: int, controls: int, run: int,
    offsets: np.ndarray, slopes: np.ndarray, start: int,
) -> None:  # fmt: skip
    """Add the cotangents of the matrix's entries to `slopes` (E, 2)."""
    d = offsets.size
    for i in range(0, re.size, run):
        if i & targets or i & controls != controls:
            continue
        for a in range(d):
            at = i + offsets[a]
            p, q = lr[at : at + run], li[at : at + run]
            for c in range(d):
                at = i + offsets[c]
                x, y = re[at : at + run], im[at : at + run]
                u = v = 0.0
                for k in range(run):
                    u += p[k] * x[k] + q[k] * y[k]
                    v += p[k] * y[k] - q[k] * x[k]
                slopes[start + a * d + c, 0] += u
                slopes[start + a * d + c, 1] += v


def parity(x: int) -> int:
    """Whether the number of set bits is odd, as 0 or 1."""
    x ^= x >> 32
    x ^= x >> 16
    x ^= x >> 8
    x ^= x >> 4
    x ^= x >> 2
    x ^= x >> 1
    return x & 1


def rotated(r: float, i: float, quarters: int) -> tuple[float, float]:
    """``(r + i j) (-i)^quarters`` as a pair."""
    if quarters == 0:
        return r, i
    if quarters == 1:
        return i, -r
    if quarters == 2:
        return -r, -i
    return -i, r


def pauli(
    re: np.ndarray, im: np.ndarray, flips: int, signs: int, odd: int, ys: int, controls: int, c: float, s: float
) -> None:
    """``c + s (-i P)`` for a string that flips the bits `flips` and signs by the bits `signs`; if `odd`, by -1 more.

    ``(P psi)_i = i^ys (-1)^(signs.j) psi_j`` with j = i ^ flips, and (-i)(i^ys) = (-i)^(1 - ys).
    """
    pivot = flips & -flips
    quarters = (1 - ys) % 4
    for i in range(re.size):
        if i & pivot or i & controls != controls:
            continue
        j = i ^ flips
        si = -s if parity(i & signs) ^ odd else s
        sj = -s if parity(j & signs) ^ odd else s
        u, v = rotated(re[j], im[j], quarters)
        p, q = rotated(re[i], im[i], quarters)
        re[i], im[i] = c * re[i] + sj * u, c * im[i] + sj * v
        re[j], im[j] = c * re[j] + si * p, c * im[j] + si * q


def reduce_pauli(
    lr: np.ndarray, li: np.ndarray, re: np.ndarray, im: np.ndarray, flips: int, signs: int, odd: int, ys: int,
    controls: int, slopes: np.ndarray, start: int,
) -> None:  # fmt: skip
    """Add the real cotangents of c and s to `slopes` (E, 2)."""
    quarters = (1 - ys) % 4
    c = s = 0.0
    for i in range(re.size):
        if i & controls != controls:
            continue
        j = i ^ flips
        u, v = rotated(re[j], im[j], quarters)
        c += lr[i] * re[i] + li[i] * im[i]
        term = lr[i] * u + li[i] * v
        s += -term if parity(j & signs) ^ odd else term
    slopes[start, 0] += c
    slopes[start + 1, 0] += s
