"""How kernels are called: round by round, on as many threads as the work is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.engines.compiled.blocking import schedule_of
from qad.circuit.engines.compiled.entries import REAL_OF
from qad.native.sharing import in_rounds, share, threads_for

if TYPE_CHECKING:
    from typing import Any

    from qad.circuit.program.ir import CircuitProgram
    from qad.native.kernels import Bundle, Kernel


def run(
    kernel: Kernel, program: CircuitProgram, states: tuple[np.ndarray, ...], entries: tuple[np.ndarray, ...],
    shape: tuple[int, ...] | None = None,
) -> Any:  # fmt: skip
    """Run all rounds of a kernel on states (..., B, 2**n); the sums of a backward kernel, of this shape each.

    Threads share the batch, or the chunks of a single state, of which each then has sums of its own.
    """
    tables, widest = tables_of(program)
    batch = states[0].shape[-2]
    fields = tables.fields
    chunks = int(fields.rounds["chunks"][0])
    parts, size = (batch, chunks) if batch > 1 else (chunks, 1)
    threads = threads_for(parts, len(fields.code) * states[0].size)
    rounds, sums = range(len(fields.rounds)), None
    if shape is not None:
        rounds, sums = rounds[::-1], np.zeros((batch if batch > 1 else threads, *shape))
    components = states[0].size // (batch << program.n)
    rooms = [room(fields.bits, widest, components * (1 + len(states)), states[0].dtype) for _ in range(threads)]

    def work(r, thread):
        first, last = share(parts, thread, threads)
        own = () if sums is None else (sums if batch > 1 else sums[thread : thread + 1],)
        kernel(*states, r, size * first, size * last, tables, *entries, *own, *rooms[thread])

    in_rounds(work, rounds, threads)
    return sums.sum(0, keepdims=True) if threads > 1 and batch == 1 and sums is not None else sums


def room(bits: int, widest: int, vectors: int, dtype: np.dtype[Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One thread's memory: vectors of real and imaginary parts and a diagonal, a matrix's amplitudes, a permutation."""
    real = REAL_OF[dtype]
    chunk, rows = np.empty((2 * vectors + 2, 1 << bits), real), np.empty((2, widest, 16), real)
    return chunk, rows, np.empty(1 << bits, np.int32)


def tables_of(program: CircuitProgram) -> tuple[Bundle, int]:
    """The kernels' tables, and the number of rows of the largest matrix."""
    if "widest" not in program.store:
        qubits = max((len(op.targets) for op in program.instructions if op.kind == "matrix"), default=0)
        program.store["widest"] = 2**qubits
    return schedule_of(program).tables, program.store["widest"]
