"""Rounds over whole states: chunk by chunk, with threads over chunks of a large state or over a batch of small ones."""

import numpy as np

from qad.circuit.compiled.chunk import run_backward, run_forward
from qad.circuit.compiled.jit import jit, parallel, prange


@jit
def load(psi, offsets, first, count, run, base, re, im):
    """Copy a chunk of a complex state into real and imaginary parts."""
    for j in range(count):
        at = base + offsets[first + j]
        x, u, v = psi[at : at + run], re[j * run : (j + 1) * run], im[j * run : (j + 1) * run]
        for k in range(run):
            u[k], v[k] = x[k].real, x[k].imag


@jit
def store(psi, offsets, first, count, run, base, re, im):
    """Copy a chunk back."""
    for j in range(count):
        at = base + offsets[first + j]
        x, u, v = psi[at : at + run], re[j * run : (j + 1) * run], im[j * run : (j + 1) * run]
        for k in range(run):
            x[k] = complex(u[k], v[k])


@jit
def forward_chunks(psi, begin, end, r, tables, vr, vi, buffers, room):
    """Chunks `begin` to `end` of round r."""
    rounds, code, members, aux, offsets, bases, bits = tables
    re, im, dr, di = buffers[0], buffers[1], buffers[2], buffers[3]
    run = rounds[r, 4]
    for c in range(begin, end):
        base = bases[rounds[r, 3] + c]
        load(psi, offsets, rounds[r, 2], re.size // run, run, base, re, im)
        run_forward(code, rounds[r, 0], rounds[r, 1], members, aux, vr, vi, base, bits, re, im, dr, di, room[0], room[1])
        store(psi, offsets, rounds[r, 2], re.size // run, run, base, re, im)


@jit
def backward_chunks(psi, dual, begin, end, r, tables, vr, vi, slopes, buffers, room):
    """The same, backward."""
    rounds, code, members, aux, offsets, bases, bits = tables
    re, im, dr, di, lr, li = buffers[0], buffers[1], buffers[2], buffers[3], buffers[4], buffers[5]
    run = rounds[r, 4]
    count = re.size // run
    for c in range(begin, end):
        base = bases[rounds[r, 3] + c]
        load(psi, offsets, rounds[r, 2], count, run, base, re, im)
        load(dual, offsets, rounds[r, 2], count, run, base, lr, li)
        run_backward(
            code, rounds[r, 0], rounds[r, 1], members, aux, vr, vi, base, bits, re, im, lr, li, dr, di, room[0], room[1],
            slopes,
        )  # fmt: skip
        store(psi, offsets, rounds[r, 2], count, run, base, re, im)
        store(dual, offsets, rounds[r, 2], count, run, base, lr, li)


@jit
def forward_row(psi, tables, vr, vi, widest):
    """All rounds of one state, on one thread."""
    rounds, bits = tables[0], tables[6]
    buffers, room = np.empty((4, 1 << bits), vr.dtype), np.empty((2, widest, 16), vr.dtype)
    for r in range(rounds.shape[0]):
        forward_chunks(psi, 0, rounds[r, 5], r, tables, vr, vi, buffers, room)


@jit
def backward_row(psi, dual, tables, vr, vi, slopes, widest):
    """The same, backward."""
    rounds, bits = tables[0], tables[6]
    buffers, room = np.empty((6, 1 << bits), vr.dtype), np.empty((2, widest, 16), vr.dtype)
    for r in range(rounds.shape[0] - 1, -1, -1):
        backward_chunks(psi, dual, 0, rounds[r, 5], r, tables, vr, vi, slopes, buffers, room)


@parallel
def forward_rows(psi, tables, vr, vi, widest):
    """Many states; numbers of the gates for each, or the same for all."""
    for b in prange(psi.shape[0]):
        v = min(b, vr.shape[0] - 1)
        forward_row(psi[b], tables, vr[v], vi[v], widest)


@parallel
def backward_rows(psi, dual, tables, vr, vi, slopes, widest):
    """The same, backward, with `slopes` (B, E, 2)."""
    for b in prange(psi.shape[0]):
        v = min(b, vr.shape[0] - 1)
        backward_row(psi[b], dual[b], tables, vr[v], vi[v], slopes[b], widest)


@parallel
def forward_threads(psi, tables, vr, vi, widest, threads):
    """One large state, its chunks shared between threads."""
    rounds, bits = tables[0], tables[6]
    buffers, room = np.empty((threads, 4, 1 << bits), vr.dtype), np.empty((threads, 2, widest, 16), vr.dtype)
    for r in range(rounds.shape[0]):
        chunks = rounds[r, 5]
        for t in prange(threads):
            begin, end = t * chunks // threads, (t + 1) * chunks // threads
            forward_chunks(psi, begin, end, r, tables, vr, vi, buffers[t], room[t])


@parallel
def backward_threads(psi, dual, tables, vr, vi, slopes, widest, threads):
    """The same, backward, with `slopes` (threads, E, 2)."""
    rounds, bits = tables[0], tables[6]
    buffers, room = np.empty((threads, 6, 1 << bits), vr.dtype), np.empty((threads, 2, widest, 16), vr.dtype)
    for r in range(rounds.shape[0] - 1, -1, -1):
        chunks = rounds[r, 5]
        for t in prange(threads):
            begin, end = t * chunks // threads, (t + 1) * chunks // threads
            backward_chunks(psi, dual, begin, end, r, tables, vr, vi, slopes[t], buffers[t], room[t])
