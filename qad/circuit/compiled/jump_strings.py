"""Pauli strings that wait to be applied: errors that a state has not yet undergone.

A string is ``p X^x Z^z``, a phase and two masks of bits.  Instead of being applied it goes past the gates that follow:
``U P = P U'`` with ``U' = P^H U P``, a gate of the same kind with other entries, or, for CNOT, CZ, X and SWAP,
``U P = P' U`` with another string.  So a stretch of gates with errors between them costs what it costs without.
"""

import numpy as np

from qad.circuit.compiled.general import parity
from qad.circuit.compiled.jump_tables import (
    CNOT,
    CZ,
    FIXED,
    FLIP,
    IDLE,
    MATRIX,
    PHASE,
    ROTATION,
    SITE,
    SWAP,
    WHOLE,
    Item,
    Noise,
)


def times(noise: Noise, s: int, k: int, x: int, z: int, p: float, q: float) -> tuple[int, int, float, float]:
    """The string of Kraus matrix k of a site, times the string of masks x, z and of phase p + i q."""
    site = noise.sites[s]
    m = site.first + k
    if noise.kinds[m] == IDLE:
        return x, z, p, q
    flips, signs = 0, 0
    for b in range(site.qubits):
        bit = noise.pool[site.bits + b]
        flips |= (noise.xs[m] >> (site.qubits - 1 - b) & 1) << bit
        signs |= (noise.zs[m] >> (site.qubits - 1 - b) & 1) << bit
    at = site.start + (k << 2 * site.qubits) + (noise.xs[m] << site.qubits)  # the first column, row x
    u, v = noise.kr[at], noise.ki[at]
    if parity(signs & x):
        u, v = -u, -v
    return x ^ flips, z ^ signs, p * u - q * v, p * v + q * u


def gathered(item: Item, pool: np.ndarray, mask: int) -> int:
    """The bits of a mask that are targets of a gate, as an index of its matrix."""
    found = 0
    for b in range(item.count):
        found = 2 * found + (mask >> pool[item.bits + b] & 1)
    return found


def conjugate(
    item: Item, pool: np.ndarray, x: int, z: int, vr: np.ndarray, vi: np.ndarray, wr: np.ndarray, wi: np.ndarray
) -> None:
    """Write the entries of the gate ``P^H U P``."""
    s = item.start
    if item.kind == ROTATION:
        odd = parity(x & item.signs) ^ parity(z & item.flips)
        wr[s], wr[s + 1], wi[s], wi[s + 1] = vr[s], (-vr[s + 1] if odd else vr[s + 1]), vi[s], vi[s + 1]
        return
    d = 1 << item.count
    flips, signs = gathered(item, pool, x), gathered(item, pool, z)
    if item.kind == PHASE:
        for a in range(d):
            wr[s + a], wi[s + a] = vr[s + (a ^ flips)], vi[s + (a ^ flips)]
        return
    for a in range(d):
        for b in range(d):
            i, j = s + a * d + b, s + (a ^ flips) * d + (b ^ flips)
            odd = parity(signs & (a ^ b))
            wr[i], wi[i] = (-vr[j] if odd else vr[j]), (-vi[j] if odd else vi[j])


def passed(item: Item, pool: np.ndarray, x: int, z: int) -> tuple[int, int, bool]:
    """The masks after a gate that has no entries, and whether the string changes its sign."""
    a, b = pool[item.bits], pool[item.bits + item.count - 1]
    xa, xb, za, zb = x >> a & 1, x >> b & 1, z >> a & 1, z >> b & 1
    if item.kind == FLIP:
        return x, z, za == 1
    if item.kind == CNOT:
        return x ^ xa << b, z ^ zb << a, False
    if item.kind == CZ:
        return x, z ^ xa << b ^ xb << a, xa & xb == 1
    both = 1 << a | 1 << b
    return (x ^ both if xa != xb else x), (z ^ both if za != zb else z), False


def stopped(item: Item, x: int, z: int) -> bool:
    """Whether a string does not come past a gate: X on a control, or anything on the target of a controlled FIXED."""
    return x & item.controls != 0 or (item.kind == FIXED and (x | z) & item.targets != 0)


def travel(
    noise: Noise, first: int, last: int, choices: np.ndarray, t: int, x: int, z: int, p: float, q: float,
    vr: np.ndarray, vi: np.ndarray, wr: np.ndarray, wi: np.ndarray,
) -> tuple[bool, int, int, float, float]:  # fmt: skip
    """Take a string past the items of a stretch, times the errors of trajectory t: whether it came through, and it.

    `wr` and `wi` become the entries of the gates that it leaves behind.
    """
    for i in range(first, last):
        item = noise.items[i]
        if item.kind == SITE:
            k = choices[t, item.start]
            if noise.kinds[noise.sites[item.start].first + k] == WHOLE:
                return False, x, z, p, q
            x, z, p, q = times(noise, item.start, k, x, z, p, q)
        elif stopped(item, x, z):
            return False, x, z, p, q
        elif item.kind in (MATRIX, PHASE, ROTATION):
            conjugate(item, noise.pool, x, z, vr, vi, wr, wi)
        elif item.kind in (FLIP, CNOT, CZ, SWAP):
            x, z, odd = passed(item, noise.pool, x, z)
            if odd:
                p, q = -p, -q
    return True, x, z, p, q


def apply_string(
    re: np.ndarray, im: np.ndarray, x: int, z: int, p: float, q: float, sr: np.ndarray, si: np.ndarray
) -> None:
    """Apply the string of masks x, z and of phase p + i q to a state; `sr` and `si` are room for another."""
    for i in range(re.size):
        sr[i], si[i] = re[i], im[i]
    for i in range(re.size):
        j = i ^ x
        sign = 1.0 - 2.0 * parity(j & z)
        u, v = p * sign, q * sign
        re[i], im[i] = u * sr[j] - v * si[j], u * si[j] + v * sr[j]
