"""Frozen functions of large arrays: the energies of `benchmarks.freeze` at bonds 64 and 128, meant for two threads.

Value and gradient of the n = 40 Heisenberg energy by the plain code of the peers (`benchmarks.mps_energy`), and written
as one `qad.einsum(..., hermitian=True)`. The time goes into matrix products, so that what counts is how many there are:
the Hermitian network knows that half of the gradient is the conjugate of the other.
"""

from .freeze import energy_case


def cases():
    """Two bond dimensions."""
    for bond in (64, 128):
        yield energy_case(bond)
