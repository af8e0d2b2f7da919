"""A round over states: chunk by chunk, for the part of the chunks that one thread is given."""

import numpy as np

from qad.circuit.compiled.block_kernels import run_backward, run_forward
from qad.circuit.compiled.jit import inlined, inner


@inner
def load(psi, pool, first, run, base, re, im):
    """Copy a chunk of a complex state into real and imaginary parts; ``pool[first:]`` has the offsets of its runs."""
    for j in range(re.size // run):
        at = base + pool[first + j]
        x, u, v = psi[at : at + run], re[j * run : (j + 1) * run], im[j * run : (j + 1) * run]
        for k in range(run):
            u[k], v[k] = x[k].real, x[k].imag


@inner
def store(psi, pool, first, run, base, re, im):
    """Copy a chunk back."""
    for j in range(re.size // run):
        at = base + pool[first + j]
        x, u, v = psi[at : at + run], re[j * run : (j + 1) * run], im[j * run : (j + 1) * run]
        for k in range(run):
            x[k] = complex(u[k], v[k])


@inlined
def forward(psi, r, begin, end, tables, vr, vi, widest):
    """Round r on chunks `begin` to `end` of states (B, 2**n), counted through all states.

    `vr` and `vi` are the entries of all gates, a row for each state, or one for all.
    """
    rounds, _, _, _, pool, bits = tables
    buffers = np.empty((4, 1 << bits), vr.dtype)
    re, im, dr, di = buffers[0], buffers[1], buffers[2], buffers[3]
    room, sources = np.empty((2, widest, 16), vr.dtype), np.empty(1 << bits, np.int32)
    first, run, chunks = rounds[r].offsets, rounds[r].run, rounds[r].chunks
    for task in range(begin, end):
        b, base = task // chunks, pool[rounds[r].bases + task % chunks]
        v = min(b, vr.shape[0] - 1)
        load(psi[b], pool, first, run, base, re, im)
        run_forward(tables, r, vr[v], vi[v], base, re, im, dr, di, sources, room[0], room[1])
        store(psi[b], pool, first, run, base, re, im)


@inlined
def backward(psi, dual, r, begin, end, tables, vr, vi, slopes, widest):
    """Round r backward, with the entries of the inverse gates; `dual` is the conjugate of the cotangent.

    `slopes` (B, E, 2) collects the cotangents of the entries.
    """
    rounds, _, _, _, pool, bits = tables
    buffers = np.empty((6, 1 << bits), vr.dtype)
    re, im, dr, di, lr, li = buffers[0], buffers[1], buffers[2], buffers[3], buffers[4], buffers[5]
    room, sources = np.empty((2, widest, 16), vr.dtype), np.empty(1 << bits, np.int32)
    first, run, chunks = rounds[r].offsets, rounds[r].run, rounds[r].chunks
    for task in range(begin, end):
        b, base = task // chunks, pool[rounds[r].bases + task % chunks]
        v = min(b, vr.shape[0] - 1)
        load(psi[b], pool, first, run, base, re, im)
        load(dual[b], pool, first, run, base, lr, li)
        run_backward(
            tables, r, vr[v], vi[v], base, re, im, lr, li, dr, di, sources, room[0], room[1], slopes[b]
        )  # fmt: skip
        store(psi[b], pool, first, run, base, re, im)
        store(dual[b], pool, first, run, base, lr, li)
