"""Rounds over states that move: ``psi + e dpsi`` under gates ``U + e dU``, where ``e e = 0``.

A chunk is two pairs of arrays, (re, im) of the state and (pr, pi) of its tangent.  The tangents of the numbers,
`ur` and `ui`, are those of the entries of matrices; for diagonal gates, whose tangents add up where they multiply, they
are divided by the gate.
"""

import numpy as np

from qad.circuit.compiled.affine import permute, places_of
from qad.circuit.compiled.block_kernels import apply, reduce_one
from qad.circuit.compiled.blocking import AFFINE, DIAGONAL
from qad.circuit.compiled.diagonal import apply_beyond, apply_diagonal, build, entry, reduce
from qad.circuit.compiled.drive import load, store
from qad.circuit.compiled.jit import inlined, inner, jit


@inner
def push(row, aux, vr, vi, ur, ui, base, re, im, pr, pi, xr, xi, tr, ti):
    """One instruction that is neither diagonal nor a permutation: ``dpsi`` becomes ``U dpsi + dU psi``."""
    controls = row[3]
    if row[7]:
        for k in range(re.size):  # the tangent of a controlled gate is zero where a control is
            acts = k & controls == controls
            xr[k], xi[k] = (re[k] if acts else 0), (im[k] if acts else 0)
        apply(row, aux, ur, ui, base, xr, xi, tr, ti)
    for x, y in ((re, im), (pr, pi)):
        apply(row, aux, vr, vi, base, x, y, tr, ti)
    if row[7]:
        add(pr, xr)
        add(pi, xi)


@inner
def add(total, x):
    """Add a vector to another."""
    for k in range(total.size):
        total[k] += x[k]


@inner
def add_product(pr, pi, xr, xi, re, im, sign):
    """``p += x y``, entry by entry; with ``sign = -1``, ``p += conj(x) y``."""
    for k in range(pr.size):
        u, v = xr[k], sign * xi[k]
        pr[k] += u * re[k] - v * im[k]
        pi[k] += u * im[k] + v * re[k]


@inner
def add_one(dr, di, member, aux, ur, ui, base, size):
    """Add the tangent of one diagonal gate to the first `size` entries."""
    controls, start, rotation = member[2], member[4], member[7] <= 0
    for i in range(size):
        if i & controls == controls:
            found = entry(member, aux, i, base)
            if rotation:
                dr[i], di[i] = dr[i] + ur[start], di[i] + (ur[start + 1] if found else -ur[start + 1])
            else:
                dr[i], di[i] = dr[i] + ur[start + found], di[i] + ui[start + found]


@inner
def add_up(dr, di, members, first, last, aux, ur, ui, base, bits):
    """The sum over diagonal gates, as `qad.circuit.compiled.diagonal.build` makes their product."""
    dr[0], di[0] = 0, 0
    beyond = first
    while beyond < last and members[beyond, 0] < 0:
        beyond += 1
    m = beyond
    for bit in range(bits):
        size = 1 << bit
        a, b, p, q = dr[0] * 0, dr[0] * 0, dr[0] * 0, dr[0] * 0
        while m < last and members[m, 0] == bit and members[m, 1] < 0:
            s = members[m, 4]
            a, b, p, q = a + ur[s], b + ui[s], p + ur[s + 1], q + ui[s + 1]
            m += 1
        x, y, u, v = dr[:size], di[:size], dr[size : 2 * size], di[size : 2 * size]
        for k in range(size):
            u[k], v[k], x[k], y[k] = x[k] + p, y[k] + q, x[k] + a, y[k] + b
        while m < last and members[m, 0] == bit:
            add_one(dr, di, members[m], aux, ur, ui, base, 2 * size)
            m += 1
    for m in range(first, beyond):
        if base & members[m, 3] == members[m, 3]:
            add_one(dr, di, members[m], aux, ur, ui, base, dr.size)


@inner
def push_diagonals(row, members, aux, vr, vi, ur, ui, base, bits, re, im, pr, pi, dr, di):
    """The instruction of diagonal gates D: ``dpsi`` becomes ``D (dpsi + (dD / D) psi)``."""
    first, last = row[9], row[10]
    if row[7]:
        add_up(dr, di, members, first, last, aux, ur, ui, base, bits)
        add_product(pr, pi, dr, di, re, im, 1)
    build(dr, di, members, first, last, aux, vr, vi, base, bits)
    for x, y in ((re, im), (pr, pi)):
        apply_diagonal(x, y, dr, di)
        apply_beyond(x, y, members, first, last, aux, vr, vi, base)


@inlined
def run_forward(code, first, last, members, aux, vr, vi, ur, ui, base, bits, state, room, places, tr, ti):
    """Apply instructions `first` to `last` to the chunk that begins at `base`."""
    re, im, pr, pi, dr, di = state[0], state[1], state[2], state[3], room[0], room[1]
    for i in range(first, last):
        row = code[i]
        if row[0] == DIAGONAL:
            push_diagonals(row, members, aux, vr, vi, ur, ui, base, bits, re, im, pr, pi, dr, di)
        elif row[0] == AFFINE:
            places_of(aux, row[9], bits, base, places)
            for part in (re, im, pr, pi):
                permute(part, dr, places)
        elif base & row[4] == row[4]:
            push(row, aux, vr, vi, ur, ui, base, re, im, pr, pi, dr, di, tr, ti)


@inlined
def run_backward(
    code, first, last, members, aux, vr, vi, ur, ui, base, bits, state, dual, room, places, tr, ti, slopes
):
    """Take instructions back; what is added to `slopes` (2, E, 2) are the sums and their tangents."""
    re, im, pr, pi, dr, di = state[0], state[1], state[2], state[3], room[0], room[1]
    lr, li, qr, qi = dual[0], dual[1], dual[2], dual[3]
    for i in range(last - 1, first - 1, -1):
        row = code[i]
        if row[0] == DIAGONAL:
            if row[7]:  # the gates drop out of the products
                dr[:], di[:] = 0, 0
                add_product(dr, di, lr, li, re, im, -1)
                reduce(dr, di, members, row[9], row[10], aux, base, bits, slopes[0])
                dr[:], di[:] = 0, 0
                add_product(dr, di, lr, li, pr, pi, -1)
                add_product(dr, di, qr, qi, re, im, -1)
                reduce(dr, di, members, row[9], row[10], aux, base, bits, slopes[1])
            push_diagonals(row, members, aux, vr, vi, ur, ui, base, bits, re, im, pr, pi, dr, di)
            push_diagonals(row, members, aux, vr, vi, ur, ui, base, bits, lr, li, qr, qi, dr, di)
        elif row[0] == AFFINE:
            places_of(aux, row[10], bits, base, places)
            for part in (re, im, pr, pi, lr, li, qr, qi):
                permute(part, dr, places)
        elif base & row[4] == row[4]:
            push(row, aux, vr, vi, ur, ui, base, re, im, pr, pi, dr, di, tr, ti)
            if row[7]:
                reduce_one(row, aux, base, lr, li, re, im, slopes[0])
                reduce_one(row, aux, base, lr, li, pr, pi, slopes[1])
                reduce_one(row, aux, base, qr, qi, re, im, slopes[1])
            push(row, aux, vr, vi, ur, ui, base, lr, li, qr, qi, dr, di, tr, ti)


@inlined
def load_both(psi, b, offsets, first, run, base, state):
    """Copy a chunk of a state (2, B, 2**n) and of its tangent into real and imaginary parts."""
    load(psi[0, b], offsets, first, run, base, state[0], state[1])
    load(psi[1, b], offsets, first, run, base, state[2], state[3])


@inlined
def store_both(psi, b, offsets, first, run, base, state):
    """Copy them back."""
    store(psi[0, b], offsets, first, run, base, state[0], state[1])
    store(psi[1, b], offsets, first, run, base, state[2], state[3])


@jit
def forward(psi, r, begin, end, tables, vr, vi, ur, ui, widest):
    """Round r on chunks `begin` to `end` of states and their tangents (2, B, 2**n), counted through all states."""
    rounds, code, members, aux, offsets, bases, bits = tables
    state, room = np.empty((4, 1 << bits), vr.dtype), np.empty((2, 1 << bits), vr.dtype)
    rows, places = np.empty((2, widest, 16), vr.dtype), np.empty(1 << bits, np.int32)
    first, run, chunks = rounds[r, 2], rounds[r, 4], rounds[r, 5]
    for task in range(begin, end):
        b, base = task // chunks, bases[rounds[r, 3] + task % chunks]
        v = min(b, vr.shape[0] - 1)
        load_both(psi, b, offsets, first, run, base, state)
        run_forward(
            code, rounds[r, 0], rounds[r, 1], members, aux, vr[v], vi[v], ur[v], ui[v], base, bits, state, room, places,
            rows[0], rows[1],
        )  # fmt: skip
        store_both(psi, b, offsets, first, run, base, state)


@jit
def backward(psi, lam, r, begin, end, tables, vr, vi, ur, ui, slopes, widest):
    """The same, backward; `lam` (2, B, 2**n) are conjugate cotangents and their tangents, `slopes` is (B, 2, E, 2)."""
    rounds, code, members, aux, offsets, bases, bits = tables
    state, dual = np.empty((4, 1 << bits), vr.dtype), np.empty((4, 1 << bits), vr.dtype)
    room, places = np.empty((2, 1 << bits), vr.dtype), np.empty(1 << bits, np.int32)
    rows = np.empty((2, widest, 16), vr.dtype)
    first, run, chunks = rounds[r, 2], rounds[r, 4], rounds[r, 5]
    for task in range(begin, end):
        b, base = task // chunks, bases[rounds[r, 3] + task % chunks]
        v = min(b, vr.shape[0] - 1)
        load_both(psi, b, offsets, first, run, base, state)
        load_both(lam, b, offsets, first, run, base, dual)
        run_backward(
            code, rounds[r, 0], rounds[r, 1], members, aux, vr[v], vi[v], ur[v], ui[v], base, bits, state, dual, room,
            places, rows[0], rows[1], slopes[b],
        )  # fmt: skip
        store_both(psi, b, offsets, first, run, base, state)
        store_both(lam, b, offsets, first, run, base, dual)
