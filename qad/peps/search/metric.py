"""The metric of single sites: how much a change of one tensor changes the infinite state while all others stay.

Energies are flat where bonds hold little weight, and steep where they hold much.  With E the environment of a site, ket
by bra, changes x and y of that site have the overlap ``<y|E|x>``.  Steps along ``(E + shift)^-1 g`` in the place of a
gradient g treat all bonds alike: X.-Y. Zhang, Q. Yang, P. Corboz, J. Haegeman and W. Tang, arXiv:2511.09546.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from qad.linalg.implicit.packing import Packing
from qad.peps.infinite.density import LAYERS, contracted, legs, surroundings
from qad.peps.infinite.state import letters
from qad.symmetric.generic import (
    aligned_numbers,
    as_map,
    join,
    matrices_on_columns,
    numbers,
    of_map,
    twisted,
    with_numbers,
)  # fmt: skip

if TYPE_CHECKING:
    from typing import Any

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

    sites: tuple[Any, ...]
    blocks: list[list[tuple[np.ndarray, np.ndarray]]]  # of each site and sector: eigenvalues and eigenvectors

    def __init__(self, state: PEPS, env: Environment):
        self.sites, names = state.tensors, letters(state.cell)
        totals: dict[str, list[Any]] = defaultdict(list)
        for row, column in env.cell.first:
            name = state.cell[row][column]
            totals[name].append(overlaps(self.sites[names.index(name)], env, row, column))
        sums = [[sum(blocks) for blocks in zip(*totals[name], strict=True)] for name in names]
        self.blocks = [[tuple(np.linalg.eigh((x + x.conj().T) / 2)) for x in blocks] for blocks in sums]

    def solve(self, vector: Vector, norm: float) -> Vector:
        """The inverse of the metric times a tangent vector, tangent to sites of norm 1; `norm` is the gradient's."""
        packing, found = Packing(map(numbers, self.sites), real=True), []
        for site, x, blocks in zip(self.sites, packing.unpack(vector), self.blocks, strict=True):
            where, parts = as_map(with_numbers(site, x), 1)
            for i, (values, basis) in enumerate(blocks):
                weights = 1 / (np.maximum(values, 0.0) + SHIFT * norm)
                parts[i] = (parts[i] @ basis * weights) @ basis.conj().T
            y, own = aligned_numbers(site, of_map(where, parts)), numbers(site)
            found.append(y - own * np.vdot(own, y).real)
        return packing.pack(found)


def overlaps(site: Any, env: Environment, row: int, column: int) -> list[np.ndarray]:
    """The environment of a site of norm 1 in it, of each sector a matrix (up, left, down, right), ket by bra."""
    ring = contracted(surroundings(env, [row], [column]), [x for layer in LAYERS for x in legs(row, column, layer)])
    where, parts = as_map(site, 1)
    found = matrices_on_columns(where, lambda x: twisted(join(x, ring, ((1, 2, 3, 4), (0, 1, 2, 3))), (3, 4)))
    norm = sum(np.vdot(part, part @ matrix) for part, matrix in zip(parts, found, strict=True))
    return [matrix / norm for matrix in found]
