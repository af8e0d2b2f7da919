"""The kernels that Python calls, compiled in parts, each at its first use.

The parts are the first order, the second order, and Pauli sums with real and with complex weights.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.engines.compiled import angles, drive, tangent, terms
from qad.native import COMPLEX, REAL, Kernels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qad.typing import DTypeLike

FILES: list[Path] = sorted(Path(__file__).parent.glob("*.py"))
OF_ANGLES = angles.fill, angles.collect, angles.divide
rounds: Kernels = Kernels(drive.forward, drive.backward, *OF_ANGLES, files=FILES, fast=True)
tangents: Kernels = Kernels(tangent.forward, tangent.backward, files=FILES, fast=True)
sums: dict[str, Kernels] = {
    kind: Kernels(*terms.kernels(of), files=FILES, fast=True) for kind, of in (("f", REAL), ("c", COMPLEX))
}


def warm_up(dtypes: Iterable[DTypeLike]) -> None:
    """Compile all kernels in the precisions of some dtypes."""
    for dtype in map(np.dtype, dtypes):
        for kernels in (rounds, tangents, *sums.values()):
            kernels(dtype)
