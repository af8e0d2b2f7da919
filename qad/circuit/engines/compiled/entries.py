"""Real and imaginary parts (2, B, E) of the entries of all gates in the order of a schedule, and the way back.

Constants come first, and then the program's vector.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.engines.compiled import kernels
from qad.circuit.engines.compiled.angles import AngleGates
from qad.circuit.engines.compiled.blocking import schedule_of
from qad.native import Bundle, readable

if TYPE_CHECKING:
    from typing import Any

    from qad.circuit.engines.compiled.blocking import Schedule
    from qad.circuit.program.ir import CircuitProgram

REAL_OF: dict[np.dtype[Any], np.dtype[Any]] = {
    np.dtype(np.complex128): np.dtype(np.float64),
    np.dtype(np.complex64): np.dtype(np.float32),
}
COMPLEX_OF: dict[np.dtype[Any], np.dtype[Any]] = {real: dtype for dtype, real in REAL_OF.items()}


def entries_of(program: CircuitProgram, x: np.ndarray, dtype: np.dtype[Any], inverse: bool = False) -> np.ndarray:
    """All entries (2, B, E), or those of the inverse gates, from parameters or entries."""
    schedule = schedule_of(program)
    if program.by_angles:
        found = np.empty((2, len(x), schedule.order.size), REAL_OF[dtype])
        kernels.rounds(dtype).fill(readable(x), angle_tables(program)[inverse], found)
        return found
    found = after(schedule.constants, x, dtype)
    return inverted(schedule, found) if inverse else found


def after(constants: np.ndarray, entries: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Constants and the entries behind them as (2, B, E), in the precision of the state."""
    every = np.concatenate([np.broadcast_to(constants, (len(entries), len(constants))), entries], 1)
    return np.stack([every.real, every.imag]).astype(REAL_OF[dtype], copy=False)


def inverted(schedule: Schedule, entries: np.ndarray) -> np.ndarray:
    """The entries of the inverse gates."""
    return np.take(entries, schedule.order, 2) * schedule.signs[:, None].astype(entries.dtype, copy=False)


def divide(schedule: Schedule, slopes: np.ndarray, entries: np.ndarray) -> None:
    """Divide the sums (B, E, 2) of diagonal gates, whose products contain all gates, by the gates themselves.

    The given entries are those of the inverse gates, in the precision of the state.
    """
    kernels.rounds(COMPLEX_OF[entries.dtype]).divide(slopes, schedule.diagonal, schedule.parity, entries)


def of_vector(schedule: Schedule, slopes: np.ndarray) -> np.ndarray:
    """Cotangents (B, E) of the program's vector, from those (B, E, 2) of all entries."""
    found = slopes[:, len(schedule.constants) :]
    return found[..., 0] + 1j * found[..., 1]


def angle_tables(program: CircuitProgram) -> list[Bundle]:
    """The gates of one parameter, and their inverses, as the kernels read them."""
    if "angles" not in program.store:
        schedule, p = schedule_of(program), program.polynomials
        count, firsts = len(schedule.constants), np.concatenate([[0], np.cumsum(np.bincount(p.gate))])
        every = np.stack([p.constant, p.cosine, p.sine])
        every = np.concatenate([np.broadcast_to(schedule.constants, (3, count)), every], 1)
        re, im = inverted(schedule, np.stack([every.real, every.imag]))
        program.store["angles"] = [
            Bundle(AngleGates(
                p.slots, p.frequencies, firsts, x[0, :count].copy(), x[:, count:].copy(), schedule.diagonal,
                schedule.parity,
            ))
            for x in (every, re + 1j * im)
        ]  # fmt: skip
    return program.store["angles"]
