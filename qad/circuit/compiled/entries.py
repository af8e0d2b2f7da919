"""The kernels that Python calls; their machine code is kept on disk.

They close over the version of all files that they call (`qad.core.kernel_version`), and do nothing else.
"""

from pathlib import Path

from qad.circuit.compiled import angles, drive, tangent, terms
from qad.circuit.compiled.jit import jit
from qad.core.kernel_version import version_of

FILES = (
    "affine",
    "angles",
    "chunk",
    "diagonal",
    "drive",
    "general",
    "jit",
    "single",
    "tables",
    "tangent",
    "terms",
)


def rounds(version):
    """Kernels of one round: forward and backward, and both for states that move."""

    @jit
    def forward(psi, r, begin, end, tables, vr, vi, widest):
        if version:
            drive.forward(psi, r, begin, end, tables, vr, vi, widest)

    @jit
    def backward(psi, dual, r, begin, end, tables, vr, vi, slopes, widest):
        if version:
            drive.backward(psi, dual, r, begin, end, tables, vr, vi, slopes, widest)

    @jit
    def forward_tangent(psi, r, begin, end, tables, vr, vi, ur, ui, widest):
        if version:
            tangent.forward(psi, r, begin, end, tables, vr, vi, ur, ui, widest)

    @jit
    def backward_tangent(psi, dual, r, begin, end, tables, vr, vi, ur, ui, slopes, widest):
        if version:
            tangent.backward(psi, dual, r, begin, end, tables, vr, vi, ur, ui, slopes, widest)

    return forward, backward, forward_tangent, backward_tangent


def coefficients(version):
    """Kernels between parameters and coefficients: there, and back to the cotangents of parameters."""

    @jit
    def fill(theta, slots, frequencies, firsts, constants, polynomials, vr, vi):
        if version:
            angles.fill(theta, slots, frequencies, firsts, constants, polynomials, vr, vi)

    @jit
    def collect(theta, slots, frequencies, firsts, polynomials, vr, vi, slopes, diagonal, parity, out):
        if version:
            angles.collect(theta, slots, frequencies, firsts, polynomials, vr, vi, slopes, diagonal, parity, out)

    return fill, collect


def sums(version):
    """Kernels of Pauli sums: their product with a state, and their expectation value."""

    @jit
    def apply(psi, out, begin, end, bits, x, z, w, starts):
        if version:
            terms.apply(psi, out, begin, end, bits, x, z, w, starts)

    @jit
    def energy(psi, begin, end, bits, x, z, w, starts, parts):
        if version:
            terms.energy(psi, begin, end, bits, x, z, w, starts, parts)

    return apply, energy


VERSION = version_of(Path(__file__).parent, FILES)
forward, backward, forward_tangent, backward_tangent = rounds(VERSION)
fill, collect = coefficients(VERSION)
apply, energy = sums(VERSION)
