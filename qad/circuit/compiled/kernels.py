"""The kernels that Python calls, compiled in parts, each at its first use.

The parts are the first order, the second order, both for small circuits as a whole, and Pauli sums with real and with
complex weights.
"""

from pathlib import Path

import numpy as np

from qad.circuit.compiled import angles, drive, tangent, terms, whole_kernels, whole_tangents
from qad.native import COMPLEX, REAL, Kernels

FILES = sorted(Path(__file__).parent.glob("*.py"))
rounds = Kernels(drive.forward, drive.backward, angles.fill, angles.collect, files=FILES, fast=True)
tangents = Kernels(tangent.forward, tangent.backward, files=FILES, fast=True)
wholes = Kernels(whole_kernels.energy_of_angles, whole_kernels.slopes_of_angles, files=FILES, fast=True)
curvatures = Kernels(whole_tangents.curvatures_of_angles, files=FILES, fast=True)
sums = {kind: Kernels(*terms.kernels(of), files=FILES, fast=True) for kind, of in (("f", REAL), ("c", COMPLEX))}


def warm_up(dtypes):
    """Compile all kernels in the precisions of some dtypes."""
    for dtype in map(np.dtype, dtypes):
        for kernels in (rounds, wholes, tangents, curvatures, *sums.values()):
            kernels(dtype)
