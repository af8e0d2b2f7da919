"""Real and imaginary parts (B, E) of the entries of all gates in the order of a schedule, and the way back.

Constants come first, and then the program's real and complex vector.
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


def entries_of(
    constants: np.ndarray, real: np.ndarray, complex_: np.ndarray, dtype: np.dtype[Any], component: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Real and imaginary parts (B, E) of all entries, the constant ones first, in the precision of the state."""
    batch = max(real.shape[1], complex_.shape[1])
    constant, r, c = len(constants), real.shape[2], complex_.shape[2]
    vr = np.empty((batch, constant + r + c), REAL_OF[dtype])
    vi = np.zeros_like(vr)
    vr[:, :constant], vi[:, :constant] = (0.0, 0.0) if component else (constants.real, constants.imag)
    real, complex_ = real[component], complex_[component]
    vr[:, constant : constant + r] = real
    vr[:, constant + r :], vi[:, constant + r :] = complex_.real, complex_.imag
    return vr, vi


def inverted(schedule: Schedule, vr: np.ndarray, vi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The entries of the inverse gates."""
    signs = schedule.signs.astype(vr.dtype, copy=False)
    return np.take(vr, schedule.order, 1) * signs[0], np.take(vi, schedule.order, 1) * signs[1]


def divide(schedule: Schedule, slopes: np.ndarray, vr: np.ndarray, vi: np.ndarray) -> None:
    """Divide the sums (B, E, 2) of diagonal gates, whose products contain all gates, by the gates themselves."""
    u, v = slopes[..., 0], slopes[..., 1]
    if len(which := schedule.diagonal):
        p, q, x, y = vr[:, which], vi[:, which], u[:, which], v[:, which]
        u[:, which], v[:, which] = x * p + y * q, y * p - x * q
    if len(plus := schedule.parity):
        c, s, minus = vr[:, plus], vr[:, plus + 1], plus + 1
        x, y, p, q = u[:, plus], v[:, plus], u[:, minus], v[:, minus]  # over even and over odd parity
        u[:, plus], u[:, minus] = c * (x + p) - s * (y - q), c * (y - q) + s * (x + p)


def split(schedule: Schedule, slopes: np.ndarray, reals: int) -> tuple[np.ndarray, np.ndarray]:
    """Cotangents (B, E) of the real and of the complex vector, from those (B, E, 2) of all entries."""
    u, v, constant = slopes[..., 0], slopes[..., 1], len(schedule.constants)
    end = constant + reals
    return u[:, constant:end], u[:, end:] + 1j * v[:, end:]


def angle_tables(program: CircuitProgram) -> list[Bundle]:
    """The gates of one parameter, and their inverses, as the kernels read them."""
    if "angles" not in program.store:
        parts = [p for p in (program.real, program.complex) if p is not None]
        counts = np.concatenate([np.bincount(p.gate) for p in parts]) if parts else np.zeros(0, np.int64)
        coefficients = [np.stack([p.constant, p.cosine, p.sine]).astype(complex) for p in parts]
        gates = (
            np.concatenate([p.slots for p in parts] or [np.zeros(0, np.intp)]),
            np.concatenate([p.frequencies for p in parts] or [np.zeros(0)]),
            np.concatenate([[0], np.cumsum(counts)]),
        )
        schedule = schedule_of(program)
        fixed, rest = schedule.constants, np.concatenate(coefficients or [np.zeros((3, 0), complex)], 1)
        every = np.concatenate([np.broadcast_to(fixed, (3, len(fixed))), rest], 1)
        re, im = every.real[:, schedule.order] * schedule.signs[0], every.imag[:, schedule.order] * schedule.signs[1]
        count = len(fixed)
        program.store["angles"] = [
            Bundle(AngleGates(*gates, x[0, :count].copy(), x[:, count:].copy(), schedule.diagonal, schedule.parity))
            for x in (every, re + 1j * im)
        ]
    return program.store["angles"]


def entries_of_angles(
    program: CircuitProgram, theta: np.ndarray, dtype: np.dtype[Any], inverse: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Real and imaginary parts (B, E) of all entries, or of those of the inverse gates, from parameters (B, P)."""
    vr = np.empty((len(theta), schedule_of(program).order.size), REAL_OF[dtype])
    vi = np.empty_like(vr)
    kernels.rounds(dtype).fill(readable(theta), angle_tables(program)[inverse], vr, vi)
    return vr, vi
