"""Operators prepared for energies of symmetric states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.mps.chain.sandwich import quotient
from qad.mps.energy.hamiltonian import Prepared, check_hermitian, with_norm
from qad.mps.energy.sweep import Sweep
from qad.mps.kernels.operators import operator_for
from qad.symmetric.create import from_dense
from qad.symmetric.legs import Leg
from qad.symmetric.sparse import Entries
from qad.symmetric.tensor import aligned, bare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.chain.state import MPS
    from qad.mps.charges.quantities import Quantities
    from qad.mps.kernels.charged import ChargedKernel
    from qad.mps.operators.mpo import MPO
    from qad.symmetric.blocks.layout import Layout
    from qad.symmetric.tensor import SymTensor
    from qad.typing import Array


class ChargedHamiltonian(Prepared):
    """What `energy` knows of an operator and of a symmetric state besides its numbers.

    Parameters
    ----------
    psi : MPS
    H : MPO
        Of plain numbers.

    Raises
    ------
    ArgumentError
        If the operator is not Hermitian, or does not conserve what the state does.
    """

    def __init__(self, psi: MPS, H: MPO):
        self.layouts: list[Layout] = [t.layout for t in psi]
        self.kernel: ChargedKernel = operator_for(psi, H)
        if not self.kernel.swept:
            check_hermitian(self.kernel.tensors)

    def on(self, data: Sequence[np.ndarray]) -> tuple[Sweep, list[SymTensor]]:
        """How a state of these numbers is swept, and its tensors."""
        dtype = np.result_type(*{x.dtype for x in data}, np.float32)
        tensors = [bare(where, x.astype(dtype, copy=False)) for where, x in zip(self.layouts, data, strict=True)]
        return Sweep(entries_of(self.kernel, dtype), dtype), tensors

    def numbers_of(self, slopes: Sequence[SymTensor]) -> list[np.ndarray]:
        """The numbers of derivatives in the order of those of the state."""
        own = [where.conj if site % 2 else where for site, where in enumerate(self.layouts)]
        return [aligned(bare(where, None), slope, "energy") for where, slope in zip(own, slopes, strict=True)]

    def quotient(self, data: Sequence[Array]) -> Array:
        """The energy in operations that the tape differentiates."""
        return quotient([bare(where, x) for where, x in zip(self.layouts, data, strict=True)], self.kernel.sites)


def entries_of(kernel: ChargedKernel, dtype: np.dtype) -> list[Entries]:
    """The sites of an operator with a channel for the norm, in the precision of a state; made once."""
    if dtype not in kernel.swept:
        channels, tensors = kernel.channels, with_norm(list(kernel.tensors))
        group, made = channels.conserved.symmetry, {}
        more = [group.neutral] * (tensors[0].shape[1] - channels.tensors[0].shape[1]) if len(tensors) > 1 else []
        inner = [[*more, *charges] for charges in channels.charges[1:-1]]
        charges = [channels.charges[0], *inner, [group.neutral] * 2]
        found = []
        for site, w in enumerate(tensors):
            key = id(w), tuple(charges[site]), tuple(charges[site + 1]), channels.conserved.charges[site]
            if key not in made:
                made[key] = site_entries(w, charges[site], charges[site + 1], channels.conserved, site, dtype)
            found.append(made[key])
        kernel.swept[dtype] = found
    return kernel.swept[dtype]


def site_entries(w: np.ndarray, left: Any, right: Any, conserved: Quantities, site: int, dtype: np.dtype) -> Entries:
    """The entries of a site of the operator, whose channels carry these charges."""
    (one, before), (two, after) = (Leg.from_charges(q, 1, conserved.symmetry) for q in (left, right))
    leg, order = conserved.legs[site], conserved.orders[site]
    real = np.finfo(dtype).dtype
    kind = np.result_type(real, np.complex64) if w.dtype.kind == "c" else real
    sorted_w = w[np.ix_(before, after, order, order)].astype(kind)
    return Entries(from_dense(sorted_w, (one, two.conj(), leg, leg.conj()), tol=0.0))
