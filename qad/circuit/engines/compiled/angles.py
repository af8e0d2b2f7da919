"""Entries of the gates of one parameter, ``C + A cos(w t) + B sin(w t)``, and the way back to their parameters."""

from math import cos, sin
from typing import NamedTuple

from qad.circuit.engines.compiled.arguments import Complexes128, Complexes128x2, Floats, Floats2, Floats3, Ints, Reals3
from qad.native import struct


@struct
class AngleGates(NamedTuple):
    """The gates of one parameter: which it is, its frequency w, and where entries of the gate begin.

    `constants` are the entries of constant gates, `polynomials` (3, E) the C, A and B of all others.  `diagonal` and
    `parity` are those of `qad.circuit.engines.compiled.blocking.Schedule`.
    """

    slots: Ints
    frequencies: Floats
    firsts: Ints
    constants: Complexes128
    polynomials: Complexes128x2
    diagonal: Ints
    parity: Ints


def fill(theta: Floats2, gates: AngleGates, entries: Reals3) -> None:
    """Write all entries (2, B, E) of parameters (B, P): constants, and of gate g those from ``firsts[g]`` on."""
    slots, frequencies, firsts, constants, polynomials, _, _ = gates
    shift = constants.size
    for b in range(theta.shape[0]):
        vr, vi = entries[0, b], entries[1, b]
        for k in range(shift):
            vr[k], vi[k] = constants[k].real, constants[k].imag
        for g in range(slots.size):
            angle = frequencies[g] * theta[b, slots[g]]
            c, s = cos(angle), sin(angle)
            for k in range(firsts[g], firsts[g + 1]):
                x = polynomials[0, k] + c * polynomials[1, k] + s * polynomials[2, k]
                vr[shift + k], vi[shift + k] = x.real, x.imag


def divide(slopes: Floats3, diagonal: Ints, parity: Ints, entries: Reals3) -> None:
    """Take gates out of the sums (B, E, 2) of diagonal ones, and of Pauli rotations among them, that contain them.

    Compare `qad.circuit.engines.compiled.diagonal`.  The entries are those of the inverse gates, a row for each
    example, or one for all.
    """
    for b in range(slopes.shape[0]):
        v = min(b, entries.shape[1] - 1)
        u, p, q = slopes[b], entries[0, v], entries[1, v]
        for k in diagonal:
            u[k, 0], u[k, 1] = u[k, 0] * p[k] - u[k, 1] * q[k], u[k, 1] * p[k] + u[k, 0] * q[k]
        for k in parity:
            x, y = u[k, 0] + u[k + 1, 0], u[k, 1] - u[k + 1, 1]  # over even and over odd parity
            u[k, 0], u[k + 1, 0] = p[k] * x + p[k + 1] * y, p[k] * y - p[k + 1] * x
            u[k, 1], u[k + 1, 1] = 0, 0


def collect(
    theta: Floats2, gates: AngleGates, entries: Reals3, slopes: Floats3,
    out: Floats2,
) -> None:  # fmt: skip
    """Add to `out` (B, P) the cotangents of parameters, from sums (B, E, 2) that `divide` is to take gates out of."""
    slots, frequencies, firsts, constants, polynomials, diagonal, parity = gates
    shift = constants.size
    divide(slopes, diagonal, parity, entries)
    for b in range(theta.shape[0]):
        for g in range(slots.size):
            angle = frequencies[g] * theta[b, slots[g]]
            c, s = cos(angle), sin(angle)
            total = 0.0
            for k in range(firsts[g], firsts[g + 1]):
                change = c * polynomials[2, k] - s * polynomials[1, k]
                total += slopes[b, shift + k, 0] * change.real - slopes[b, shift + k, 1] * change.imag
            out[b, slots[g]] += frequencies[g] * total
