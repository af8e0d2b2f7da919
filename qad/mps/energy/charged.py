"""Operators prepared for energies of symmetric states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.mps.chain.row import distinct_map
from qad.mps.chain.sandwich import quotient
from qad.mps.charges.channels import Channels
from qad.mps.energy.hamiltonian import Prepared, check_hermitian, with_norm
from qad.mps.energy.sweep import Sweep
from qad.mps.kernels.operators import operator_for
from qad.symmetric.sparse import Entries
from qad.symmetric.tensor import aligned, bare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.chain.state import MPS
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
        self.H: MPO = H
        if not self.kernel.swept:
            check_hermitian(self.kernel.tensors)

    def on(self, data: Sequence[np.ndarray]) -> tuple[Sweep, list[SymTensor]]:
        """How a state of these numbers is swept, and its tensors."""
        dtype = np.result_type(*{x.dtype for x in data}, np.float32)
        tensors = [bare(where, x.astype(dtype, copy=False)) for where, x in zip(self.layouts, data, strict=True)]
        if dtype not in self.kernel.swept:  # with a channel for the norm, in the precision of the state
            real = np.finfo(dtype).dtype
            kinds = {"c": np.result_type(real, np.complex64)}
            cast = distinct_map(lambda w: w.astype(kinds.get(w.dtype.kind, real)), self.H)
            sites = Channels(with_norm(cast), self.kernel.channels.conserved).sites()
            self.kernel.swept[dtype] = distinct_map(Entries, sites)
        return Sweep(self.kernel.swept[dtype], dtype), tensors

    def numbers_of(self, slopes: Sequence[SymTensor]) -> list[np.ndarray]:
        """The numbers of derivatives in the order of those of the state."""
        own = [where.conj if site % 2 else where for site, where in enumerate(self.layouts)]
        return [aligned(bare(where, None), slope, "energy") for where, slope in zip(own, slopes, strict=True)]

    def quotient(self, data: Sequence[Array]) -> Array:
        """The energy in operations that the tape differentiates."""
        return quotient([bare(where, x) for where, x in zip(self.layouts, data, strict=True)], self.kernel.sites)
