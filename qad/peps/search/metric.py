"""The metric of single sites: how much a change of one tensor changes the infinite state while all others stay.

Energies are flat where bonds hold little weight, and steep where they hold much.  With E the environment of a site, ket
by bra, changes x and y of that site have the overlap ``<y|E|x>``.  Steps along ``(E + shift)^-1 g`` in the place of a
gradient g treat all bonds alike: X.-Y. Zhang, Q. Yang, P. Corboz, J. Haegeman and W. Tang, arXiv:2511.09546.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.linalg.implicit.packing import Packing
from qad.peps.infinite.density import LAYERS, contracted, legs, surroundings
from qad.peps.infinite.state import letters

if TYPE_CHECKING:
    from qad.peps.infinite.environment import Environment
    from qad.peps.infinite.state import PEPS
    from qad.typing import Vector

SHIFT = 0.5  # of the metric, by the norm of the gradient: far from a minimum lengths are more those of tensors


class LocalMetric:
    """The metrics of all sites of a state, as blocks.

    Parameters
    ----------
    state : PEPS
        With sites of norm 1.
    env : Environment
        Of this state.
    """

    sites: tuple[np.ndarray, ...]
    blocks: list[tuple[np.ndarray, np.ndarray]]  # of each site: eigenvalues and eigenvectors

    def __init__(self, state: PEPS, env: Environment):
        self.sites, names = state.tensors, letters(state.cell)
        totals = [0.0] * len(names)
        for row, column in env.cell.first:
            k = names.index(state.cell[row][column])
            totals[k] = totals[k] + overlaps(self.sites[k], env, row, column)
        self.blocks = [tuple(np.linalg.eigh((total + total.conj().T) / 2)) for total in totals]

    def solve(self, vector: Vector, norm: float) -> Vector:
        """The inverse of the metric times a tangent vector, tangent to sites of norm 1; `norm` is the gradient's."""
        packing, found = Packing(self.sites, real=True), []
        for site, x, (values, basis) in zip(self.sites, packing.unpack(vector), self.blocks, strict=True):
            weights = 1 / (np.maximum(values, 0.0) + SHIFT * norm)
            y = ((x.reshape(len(x), -1) @ basis * weights) @ basis.conj().T).reshape(x.shape)
            found.append(y - site * np.vdot(site, y).real)
        return packing.pack(found)


def overlaps(site: np.ndarray, env: Environment, row: int, column: int) -> np.ndarray:
    """The environment of a site of norm 1 in it, a matrix of its legs (up, left, down, right), ket by bra."""
    ring = contracted(surroundings(env, [row], [column]), [x for layer in LAYERS for x in legs(row, column, layer)])
    matrix = ring.reshape(site[0].size, -1)
    flat = site.reshape(len(site), -1)
    return matrix / np.vdot(flat, flat @ matrix)
