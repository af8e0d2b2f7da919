"""Diagonal gates on a chunk: all that stand together make one diagonal, which is multiplied once.

Gates within the chunk come sorted by their highest bit, so that the diagonal doubles bit by bit: a gate whose highest
bit is p multiplies its first ``2^(p+1)`` entries.  Gates that act on bits beyond the chunk come first, with top bit -1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.circuit.engines.compiled.one_qubit import in_rows, phases

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
    """The diagonal of all gates within the chunk."""
    dr[0], di[0] = 1, 0
    m = first
    while m < last and members[m].top < 0:
        m += 1
    for bit in range(bits):
        size = 1 << bit
        ur, ui, wr, wi = dr[0] * 0 + 1, di[0] * 0, dr[0] * 0 + 1, di[0] * 0
        touched = False
        while m < last and members[m].top == bit and not members[m].general:
            s = members[m].start
            ur, ui = ur * vr[s] - ui * vi[s], ur * vi[s] + ui * vr[s]
            wr, wi = wr * vr[s + 1] - wi * vi[s + 1], wr * vi[s + 1] + wi * vr[s + 1]
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
    controls, start, rotation = member.controls, member.start, member.rotation
    for i in range(size):
        if i & controls == controls:
            found = entry(member, pool, i, base)
            if rotation:  # c - i s (-1)^parity
                u, v = vr[start], (vr[start + 1] if found else -vr[start + 1])
            else:
                u, v = vr[start + found], vi[start + found]
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


def inner_bit(member: Member, pool: np.ndarray) -> int:
    """The only target of a gate within the chunk; -1 if there is none, -2 if there are more, or other conditions."""
    found = -1
    if member.controls or member.rotation:
        return -2
    for t in range(member.count):
        bit = pool[member.targets + t]
        if bit >= 0:
            if found >= 0:
                return -2
            found = bit
    return found


def apply_beyond(
    re: np.ndarray, im: np.ndarray, members: np.ndarray, first: int, last: int, pool: np.ndarray, vr: np.ndarray,
    vi: np.ndarray, base: int,
) -> None:  # fmt: skip
    """Multiply a chunk by the gates that act on bits beyond it."""
    for m in range(first, last):
        member = members[m]
        if member.top >= 0:
            break
        if base & member.outer_controls == member.outer_controls:
            bit = inner_bit(member, pool)
            if bit > -2:  # within the chunk it is a constant, or acts on one bit; an index of -1 has all bits set
                p, q = member.start + entry(member, pool, 0, base), member.start + entry(member, pool, -1, base)
                in_rows(phases, max(bit, 0), (re, im), (vr[p], vi[p], vr[q], vi[q]))
            else:
                multiply(re, im, member, pool, vr, vi, base, re.size)


def reduce(
    wr: np.ndarray, wi: np.ndarray, members: np.ndarray, first: int, last: int, pool: np.ndarray, base: int,
    bits: int, slopes: np.ndarray,
) -> None:  # fmt: skip
    """Add to `slopes` (E, 2), for every diagonal entry, the sum of the products at the indices that it multiplies.

    Products are ``conj(cotangent) state``, with the gates still in them; Python divides them out afterwards.  The array
    is folded from its highest bit on, so that a gate whose highest bit is p sums over ``2^(p+1)`` entries.
    """
    m = first
    while m < last and members[m].top < 0:
        member = members[m]
        if member.wanted and base & member.outer_controls == member.outer_controls:
            collect(wr, wi, member, pool, base, wr.size, slopes)
        m += 1
    last -= 1
    for bit in range(bits - 1, -1, -1):
        while last >= m and members[last].top == bit and members[last].general:
            if members[last].wanted:
                collect(wr, wi, members[last], pool, base, 2 << bit, slopes)
            last -= 1
        size = 1 << bit
        lower, upper = total(wr, size), total(wr[size:], size)
        below, above = total(wi, size), total(wi[size:], size)
        while last >= m and members[last].top == bit:
            start = members[last].start
            if members[last].wanted:
                slopes[start, 0] += lower
                slopes[start, 1] += below
                slopes[start + 1, 0] += upper
                slopes[start + 1, 1] += above
            last -= 1
        for part in (wr, wi):
            x, y = part[:size], part[size : 2 * size]
            for k in range(size):
                x[k] += y[k]


def total(x: np.ndarray, size: int) -> float:
    """The sum of the first entries."""
    found = 0.0
    part = x[:size]
    for k in range(size):
        found += part[k]
    return found


def collect(
    wr: np.ndarray, wi: np.ndarray, member: Member, pool: np.ndarray, base: int, size: int, slopes: np.ndarray
) -> None:
    """Add each product to the diagonal entry of one gate that multiplies its index."""
    controls, start = member.controls, member.start
    for i in range(size):
        if i & controls == controls:
            target = start + entry(member, pool, i, base)
            slopes[target, 0] += wr[i]
            slopes[target, 1] += wi[i]
