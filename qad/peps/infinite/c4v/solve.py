"""Environments of symmetric states, from nothing or from another one, differentiable."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from qad.extend import as_array, value_of
from qad.linalg import Report
from qad.linalg.support.derivative_order import orders
from qad.peps.infinite.c4v.growth import raised
from qad.peps.infinite.c4v.iteration import MOVES, aligned, near_reference
from qad.peps.infinite.cells.lattice import ONE_SIDE
from qad.peps.infinite.cells.moves import start
from qad.peps.infinite.cut import is_about
from qad.peps.infinite.implicit import at_rest, in_any_basis
from qad.peps.infinite.iteration import Around, calm, scaled, unit, weighted
from qad.showing.progress import bar_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.peps.infinite.cells.lattice import Cell
    from qad.typing import Array

    Groups = tuple[tuple[np.ndarray, ...], ...]

MEMORY = 10  # steps that are mixed


def solved(
    layers: Sequence[Array],
    cell: Cell,
    chi: int,
    before: Groups | None,
    method: str,
    tols: tuple[float, float],
    maxiter: int,
) -> tuple[Groups, float, Report]:
    """Corner, edge and isometry of a double layer, one of each, the last change, and a report.

    Tolerances are those of the last change, and of the adjoint equation.
    """
    p, report = layers[0].shape[0], Report()
    layer = layers[0].transpose(1, 2, 0, 3).reshape(p * p, p * p)  # (left, down) by (up, right)
    plain = as_array(value_of(layer))
    corners, edges, *frame = start([as_array(value_of(layers[0]))], cell) if before is None else before
    around = Around(corners[0][None], edges[0][None])
    if frame and is_about(len(corners[0]), chi):
        isometry = frame[0][0]
    else:
        around, isometry = raised(plain, chi, around)
    grow = MOVES[method]

    def step(around: Around, isometry: np.ndarray) -> tuple[Around, np.ndarray]:
        new, turned = grow(around, plain, isometry, aligned)
        bar.update()
        return unit(new, around), turned

    steps = calm(step, around, isometry, weighted, tols[0], maxiter, lambda isometry, _: isometry, MEMORY)
    with bar_for(label="environment") as bar:
        at, isometry, report.residual, report.iterations = next(steps)
    if value_of(layer) is layer:
        around = at
    else:
        near = partial(near_reference, order=orders(layer))
        around = at_rest(lambda x, a: scaled(grow(x, a, isometry, near)[0], at), at, layer, tols, report)
        around = in_any_basis(around, ONE_SIDE)
    corner, edge = (x.reshape(x.shape[1:]) for x in around)
    return ((corner,), (edge,), (isometry,)), report.residual, report
