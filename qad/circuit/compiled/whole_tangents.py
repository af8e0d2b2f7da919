"""The Hessian of a small circuit's energy times directions, in one call: all of the state and its tangent is a chunk.

Compare `qad.circuit.compiled.dual_numbers`, which does the same for any circuit, in steps.  The rows of the room are
the state and its tangent (0 to 3), a diagonal's (4, 5), the cotangent and its tangent (6 to 9), the entries of the
gates and of their inverses (10 to 13), tangents of entries (14, 15), and the diagonal of a group of strings (16).
"""

from math import cos, sin

import numpy as np

from qad.circuit.compiled.angles import Gates, fill_row
from qad.circuit.compiled.arguments import Floats, Floats2, Floats3, Reals, Reals2, Reals3, ShortInts
from qad.circuit.compiled.tables import Tables
from qad.circuit.compiled.tangent import run_backward, run_forward
from qad.circuit.compiled.terms import Terms
from qad.circuit.compiled.whole_kernels import doubled, image

ROWS = 17  # of the room


def waves_of(theta: np.ndarray, gates: Gates, waves: np.ndarray) -> None:
    """Write cosine and sine of the angles of all gates, (2, G)."""
    for g in range(gates.slots.size):
        angle = gates.frequencies[g] * theta[gates.slots[g]]
        waves[0, g], waves[1, g] = cos(angle), sin(angle)


def tangents_row(waves: np.ndarray, direction: np.ndarray, gates: Gates, ur: np.ndarray, ui: np.ndarray) -> None:
    """Write the tangents of all entries (E,) along a direction (P,)."""
    slots, frequencies, firsts, constants, polynomials, _, _ = gates
    shift = constants.size
    for k in range(shift):
        ur[k], ui[k] = 0, 0
    for g in range(slots.size):
        speed = frequencies[g] * direction[slots[g]]
        c, s = speed * waves[0, g], speed * waves[1, g]
        for k in range(firsts[g], firsts[g + 1]):
            x = c * polynomials[2, k] - s * polynomials[1, k]
            ur[shift + k], ui[shift + k] = x.real, x.imag


def logarithmic(gates: Gates, vr: np.ndarray, vi: np.ndarray, ur: np.ndarray, ui: np.ndarray) -> None:
    """Divide the tangents of diagonal gates by the gates; see `qad.circuit.compiled.dual_numbers`."""
    for k in gates.diagonal:
        ur[k], ui[k] = ur[k] * vr[k] + ui[k] * vi[k], ui[k] * vr[k] - ur[k] * vi[k]
    for k in gates.parity:
        ur[k], ur[k + 1] = 0, vr[k] * ur[k + 1] - vr[k + 1] * ur[k]


def divide(
    gates: Gates, vr: np.ndarray, vi: np.ndarray, ur: np.ndarray, ui: np.ndarray, sums: np.ndarray, moving: np.ndarray
) -> None:
    """Divide the sums (E, 2) of diagonal gates by the gates, and their tangents: dx / D + x d(1 / D)."""
    for k in gates.diagonal:
        x, y, p, q = sums[k, 0], sums[k, 1], moving[k, 0], moving[k, 1]
        moving[k, 0] = p * vr[k] + q * vi[k] + x * ur[k] + y * ui[k]
        moving[k, 1] = q * vr[k] - p * vi[k] + y * ur[k] - x * ui[k]
        sums[k, 0], sums[k, 1] = x * vr[k] + y * vi[k], y * vr[k] - x * vi[k]
    for k in gates.parity:
        x, y = sums[k, 0] + sums[k + 1, 0], sums[k, 1] - sums[k + 1, 1]  # over even and over odd parity
        p, q = moving[k, 0] + moving[k + 1, 0], moving[k, 1] - moving[k + 1, 1]
        moving[k, 0] = vr[k] * p - vr[k + 1] * q + ur[k] * x - ur[k + 1] * y
        moving[k + 1, 0] = vr[k] * q + vr[k + 1] * p + ur[k] * y + ur[k + 1] * x
        sums[k, 0], sums[k + 1, 0] = vr[k] * x - vr[k + 1] * y, vr[k] * y + vr[k + 1] * x


def collect(
    waves: np.ndarray, direction: np.ndarray, gates: Gates, sums: np.ndarray, moving: np.ndarray, out: np.ndarray
) -> None:
    """Add the tangents of the cotangents of parameters (P,), from the sums (E, 2) and their tangents."""
    slots, frequencies, firsts, constants, polynomials, _, _ = gates
    shift = constants.size
    for g in range(slots.size):
        w, at, c, s, total = frequencies[g], slots[g], waves[0, g], waves[1, g], 0.0
        for k in range(firsts[g], firsts[g + 1]):
            slope = c * polynomials[2, k] - s * polynomials[1, k]
            bend = (c * polynomials[1, k] + s * polynomials[2, k]) * (-w * direction[at])
            total += moving[shift + k, 0] * slope.real - moving[shift + k, 1] * slope.imag
            total += sums[shift + k, 0] * bend.real - sums[shift + k, 1] * bend.imag
        out[at] += w * total


def curvature(
    waves: np.ndarray, direction: np.ndarray, gates: Gates, inverse: Gates, tables: Tables, terms: Terms,
    w: np.ndarray, room: np.ndarray, rows: np.ndarray, sources: np.ndarray, sums: np.ndarray, out: np.ndarray,
) -> None:  # fmt: skip
    """Add the Hessian times one direction (P,) to `out`; the entries stand in the room."""
    size, count = 1 << tables.bits, gates.constants.size + gates.polynomials.shape[1]
    state = room[0][:size], room[1][:size], room[2][:size], room[3][:size]
    spare, d = (room[4][:size], room[5][:size]), room[16][:size]
    dual = room[6][:size], room[7][:size], room[8][:size], room[9][:size]
    vr, vi, br, bi = room[10][:count], room[11][:count], room[12][:count], room[13][:count]
    ur, ui = room[14][:count], room[15][:count]
    for part in state:
        for k in range(size):
            part[k] = 0
    state[0][0] = 1
    tangents_row(waves, direction, gates, ur, ui)
    logarithmic(gates, vr, vi, ur, ui)
    run_forward(tables, 0, vr, vi, ur, ui, 0, state, spare, sources, rows[0], rows[1])
    image(terms, w, state[0], state[1], dual[0], dual[1], d)
    image(terms, w, state[2], state[3], dual[2], dual[3], d)
    doubled(dual[0], dual[1])
    doubled(dual[2], dual[3])
    tangents_row(waves, direction, inverse, ur, ui)
    logarithmic(inverse, br, bi, ur, ui)
    for total in (sums[0], sums[1]):
        for k in range(count):
            total[k, 0], total[k, 1] = 0, 0
    run_backward(tables, 0, br, bi, ur, ui, 0, state, dual, spare, sources, rows[0], rows[1], sums)
    tangents_row(waves, direction, gates, ur, ui)
    divide(gates, vr, vi, ur, ui, sums[0], sums[1])
    collect(waves, direction, gates, sums[0], sums[1], out)


def curvatures_of_angles(
    theta: Floats, directions: Floats2, gates: Gates, inverse: Gates, tables: Tables, terms: Terms,
    w: Reals, room: Reals2, rows: Reals3, sources: ShortInts, waves: Floats2,
    sums: Floats3, out: Floats2,
) -> None:  # fmt: skip
    """Add the Hessian of ``<psi|H|psi>`` times each of some directions (B, P) to `out`.

    `waves` (2, G), for G gates, and `sums` (2, E, 2) are room.
    """
    count = gates.constants.size + gates.polynomials.shape[1]
    waves_of(theta, gates, waves)
    fill_row(theta, gates, room[10][:count], room[11][:count])
    fill_row(theta, inverse, room[12][:count], room[13][:count])
    for b in range(directions.shape[0]):
        curvature(waves, directions[b], gates, inverse, tables, terms, w, room, rows, sources, sums, out[b])
