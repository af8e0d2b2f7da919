"""Rounds over states with tangents, dual numbers ``psi + e dpsi`` under gates ``U + e dU``, where ``e e = 0``.

A chunk is two pairs of arrays, (re, im) of the state and (pr, pi) of its tangent.  The tangents of
entries are `ur` and `ui`; those of diagonal gates are divided by the gate, so that they are added where the gates are
multiplied.
"""

from typing import TypeAlias

import numpy as np

from qad.circuit.engines.compiled.affine import permute, sources_of
from qad.circuit.engines.compiled.arguments import Complexes3, Floats4, Int, Reals2, Reals3, ShortInts
from qad.circuit.engines.compiled.block_kernels import apply, reduce_one
from qad.circuit.engines.compiled.diagonal import apply_diagonal, build, reduce, value
from qad.circuit.engines.compiled.drive import load, store
from qad.circuit.engines.compiled.tables import AFFINE, DIAGONAL, Instruction, Member, Tables

Chunk: TypeAlias = tuple[np.ndarray, ...]  # real and imaginary parts, one pair or several


def push(
    gate: Instruction, pool: np.ndarray, vr: np.ndarray, vi: np.ndarray, ur: np.ndarray, ui: np.ndarray, base: int,
    re: np.ndarray, im: np.ndarray, pr: np.ndarray, pi: np.ndarray, xr: np.ndarray, xi: np.ndarray, tr: np.ndarray,
    ti: np.ndarray,
) -> None:  # fmt: skip
    """One instruction that is neither diagonal nor a permutation: ``dpsi`` becomes ``U dpsi + dU psi``."""
    controls = gate.controls
    if gate.wanted:
        for k in range(re.size):  # the tangent of a controlled gate is zero where a control is
            acts = k & controls == controls
            xr[k], xi[k] = (re[k] if acts else 0), (im[k] if acts else 0)
        apply(gate, pool, ur, ui, base, xr, xi, tr, ti)
    for x, y in ((re, im), (pr, pi)):
        apply(gate, pool, vr, vi, base, x, y, tr, ti)
    if gate.wanted:
        add(pr, xr)
        add(pi, xi)


def clear(xr: np.ndarray, xi: np.ndarray) -> None:
    """Set two vectors to zero."""
    for k in range(xr.size):
        xr[k], xi[k] = 0, 0


def add(total: np.ndarray, x: np.ndarray) -> None:
    """Add a vector to another."""
    for k in range(total.size):
        total[k] += x[k]


def add_product(
    pr: np.ndarray, pi: np.ndarray, xr: np.ndarray, xi: np.ndarray, re: np.ndarray, im: np.ndarray, sign: int
) -> None:
    """``p += x y``, entry by entry; with ``sign = -1``, ``p += conj(x) y``."""
    for k in range(pr.size):
        u, v = xr[k], sign * xi[k]
        pr[k] += u * re[k] - v * im[k]
        pi[k] += u * im[k] + v * re[k]


def add_one(
    dr: np.ndarray, di: np.ndarray, member: Member, pool: np.ndarray, ur: np.ndarray, ui: np.ndarray, base: int,
    size: int,
) -> None:  # fmt: skip
    """Add the tangent of one diagonal gate to the first `size` entries."""
    if base & member.outer_controls == member.outer_controls:
        for i in range(size):
            if i & member.controls == member.controls:
                u, v = value(member, pool, ur, ui, i, base)
                dr[i], di[i] = dr[i] + u, di[i] + v


def add_up(
    dr: np.ndarray, di: np.ndarray, members: np.ndarray, first: int, last: int, pool: np.ndarray, ur: np.ndarray,
    ui: np.ndarray, base: int, bits: int,
) -> None:  # fmt: skip
    """The sum of the tangents of diagonal gates; compare `build` of `diagonal`, their product."""
    dr[0], di[0] = 0, 0
    m = first
    while m < last and members[m].top < 0:
        add_one(dr, di, members[m], pool, ur, ui, base, 1)
        m += 1
    for bit in range(bits):
        size = 1 << bit
        a, b, p, q = dr[0] * 0, dr[0] * 0, dr[0] * 0, dr[0] * 0
        while m < last and members[m].top == bit and not members[m].general:
            if base & members[m].outer_controls == members[m].outer_controls:
                c, d = value(members[m], pool, ur, ui, 0, base)
                e, f = value(members[m], pool, ur, ui, size, base)
                a, b, p, q = a + c, b + d, p + e, q + f
            m += 1
        x, y, u, v = dr[:size], di[:size], dr[size : 2 * size], di[size : 2 * size]
        for k in range(size):
            u[k], v[k], x[k], y[k] = x[k] + p, y[k] + q, x[k] + a, y[k] + b
        while m < last and members[m].top == bit:
            add_one(dr, di, members[m], pool, ur, ui, base, 2 * size)
            m += 1


def push_diagonals(
    gate: Instruction, members: np.ndarray, pool: np.ndarray, vr: np.ndarray, vi: np.ndarray, ur: np.ndarray,
    ui: np.ndarray, base: int, bits: int, re: np.ndarray, im: np.ndarray, pr: np.ndarray, pi: np.ndarray,
    dr: np.ndarray, di: np.ndarray,
) -> None:  # fmt: skip
    """The instruction of diagonal gates D: ``dpsi`` becomes ``D (dpsi + (dD / D) psi)``."""
    first, last = gate.first, gate.last
    if gate.wanted:
        add_up(dr, di, members, first, last, pool, ur, ui, base, bits)
        add_product(pr, pi, dr, di, re, im, 1)
    build(dr, di, members, first, last, pool, vr, vi, base, bits)
    for x, y in ((re, im), (pr, pi)):
        apply_diagonal(x, y, dr, di)


def run_forward(
    tables: Tables, r: int, vr: np.ndarray, vi: np.ndarray, ur: np.ndarray, ui: np.ndarray, base: int, state: Chunk,
    room: Chunk, sources: np.ndarray, tr: np.ndarray, ti: np.ndarray,
) -> None:  # fmt: skip
    """Apply the instructions of round r to the chunk that begins at `base`."""
    rounds, code, members, permutations, pool, bits = tables
    re, im, pr, pi, dr, di = state[0], state[1], state[2], state[3], room[0], room[1]
    for i in range(rounds[r].first, rounds[r].last):
        gate = code[i]
        if gate.kind == DIAGONAL:
            push_diagonals(gate, members, pool, vr, vi, ur, ui, base, bits, re, im, pr, pi, dr, di)
        elif gate.kind == AFFINE:
            sources_of(permutations[gate.permutation], pool, bits, base, sources)
            for part in (re, im, pr, pi):
                permute(part, dr, sources)
        elif base & gate.outer_controls == gate.outer_controls:
            push(gate, pool, vr, vi, ur, ui, base, re, im, pr, pi, dr, di, tr, ti)


def run_backward(
    tables: Tables, r: int, vr: np.ndarray, vi: np.ndarray, ur: np.ndarray, ui: np.ndarray, base: int, state: Chunk,
    dual: Chunk, room: Chunk, sources: np.ndarray, tr: np.ndarray, ti: np.ndarray, slopes: np.ndarray,
) -> None:  # fmt: skip
    """Take the instructions of round r back; the sums and their tangents are added to `slopes` (2, E, 2)."""
    rounds, code, members, permutations, pool, bits = tables
    re, im, pr, pi, dr, di = state[0], state[1], state[2], state[3], room[0], room[1]
    lr, li, qr, qi = dual[0], dual[1], dual[2], dual[3]
    for i in range(rounds[r].last - 1, rounds[r].first - 1, -1):
        gate = code[i]
        if gate.kind == DIAGONAL:
            if gate.wanted:  # unitary gates cancel in these products
                clear(dr, di)
                add_product(dr, di, lr, li, re, im, -1)
                reduce(dr, di, members, gate.first, gate.last, pool, base, bits, slopes[0])
                clear(dr, di)
                add_product(dr, di, lr, li, pr, pi, -1)
                add_product(dr, di, qr, qi, re, im, -1)
                reduce(dr, di, members, gate.first, gate.last, pool, base, bits, slopes[1])
            push_diagonals(gate, members, pool, vr, vi, ur, ui, base, bits, re, im, pr, pi, dr, di)
            push_diagonals(gate, members, pool, vr, vi, ur, ui, base, bits, lr, li, qr, qi, dr, di)
        elif gate.kind == AFFINE:
            sources_of(permutations[gate.inverse], pool, bits, base, sources)
            for part in (re, im, pr, pi, lr, li, qr, qi):
                permute(part, dr, sources)
        elif base & gate.outer_controls == gate.outer_controls:
            push(gate, pool, vr, vi, ur, ui, base, re, im, pr, pi, dr, di, tr, ti)
            if gate.wanted:
                reduce_one(gate, pool, base, lr, li, re, im, slopes[0])
                reduce_one(gate, pool, base, lr, li, pr, pi, slopes[1])
                reduce_one(gate, pool, base, qr, qi, re, im, slopes[1])
            push(gate, pool, vr, vi, ur, ui, base, lr, li, qr, qi, dr, di, tr, ti)


def load_both(psi: np.ndarray, b: int, pool: np.ndarray, first: int, run: int, base: int, state: Chunk) -> None:
    """Copy a chunk of a state (2, B, 2**n) and of its tangent into real and imaginary parts."""
    load(psi[0, b], pool, first, run, base, state[0], state[1])
    load(psi[1, b], pool, first, run, base, state[2], state[3])


def store_both(psi: np.ndarray, b: int, pool: np.ndarray, first: int, run: int, base: int, state: Chunk) -> None:
    """Copy a chunk of a state and of its tangent back."""
    store(psi[0, b], pool, first, run, base, state[0], state[1])
    store(psi[1, b], pool, first, run, base, state[2], state[3])


def forward(
    psi: Complexes3, r: Int, begin: Int, end: Int,
    tables: Tables, entries: Reals3, tangents: Reals3,
    chunk: Reals2, rows: Reals3, sources: ShortInts,
) -> None:  # fmt: skip
    """Round r on chunks `begin` to `end` of states and their tangents (2, B, 2**n), counted through all states."""
    rounds, pool = tables.rounds, tables.pool
    state, room = (chunk[0], chunk[1], chunk[2], chunk[3]), (chunk[4], chunk[5])
    first, run, chunks = rounds[r].offsets, rounds[r].run, rounds[r].chunks
    for task in range(begin, end):
        b, base = task // chunks, pool[rounds[r].bases + task % chunks]
        v = min(b, entries.shape[1] - 1)
        vr, vi, ur, ui = entries[0, v], entries[1, v], tangents[0, v], tangents[1, v]
        load_both(psi, b, pool, first, run, base, state)
        run_forward(tables, r, vr, vi, ur, ui, base, state, room, sources, rows[0], rows[1])
        store_both(psi, b, pool, first, run, base, state)


def backward(
    psi: Complexes3, lam: Complexes3, r: Int, begin: Int, end: Int,
    tables: Tables, entries: Reals3, tangents: Reals3,
    slopes: Floats4, chunk: Reals2, rows: Reals3, sources: ShortInts,
) -> None:  # fmt: skip
    """Round r backward; `lam` (2, B, 2**n) are conjugate cotangents and their tangents, `slopes` is (B, 2, E, 2)."""
    rounds, pool = tables.rounds, tables.pool
    state, room = (chunk[0], chunk[1], chunk[2], chunk[3]), (chunk[4], chunk[5])
    dual = (chunk[6], chunk[7], chunk[8], chunk[9])
    first, run, chunks = rounds[r].offsets, rounds[r].run, rounds[r].chunks
    for task in range(begin, end):
        b, base = task // chunks, pool[rounds[r].bases + task % chunks]
        v = min(b, entries.shape[1] - 1)
        vr, vi, ur, ui = entries[0, v], entries[1, v], tangents[0, v], tangents[1, v]
        load_both(psi, b, pool, first, run, base, state)
        load_both(lam, b, pool, first, run, base, dual)
        run_backward(
            tables, r, vr, vi, ur, ui, base, state, dual, room, sources, rows[0], rows[1], slopes[b]
        )  # fmt: skip
        store_both(psi, b, pool, first, run, base, state)
        store_both(lam, b, pool, first, run, base, dual)
