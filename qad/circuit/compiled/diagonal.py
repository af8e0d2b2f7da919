"""Diagonal gates on a chunk: all that stand together make one diagonal, which is multiplied once.

Rows of `members` are described in `qad.circuit.compiled.blocking`.  Gates within the chunk come sorted by their
highest bit, so that the diagonal doubles bit by bit: what a gate costs is the part that it reaches.  Gates
that reach beyond the chunk come first, with top bit -1.
"""

from qad.circuit.compiled.jit import inner
from qad.circuit.compiled.one_qubit import apply_phases


@inner
def entry(member, aux, i, base):
    """Which number of a gate index i meets in the chunk that begins at `base`; of a Pauli rotation, the parity."""
    first, count = member[6], member[7]
    found = 0
    for t in range(abs(count)):
        bit = aux[first + t]
        value = (i >> bit) & 1 if bit >= 0 else (base >> (-1 - bit)) & 1
        found = found ^ value if count <= 0 else 2 * found + value
    return found


@inner
def scaled(dr, di, begin, size, u, v):
    """Write the first `size` entries, times u + i v, to those from `begin` on."""
    x, y, p, q = dr[:size], di[:size], dr[begin : begin + size], di[begin : begin + size]
    for k in range(size):
        r = x[k]
        p[k] = r * u - y[k] * v
        q[k] = r * v + y[k] * u


@inner
def build(dr, di, members, first, last, aux, vr, vi, base, bits):
    """The diagonal of all gates within the chunk."""
    dr[0], di[0] = 1, 0
    m = first
    while m < last and members[m, 0] < 0:
        m += 1
    for bit in range(bits):
        size = 1 << bit
        ur, ui, wr, wi = dr[0] * 0 + 1, di[0] * 0, dr[0] * 0 + 1, di[0] * 0
        touched = False
        while m < last and members[m, 0] == bit and members[m, 1] < 0:
            s = members[m, 4]
            ur, ui = ur * vr[s] - ui * vi[s], ur * vi[s] + ui * vr[s]
            wr, wi = wr * vr[s + 1] - wi * vi[s + 1], wr * vi[s + 1] + wi * vr[s + 1]
            touched = True
            m += 1
        scaled(dr, di, size, size, wr, wi)
        if touched:
            scaled(dr, di, 0, size, ur, ui)
        while m < last and members[m, 0] == bit:
            multiply(dr, di, members[m], aux, vr, vi, base, 2 * size)
            m += 1


@inner
def multiply(re, im, member, aux, vr, vi, base, size):
    """Multiply the first `size` entries by one gate."""
    controls, start, rotation = member[2], member[4], member[7] <= 0
    for i in range(size):
        if i & controls == controls:
            found = entry(member, aux, i, base)
            if rotation:  # c - i s (-1)^parity
                u, v = vr[start], (vr[start + 1] if found else -vr[start + 1])
            else:
                u, v = vr[start + found], vi[start + found]
            re[i], im[i] = re[i] * u - im[i] * v, re[i] * v + im[i] * u


@inner
def apply_diagonal(re, im, dr, di):
    """Multiply a chunk by a diagonal."""
    for k in range(re.size):
        r = re[k]
        re[k] = r * dr[k] - im[k] * di[k]
        im[k] = im[k] * dr[k] + r * di[k]


@inner
def apply_paired(re, im, lr, li, dr, di):
    """Multiply two chunks by a diagonal of modulus one, and replace it by the conjugate of the second times the first.

    The diagonal drops out of that product.
    """
    for k in range(re.size):
        x, y, p, q, u, v = re[k], im[k], lr[k], li[k], dr[k], di[k]
        dr[k], di[k] = p * x + q * y, p * y - q * x
        re[k], im[k] = x * u - y * v, x * v + y * u
        lr[k], li[k] = p * u - q * v, p * v + q * u


@inner
def inner_bit(member, aux):
    """The only bit of a chunk that a gate touches, -1 if there is none, -2 if it does not come down to that."""
    found = -1
    if member[2] or member[7] <= 0:
        return -2
    for t in range(member[7]):
        bit = aux[member[6] + t]
        if bit >= 0:
            if found >= 0:
                return -2
            found = bit
    return found


@inner
def apply_beyond(re, im, members, first, last, aux, vr, vi, base):
    """Multiply a chunk by the gates that reach beyond it."""
    for m in range(first, last):
        if members[m, 0] >= 0:
            break
        if base & members[m, 3] == members[m, 3]:
            bit = inner_bit(members[m], aux)
            if bit > -2:  # what is left of it within the chunk is a number, or acts on one bit
                p, q = members[m, 4] + entry(members[m], aux, 0, base), members[m, 4] + entry(members[m], aux, -1, base)
                apply_phases(re, im, max(bit, 0), vr[p], vi[p], vr[q], vi[q])
            else:
                multiply(re, im, members[m], aux, vr, vi, base, re.size)


@inner
def reduce(wr, wi, members, first, last, aux, base, bits, slopes):
    """Add sums of products over the indices that meet a number of a gate to `slopes` (E, 2).

    The gates themselves are not divided out yet.  The array of products is folded from its highest bit on, so that a
    gate sums over the part that it reaches.
    """
    m = first
    while m < last and members[m, 0] < 0:
        if members[m, 5] and base & members[m, 3] == members[m, 3]:
            collect(wr, wi, members[m], aux, base, wr.size, slopes)
        m += 1
    last -= 1
    for bit in range(bits - 1, -1, -1):
        while last >= m and members[last, 0] == bit and members[last, 1] == 0:
            if members[last, 5]:
                collect(wr, wi, members[last], aux, base, 2 << bit, slopes)
            last -= 1
        size = 1 << bit
        lower, upper = total(wr, size), total(wr[size:], size)
        below, above = total(wi, size), total(wi[size:], size)
        while last >= m and members[last, 0] == bit:
            start = members[last, 4]
            if members[last, 5]:
                slopes[start, 0] += lower
                slopes[start, 1] += below
                slopes[start + 1, 0] += upper
                slopes[start + 1, 1] += above
            last -= 1
        for part in (wr, wi):
            x, y = part[:size], part[size : 2 * size]
            for k in range(size):
                x[k] += y[k]


@inner
def total(x, size):
    """The sum of the first entries."""
    found = 0.0
    part = x[:size]
    for k in range(size):
        found += part[k]
    return found


@inner
def collect(wr, wi, member, aux, base, size, slopes):
    """Add the products to the number of one gate that each index meets."""
    controls, start = member[2], member[4]
    for i in range(size):
        if i & controls == controls:
            place = start + entry(member, aux, i, base)
            slopes[place, 0] += wr[i]
            slopes[place, 1] += wi[i]
