"""Gates of several qubits on a chunk: dense matrices with controls, exchanges of amplitudes, Pauli rotations.

Where the masks leave the lowest bits alone, amplitudes are moved in runs of up to 16.
"""

from qad.circuit.compiled.jit import inner


@inner
def exchange(re, im, ones, zeros, change, run):
    """Exchange amplitude i, which has the bits `ones` set and `zeros` clear, with amplitude ``i ^ change``."""
    for i in range(0, re.size, run):
        if i & ones == ones and i & zeros == 0:
            j = i ^ change
            for part in (re, im):
                x, y = part[i : i + run], part[j : j + run]
                for k in range(run):
                    u = x[k]
                    x[k] = y[k]
                    y[k] = u


@inner
def dense(re, im, targets, controls, run, offsets, vr, vi, start, tr, ti):
    """A matrix of ``len(offsets)`` rows on the amplitudes at i + offsets; `tr`, `ti` are room for them."""
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


@inner
def reduce_dense(lr, li, re, im, targets, controls, run, offsets, slopes, start):
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


@inner
def parity(x):
    """Whether the number of set bits is odd, as 0 or 1."""
    x ^= x >> 32
    x ^= x >> 16
    x ^= x >> 8
    x ^= x >> 4
    x ^= x >> 2
    x ^= x >> 1
    return x & 1


@inner
def turned(r, i, quarter):
    """``(r + i j) (-i)^quarter`` as a pair."""
    if quarter == 0:
        return r, i
    if quarter == 1:
        return i, -r
    if quarter == 2:
        return -r, -i
    return -i, r


@inner
def pauli(re, im, x, z, flips, ys, controls, c, s):
    """``c + s (-i P)`` for a string that flips the bits x and signs by the bits z; `flips` changes all signs.

    ``(P psi)_i = i^ys (-1)^(z.j) psi_j`` with j = i ^ x, and (-i)(i^ys) = (-i)^(1 - ys).
    """
    pivot = x & -x
    quarter = (1 - ys) % 4
    for i in range(re.size):
        if i & pivot or i & controls != controls:
            continue
        j = i ^ x
        si = -s if parity(i & z) ^ flips else s
        sj = -s if parity(j & z) ^ flips else s
        u, v = turned(re[j], im[j], quarter)
        p, q = turned(re[i], im[i], quarter)
        re[i], im[i] = c * re[i] + sj * u, c * im[i] + sj * v
        re[j], im[j] = c * re[j] + si * p, c * im[j] + si * q


@inner
def reduce_pauli(lr, li, re, im, x, z, flips, ys, controls, slopes, start):
    """Add the real cotangents of c and s to `slopes` (E, 2)."""
    quarter = (1 - ys) % 4
    c = s = 0.0
    for i in range(re.size):
        if i & controls != controls:
            continue
        j = i ^ x
        u, v = turned(re[j], im[j], quarter)
        c += lr[i] * re[i] + li[i] * im[i]
        term = lr[i] * u + li[i] * v
        s += -term if parity(j & z) ^ flips else term
    slopes[start, 0] += c
    slopes[start + 1, 0] += s
