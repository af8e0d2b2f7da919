"""A round over states: chunk by chunk, for the part of the chunks that one thread is given.

Memory of the thread's own comes with the call: `chunk` holds real and imaginary parts of a chunk and of what goes
with it, `rows` amplitudes of dense matrices, and `sources` a permutation.
"""

import numpy as np

from qad.circuit.engines.compiled.arguments import Complexes2, Floats3, Int, Reals2, Reals3, ShortInts
from qad.circuit.engines.compiled.block_kernels import run_backward, run_forward
from qad.circuit.engines.compiled.tables import Tables


def load(psi: np.ndarray, pool: np.ndarray, first: int, run: int, base: int, re: np.ndarray, im: np.ndarray) -> None:
    """Copy a chunk of a complex state into real and imaginary parts; ``pool[first:]`` has the offsets of its runs."""
    for j in range(re.size // run):
        at = base + pool[first + j]
        x, u, v = psi[at : at + run], re[j * run : (j + 1) * run], im[j * run : (j + 1) * run]
        for k in range(run):
            u[k], v[k] = x[k].real, x[k].imag


def store(psi: np.ndarray, pool: np.ndarray, first: int, run: int, base: int, re: np.ndarray, im: np.ndarray) -> None:
    """Copy a chunk back."""
    for j in range(re.size // run):
        at = base + pool[first + j]
        x, u, v = psi[at : at + run], re[j * run : (j + 1) * run], im[j * run : (j + 1) * run]
        for k in range(run):
            x[k] = complex(u[k], v[k])


def forward(
    psi: Complexes2, r: Int, begin: Int, end: Int,
    tables: Tables, entries: Reals3,
    chunk: Reals2, rows: Reals3, sources: ShortInts,
) -> None:  # fmt: skip
    """Round r on chunks `begin` to `end` of states (B, 2**n), counted through all states.

    The entries (2, B, E) of all gates have a row for each state, or one for all.
    """
    rounds, pool = tables.rounds, tables.pool
    re, im, dr, di = chunk[0], chunk[1], chunk[2], chunk[3]
    first, run, chunks = rounds[r].offsets, rounds[r].run, rounds[r].chunks
    for task in range(begin, end):
        b, base = task // chunks, pool[rounds[r].bases + task % chunks]
        v = min(b, entries.shape[1] - 1)
        vr, vi = entries[0, v], entries[1, v]
        load(psi[b], pool, first, run, base, re, im)
        run_forward(tables, r, vr, vi, base, re, im, dr, di, sources, rows[0], rows[1])
        store(psi[b], pool, first, run, base, re, im)


def backward(
    psi: Complexes2, dual: Complexes2, r: Int, begin: Int, end: Int,
    tables: Tables, entries: Reals3, slopes: Floats3,
    chunk: Reals2, rows: Reals3, sources: ShortInts,
) -> None:  # fmt: skip
    """Round r backward, with the entries of the inverse gates; `dual` is the conjugate of the cotangent.

    `slopes` (B, E, 2) collects the cotangents of the entries.
    """
    rounds, pool = tables.rounds, tables.pool
    re, im, dr, di, lr, li = chunk[0], chunk[1], chunk[2], chunk[3], chunk[4], chunk[5]
    first, run, chunks = rounds[r].offsets, rounds[r].run, rounds[r].chunks
    for task in range(begin, end):
        b, base = task // chunks, pool[rounds[r].bases + task % chunks]
        v = min(b, entries.shape[1] - 1)
        vr, vi = entries[0, v], entries[1, v]
        load(psi[b], pool, first, run, base, re, im)
        load(dual[b], pool, first, run, base, lr, li)
        run_backward(
            tables, r, vr, vi, base, re, im, lr, li, dr, di, sources, rows[0], rows[1], slopes[b]
        )  # fmt: skip
        store(psi[b], pool, first, run, base, re, im)
        store(dual[b], pool, first, run, base, lr, li)
