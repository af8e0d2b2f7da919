"""Two components on compiled kernels: states, entries and cotangents are dual numbers ``x + e dx``, ``e e = 0``.

Cotangents g of two components become the dual number ``g_1 + e g_0``: from its products with the state, the slopes of
entries come out as ``slope_1 + e slope_0`` (compare `qad.circuit.engines.reference`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.engines import reference
from qad.circuit.engines.compiled import kernels
from qad.circuit.engines.compiled.blocking import schedule_of
from qad.circuit.engines.compiled.entries import after, divide, inverted, of_vector
from qad.circuit.engines.compiled.launch import run

if TYPE_CHECKING:
    from typing import Any

    from qad.circuit.engines.compiled.blocking import Schedule
    from qad.circuit.program.ir import CircuitProgram


def forward(program: CircuitProgram, theta: np.ndarray, psi: np.ndarray) -> np.ndarray:
    """The final states (2, B, 2**n) from parameters (2, B, P) and initial states."""
    schedule, (v, u) = both(program, theta, psi.dtype)
    out = np.zeros((2, max(v.shape[1], psi.shape[1]), 2**program.n), psi.dtype)
    out[:, :, : psi.shape[2]] = psi
    run(kernels.tangents(psi.dtype).forward, program, (out,), (v, logarithmic(schedule, v, u)))
    return out


def backward(
    program: CircuitProgram, theta: np.ndarray, psi: np.ndarray, out: np.ndarray, g: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Cotangents (2, B, ...) of the parameters and of the initial states."""
    schedule, (v, u) = both(program, theta, out.dtype)
    back, moving = inverted(schedule, v), inverted(schedule, u)
    states, dual = np.array(out, order="C"), np.ascontiguousarray(g[::-1].astype(out.dtype).conj())
    entries = back, logarithmic(schedule, back, moving)
    sums = run(kernels.tangents(out.dtype).backward, program, (states, dual), entries, (2, v.shape[2], 2))
    slopes = np.stack([of_vector(schedule, part) for part in divided(schedule, sums, back, moving)][::-1])
    found = program.transposed(theta, reference.summed(slopes, theta))
    return found, reference.summed(dual[::-1, :, : psi.shape[2]].conj(), psi)


def both(program: CircuitProgram, theta: np.ndarray, dtype: np.dtype[Any]) -> tuple[Schedule, list[np.ndarray]]:
    """The schedule, and the entries of all gates and their tangents, each (2, B, E)."""
    schedule, (v, u) = schedule_of(program), program.numbers(theta)
    return schedule, [after(schedule.constants, v, dtype), after(0 * schedule.constants, u, dtype)]


def logarithmic(schedule: Schedule, v: np.ndarray, u: np.ndarray) -> np.ndarray:
    """The tangents `u` of the entries `v`, divided by the gate where that is diagonal."""
    (p, q), (x, y) = v, (found := u.copy())
    if len(k := schedule.diagonal):
        x[:, k], y[:, k] = u[0][:, k] * p[:, k] + u[1][:, k] * q[:, k], u[1][:, k] * p[:, k] - u[0][:, k] * q[:, k]
    if len(k := schedule.parity):  # d(c - i s) / (c - i s) = -i (c ds - s dc)
        x[:, k], x[:, k + 1] = 0, p[:, k] * u[0][:, k + 1] - p[:, k + 1] * u[0][:, k]
    return found


def divided(schedule: Schedule, sums: np.ndarray, v: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The slopes and their tangents (B, E, 2) from the sums (B, 2, E, 2): x / D, and dx / D + x d(1 / D)."""
    slopes, tangents = sums[:, 0].copy(), sums[:, 1].copy()
    inner = np.zeros_like(slopes)  # of diagonal gates only
    for which in (schedule.diagonal, schedule.parity, schedule.parity + 1):
        inner[:, which] = slopes[:, which]
    divide(schedule, inner, u)
    divide(schedule, slopes, v)
    divide(schedule, tangents, v)
    return slopes, tangents + inner
