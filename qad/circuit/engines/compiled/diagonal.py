"""Diagonal gates on a chunk: all that stand together make one diagonal, which is multiplied once.

Gates come sorted by their highest bit within the chunk, so that the diagonal doubles bit by bit: a gate whose highest
bit is p multiplies its first ``2^(p+1)`` entries.  Bits beyond the chunk are constants of it; gates on these alone come
first, with top bit -1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from qad.circuit.engines.compiled.tables import Member


def entry(member: Member, pool: np.ndarray, i: int, base: int) -> int:
    """The diagonal entry of a gate at index i of the chunk that begins at `base`; of a Pauli rotation, the parity."""
    found = 0
    for t in range(member.count):
        bit = pool[member.targets + t]
        value = (i >> bit) & 1 if bit >= 0 else (base >> (-1 - bit)) & 1
        found = found ^ value if member.rotation else 2 * found + value
    return found


def value(member: Member, pool: np.ndarray, vr: np.ndarray, vi: np.ndarray, i: int, base: int) -> tuple[float, float]:
    """What a gate multiplies at index i of the chunk that begins at `base`."""
    found, start = entry(member, pool, i, base), member.start
    if member.rotation:  # c - i s (-1)^parity
        return vr[start], (vr[start + 1] if found else -vr[start + 1])
    return vr[start + found], vi[start + found]


def scaled(dr: np.ndarray, di: np.ndarray, begin: int, size: int, u: float, v: float) -> None:
    """Write the first `size` entries, times u + i v, to those from `begin` on."""
    x, y, p, q = dr[:size], di[:size], dr[begin : begin + size], di[begin : begin + size]
    for k in range(size):
        r = x[k]
        p[k] = r * u - y[k] * v
        q[k] = r * v + y[k] * u


def build(
    dr: np.ndarray, di: np.ndarray, members: np.ndarray, first: int, last: int, pool: np.ndarray, vr: np.ndarray,
    vi: np.ndarray, base: int, bits: int,
) -> None:  # fmt: skip
    """The diagonal of all gates."""
    dr[0], di[0] = 1, 0
    m = first
    while m < last and members[m].top < 0:
        multiply(dr, di, members[m], pool, vr, vi, base, 1)
        m += 1
    for bit in range(bits):
        size = 1 << bit
        ur, ui, wr, wi = dr[0] * 0 + 1, di[0] * 0, dr[0] * 0 + 1, di[0] * 0
        touched = False
        while m < last and members[m].top == bit and not members[m].general:
            if base & members[m].outer_controls == members[m].outer_controls:
                p, q = value(members[m], pool, vr, vi, 0, base)
                ur, ui = ur * p - ui * q, ur * q + ui * p
                p, q = value(members[m], pool, vr, vi, size, base)
                wr, wi = wr * p - wi * q, wr * q + wi * p
                touched = True
            m += 1
        scaled(dr, di, size, size, wr, wi)
        if touched:
            scaled(dr, di, 0, size, ur, ui)
        while m < last and members[m].top == bit:
            multiply(dr, di, members[m], pool, vr, vi, base, 2 * size)
            m += 1


def multiply(
    re: np.ndarray, im: np.ndarray, member: Member, pool: np.ndarray, vr: np.ndarray, vi: np.ndarray, base: int,
    size: int,
) -> None:  # fmt: skip
    """Multiply the first `size` entries by one gate."""
    if base & member.outer_controls == member.outer_controls:
        for i in range(size):
            if i & member.controls == member.controls:
                u, v = value(member, pool, vr, vi, i, base)
                re[i], im[i] = re[i] * u - im[i] * v, re[i] * v + im[i] * u


def apply_diagonal(re: np.ndarray, im: np.ndarray, dr: np.ndarray, di: np.ndarray) -> None:
    """Multiply a chunk by a diagonal."""
    for k in range(re.size):
        r = re[k]
        re[k] = r * dr[k] - im[k] * di[k]
        im[k] = im[k] * dr[k] + r * di[k]


def apply_paired(
    re: np.ndarray, im: np.ndarray, lr: np.ndarray, li: np.ndarray, dr: np.ndarray, di: np.ndarray
) -> None:
    """Multiply two chunks by a diagonal of modulus one, and replace it by the conjugate of the second times the first.

    The diagonal drops out of that product.
    """
    for k in range(re.size):
        x, y, p, q, u, v = re[k], im[k], lr[k], li[k], dr[k], di[k]
        dr[k], di[k] = p * x + q * y, p * y - q * x
        re[k], im[k] = x * u - y * v, x * v + y * u
        lr[k], li[k] = p * u - q * v, p * v + q * u


def reduce(
    wr: np.ndarray, wi: np.ndarray, members: np.ndarray, first: int, last: int, pool: np.ndarray, base: int,
    bits: int, slopes: np.ndarray,
) -> None:  # fmt: skip
    """Add to `slopes` (E, 2), for every diagonal entry, the sum of the products at the indices that it multiplies.

    Products are ``conj(cotangent) state``, with the gates still in them; they are divided out afterwards.  The array is
    folded from its highest bit on, so that a gate whose highest bit is p sums over ``2^(p+1)`` entries.
    """
    last -= 1
    for bit in range(bits - 1, -1, -1):
        while last >= first and members[last].top == bit and members[last].general:
            if members[last].wanted:
                collect(wr, wi, members[last], pool, base, 2 << bit, slopes)
            last -= 1
        size = 1 << bit
        lower, upper = total(wr, size), total(wr[size:], size)
        below, above = total(wi, size), total(wi[size:], size)
        while last >= first and members[last].top == bit:
            add_to(slopes, members[last], pool, 0, base, lower, below)
            add_to(slopes, members[last], pool, size, base, upper, above)
            last -= 1
        for part in (wr, wi):
            x, y = part[:size], part[size : 2 * size]
            for k in range(size):
                x[k] += y[k]
    while last >= first:
        add_to(slopes, members[last], pool, 0, base, wr[0], wi[0])
        last -= 1


def total(x: np.ndarray, size: int) -> float:
    """The sum of the first entries."""
    found = 0.0
    part = x[:size]
    for k in range(size):
        found += part[k]
    return found


def add_to(slopes: np.ndarray, member: Member, pool: np.ndarray, i: int, base: int, re: float, im: float) -> None:
    """Add a product at index i to the entry of one gate that multiplies it."""
    if member.wanted and base & member.outer_controls == member.outer_controls:
        target = member.start + entry(member, pool, i, base)
        slopes[target, 0] += re
        slopes[target, 1] += im


def collect(
    wr: np.ndarray, wi: np.ndarray, member: Member, pool: np.ndarray, base: int, size: int, slopes: np.ndarray
) -> None:
    """Add the first `size` products to the entries of one gate."""
    for i in range(size):
        if i & member.controls == member.controls:
            add_to(slopes, member, pool, i, base, wr[i], wi[i])
