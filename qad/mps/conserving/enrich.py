"""What the variational principle cannot see of a Hamiltonian, and room for it, in chains of definite charge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.mps.canonical import isometric_rows
from qad.mps.conserving.environments import edges
from qad.mps.conserving.site_tensors import total_of
from qad.mps.evolve import enrich
from qad.symmetric.contraction import tensordot
from qad.symmetric.layout import layout
from qad.symmetric.maps import bond_leg, columns_of, in_order_of
from qad.symmetric.summing import direct_sum
from qad.symmetric.tensor import bare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.conserving.environments import Operator
    from qad.mps.conserving.quantities import Quantities
    from qad.symmetric.tensor import SymTensor


class Reach(enrich.Reach):
    """Where an operator leads chains of symmetric tensors, sector by sector; parameters as there, H an `Operator`."""

    conserved: Quantities

    def __init__(self, H: Operator):
        super().__init__(H.sites)
        self.conserved = H.channels.conserved

    def ends(self, tensors: Sequence[SymTensor]) -> tuple[SymTensor, SymTensor]:
        """The environments beyond both ends, (bra, operator, ket)."""
        return edges(total_of(tensors), self.conserved, tensors[0].data.real.dtype)

    def dot(self, a: SymTensor, b: SymTensor, axes: Any) -> SymTensor:
        """`qad.symmetric.tensordot`."""
        return tensordot(a, b, axes)

    def isometry(self, centre: SymTensor) -> tuple[SymTensor, SymTensor]:
        """A centre as an isometry from its right bond, directions of no weight dropped, and the rest."""
        return isometric_rows(centre)

    def carried(self, basis: SymTensor, tensor: SymTensor) -> SymTensor:
        """A matrix absorbed from the left."""
        return tensordot(basis, tensor, 1)

    def mixed(self, part: SymTensor, rows: int, rng: np.random.Generator) -> SymTensor | None:
        """A left part (row, out, operator, ket) as (row, operator, ket); None where it is zero."""
        part = part.resplit(2)
        matrices = [enrich.fewer(matrix, rows, rng) if matrix.any() else matrix[:0] for matrix in part.sectors()]
        return of_rows(part, matrices)

    def stacked(self, one: SymTensor | None, two: SymTensor | None) -> SymTensor | None:
        """The rows of both, either of which may be None."""
        return two if one is None else one if two is None else direct_sum(one.resplit(1), two.resplit(1), 0)

    def wider(self, tensor: SymTensor, new: SymTensor) -> SymTensor:
        """A tensor with zeros for the new rows of the next one."""
        where = layout((*tensor.legs[:2], new.legs[0].conj()), 2, tensor.layout.total, tensor.symmetry)
        return direct_sum(tensor.resplit(2), bare(where, np.zeros(where.size, tensor.dtype)), 2)

    def directions(self, found: SymTensor, rows: SymTensor, bond: int, cutoff: float) -> tuple[SymTensor | None, float]:
        """Rows for what others (row, out, bra) have beside those of a tensor, and the weight of what is left over."""
        found, rows = found.resplit(1), rows.resplit(1)
        known = {s.charge: matrix for s, matrix in zip(rows.layout.sectors, rows.sectors(), strict=True)}
        parts = [
            enrich.beside(matrix, known.get(s.charge, matrix[:0]))
            for s, matrix in zip(found.layout.sectors, found.sectors(), strict=True)
        ]
        if not parts:
            return None, 0.0
        values = np.concatenate([part[0] for part in parts])
        order = np.argsort(-values, kind="stable")
        floor = max(part[2] for part in parts)
        kept, lost = enrich.kept_of(values[order], cutoff, floor, bond - rows.shape[0])
        least = values[order[kept - 1]] if kept else np.inf
        return of_rows(found, [vectors[: np.count_nonzero(size >= least)] for size, vectors, _ in parts]), lost


def of_rows(tensor: SymTensor, matrices: Sequence[np.ndarray]) -> SymTensor | None:
    """New rows, sector by sector, beside the columns of a tensor; None where there are none."""
    if not any(len(matrix) for matrix in matrices):
        return None
    bond = bond_leg(tensor.layout, [len(matrix) for matrix in matrices], "evolve")
    return columns_of(tensor.layout, bond, in_order_of(bond, tensor.layout, matrices))
