"""Rounds over states: chunk by chunk, on threads that share the chunks of a large state or a batch of small ones."""

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
def forward_chunks(psi, begin, end, r, tables, vr, vi, buffers, places, room):
    """Chunks `begin` to `end` of round r."""
    rounds, code, members, aux, offsets, bases, bits = tables
    re, im, dr, di = buffers[0], buffers[1], buffers[2], buffers[3]
    run = rounds[r, 4]
    for c in range(begin, end):
        base = bases[rounds[r, 3] + c]
        load(psi, offsets, rounds[r, 2], re.size // run, run, base, re, im)
        run_forward(
            code, rounds[r, 0], rounds[r, 1], members, aux, vr, vi, base, bits, re, im, dr, di, places,
            room[0], room[1],
        )  # fmt: skip
        store(psi, offsets, rounds[r, 2], re.size // run, run, base, re, im)


@jit
def backward_chunks(psi, dual, begin, end, r, tables, vr, vi, slopes, buffers, places, room):
    """The same, backward; `dual` is the conjugate of the cotangent."""
    rounds, code, members, aux, offsets, bases, bits = tables
    re, im, dr, di, lr, li = buffers[0], buffers[1], buffers[2], buffers[3], buffers[4], buffers[5]
    run = rounds[r, 4]
    count = re.size // run
    for c in range(begin, end):
        base = bases[rounds[r, 3] + c]
        load(psi, offsets, rounds[r, 2], count, run, base, re, im)
        load(dual, offsets, rounds[r, 2], count, run, base, lr, li)
        run_backward(
            code, rounds[r, 0], rounds[r, 1], members, aux, vr, vi, base, bits, re, im, lr, li, dr, di, places,
            room[0], room[1], slopes,
        )  # fmt: skip
        store(psi, offsets, rounds[r, 2], count, run, base, re, im)
        store(dual, offsets, rounds[r, 2], count, run, base, lr, li)


def forward(psi, tables, vr, vi, widest, threads):
    """All rounds of states (B, 2**n); numbers of the gates for each, or the same for all."""
    rounds, bits = tables[0], tables[6]
    tasks = psi.shape[0] * threads
    buffers, room = np.empty((tasks, 4, 1 << bits), vr.dtype), np.empty((tasks, 2, widest, 16), vr.dtype)
    places = np.empty((tasks, 1 << bits), np.int32)
    for r in range(rounds.shape[0]):
        chunks = rounds[r, 5]
        for task in prange(tasks):
            b, t = task // threads, task % threads
            v = min(b, vr.shape[0] - 1)
            begin, end = t * chunks // threads, (t + 1) * chunks // threads
            forward_chunks(psi[b], begin, end, r, tables, vr[v], vi[v], buffers[task], places[task], room[task])


def backward(psi, dual, tables, vr, vi, slopes, widest, threads):
    """The same, backward, with the numbers of the inverse gates and `slopes` (B * threads, E, 2)."""
    rounds, bits = tables[0], tables[6]
    tasks = psi.shape[0] * threads
    buffers, room = np.empty((tasks, 6, 1 << bits), vr.dtype), np.empty((tasks, 2, widest, 16), vr.dtype)
    places = np.empty((tasks, 1 << bits), np.int32)
    for r in range(rounds.shape[0] - 1, -1, -1):
        chunks = rounds[r, 5]
        for task in prange(tasks):
            b, t = task // threads, task % threads
            v = min(b, vr.shape[0] - 1)
            begin, end = t * chunks // threads, (t + 1) * chunks // threads
            backward_chunks(
                psi[b], dual[b], begin, end, r, tables, vr[v], vi[v], slopes[task],
                buffers[task], places[task], room[task],
            )  # fmt: skip


forward_alone, forward_together = jit(forward), parallel(forward)
backward_alone, backward_together = jit(backward), parallel(backward)
