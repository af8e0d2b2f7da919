"""The kernels that Python calls; their machine code is kept on disk.

They close over the version of all files of this folder (`qad.contract.kernel_version`), and call what is in them.
"""

from pathlib import Path

from qad.circuit.compiled import angles, drive, tangent, terms
from qad.circuit.compiled.jit import jit
from qad.contract.kernel_version import version_of


def rounds(version):
    """Kernels of one round: forward and backward, and both with tangents."""

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


def entries(version):
    """Kernels from parameters to the entries of gates, and from the cotangents of entries to those of parameters."""

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


VERSION = version_of(Path(__file__).parent.glob("*.py"))
forward, backward, forward_tangent, backward_tangent = rounds(VERSION)
fill, collect = entries(VERSION)
apply, energy = sums(VERSION)
