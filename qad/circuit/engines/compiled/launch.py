"""How kernels are called: round by round, on as many threads as the work is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.engines.compiled.blocking import LOCAL, schedule_of
from qad.circuit.engines.compiled.entries import REAL_OF
from qad.native.sharing import in_rounds, share, threads_for

if TYPE_CHECKING:
    from typing import Any

    from qad.circuit.program.ir import CircuitProgram
    from qad.native.kernels import Kernel

LINE = 64  # bytes
ROOMS: dict[tuple[Any, ...], tuple[np.ndarray, ...]] = {}  # those that no call has at the moment


def run(
    kernel: Kernel, program: CircuitProgram, states: tuple[np.ndarray, ...], entries: tuple[np.ndarray, ...],
    shape: tuple[int, ...] | None = None,
) -> Any:  # fmt: skip
    """Run all rounds of a kernel on states (..., B, 2**n); the sums of a backward kernel, of this shape each.

    Threads share the batch, or the chunks of a single state, of which each then has sums of its own.
    """
    schedule, batch = schedule_of(program), states[0].shape[-2]
    parts, size = (batch, schedule.chunks) if batch > 1 else (schedule.chunks, 1)
    threads = threads_for(parts, schedule.instructions * states[0].size)
    rounds, sums = range(schedule.rounds), None
    if shape is not None:
        rounds, sums = rounds[::-1], np.zeros((batch if batch > 1 else threads, *shape))
    vectors = (1 + len(states)) * states[0].size // (batch << program.n)
    kinds = [(vectors, schedule.bits, schedule.widest, states[0].dtype, thread) for thread in range(threads)]
    rooms = [ROOMS.pop(kind, None) or room(*kind[:-1]) for kind in kinds]

    def work(r, thread):
        first, last = share(parts, thread, threads)
        own = () if sums is None else (sums if batch > 1 else sums[thread : thread + 1],)
        kernel(*states, r, size * first, size * last, schedule.tables, *entries, *own, *rooms[thread])

    in_rounds(work, rounds, threads)
    if schedule.bits <= LOCAL:
        ROOMS.update(zip(kinds, rooms, strict=True))
    return sums.sum(0, keepdims=True) if threads > 1 and batch == 1 and sums is not None else sums


def room(vectors: int, bits: int, widest: int, dtype: np.dtype[Any]) -> tuple[np.ndarray, ...]:
    """One thread's memory: vectors of real and imaginary parts and a diagonal, a matrix's amplitudes, a permutation.

    The vectors lie on lines of the cache, which a register then fills from one: of 12 qubits 0.92 of the time.
    """
    real, shape = REAL_OF[dtype], (2 * vectors + 2, 1 << bits)
    memory = np.empty(shape[0] * shape[1] + LINE // real.itemsize, real)
    chunk = np.ndarray(shape, real, memory, -memory.ctypes.data % LINE)
    return chunk, np.empty((2, widest, 16), real), np.empty(shape[1], "i4")
