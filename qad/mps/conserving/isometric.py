"""Variables of gradient searches over states of definite charge: weighted site tensors, and isometric chains.

As `qad.mps.search.lbfgs` and `qad.mps.search.isometric`, sector by sector; the sectors of the bonds stay as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.mps.conserving.gauge import schmidt_form
from qad.mps.conserving.measures import past
from qad.mps.conserving.state import SymmetricMPS, bare
from qad.mps.search.isometric import IsometricChain, Point, complement
from qad.symmetric.maps import joined
from qad.symmetric.scaling import scale
from qad.symmetric.tensor import SymTensor
from qad.symmetric.tensor import bare as bare_tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.mps.conserving.quantities import Quantities
    from qad.symmetric.layout import Layout


def weighted(state: SymmetricMPS, floor: float) -> tuple[list[SymTensor], Callable[[Any], SymmetricMPS]]:
    """Site tensors times the Schmidt values of their left bonds, and the function that makes a chain of them."""
    tensors, weights = schmidt_form(state.tensors)
    sizes = [np.hypot(w, floor).astype(w.dtype) for w in weights]

    def chain(variables: Any) -> SymmetricMPS:
        pairs = zip(variables, sizes, strict=True)
        return bare(state.conserved, [scale(m, 1 / size, 0) for m, size in pairs])

    return [scale(t, size, 0) for t, size in zip(tensors, sizes, strict=True)], chain


class SymmetricChain(IsometricChain):
    """The manifold of chains of given bonds and sectors; every sector of a site is an isometric matrix of its own.

    Parameters
    ----------
    state : SymmetricMPS
    """

    def __init__(self, state: SymmetricMPS):
        super().__init__(state)
        self.conserved: Quantities = state.conserved
        self.layouts: list[Layout] = []

    def point(self, params: SymmetricMPS) -> Point:
        """The matrices A and N of all sectors of all sites, and the metric, filled when it is asked for."""
        tensors = [tensor.resplit(1) for tensor in schmidt_form(params.tensors)[0]]
        self.layouts = [tensor.layout for tensor in tensors]
        isometries = [matrix[None] for tensor in tensors for matrix in tensor.sectors()]
        return Point(isometries, [complement(a) for a in isometries])

    def params(self, point: Point) -> SymmetricMPS:
        """The chain."""
        return bare(self.conserved, self.tensors(point))

    def tensors(self, point: Point) -> list[SymTensor]:
        """The site tensors of the matrices."""
        matrices = iter(point.isometries)
        return [bare_tensor(where, joined([next(matrices) for _ in where.sectors])) for where in self.layouts]

    def gradient(self, point: Point, gradient: SymmetricMPS) -> np.ndarray:
        """``G N^H`` for every sector of every site, as one vector."""
        matrices = [matrix for tensor in gradient for matrix in tensor.resplit(1).sectors()]
        return self.pack([g @ n.conj().mT for g, n in zip(matrices, point.complements, strict=True)])

    def densities(self, point: Point) -> list[np.ndarray]:
        """The reduced density matrix of what stands left of every site, by sector of its left bond."""
        environment, found = None, []
        for tensor in self.tensors(point):
            if environment is None:
                found += [np.ones((1, 1, 1))] * len(tensor.layout.sectors)
            else:
                here = environment.resplit(1)
                table = {s.charge: m for s, m in zip(here.layout.sectors, here.sectors(), strict=True)}
                found += [table[sector.charge][None] for sector in tensor.layout.sectors]
            environment = past(environment, tensor, tensor)
        return found
