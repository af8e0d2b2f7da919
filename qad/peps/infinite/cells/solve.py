"""Environments of cells, from nothing or from another one, differentiable.

Derivatives are those of the step at its fixed point with all references held fixed: bases, norms and phases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import as_array, value_of
from qad.linalg import Report
from qad.linalg.support.derivative_order import orders
from qad.peps.infinite.cells.iteration import Stepper
from qad.peps.infinite.cells.lattice import CLOCKWISE, wiring
from qad.peps.infinite.cells.moves import absorbed, enlarged, filled, rows, stacked
from qad.peps.infinite.cells.projectors import Frame, Spaces, sides, smooth
from qad.peps.infinite.cut import is_about
from qad.peps.infinite.implicit import at_rest
from qad.peps.infinite.iteration import Around, scaled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.peps.infinite.cells.lattice import Cell, Wiring
    from qad.typing import Array

Group = tuple[np.ndarray, ...]


def solved(
    layers: Sequence[Array],
    cell: Cell,
    chi: int,
    before: tuple[Group, Group, Group] | None,
    method: str,
    tols: tuple[float, float],
    maxiter: int,
) -> tuple[tuple[Group, Group, Group], float, Report]:
    """Corners and edges around each kind of site and their frame, the last change, and a report.

    Tolerances are those of the last change, and of the adjoint equation.
    """
    plain, report, wires = [as_array(value_of(layer)) for layer in layers], Report(), wiring(cell)
    stepper = Stepper(plain, stacked(plain), cell, wires, chi, method)
    around, frame = (None, None) if before is None else together(*before)
    if around is None or not is_about(around.corners.shape[1], chi):
        around, frame = stepper.raised(around, frame)
    around, frame, spaces, report.residual, report.iterations = stepper.converged(around, frame, tols[0], maxiter)
    if any(value_of(layer) is not layer for layer in layers):
        around = differentiable(layers, stepper, around, spaces, tols, report)
    apart = separate(around, spaces.used.sum(1), plain, wires)
    return (*apart, tuple(frame)), report.residual, report


def together(corners: Group, edges: Group, frame: Group) -> tuple[Around, Frame]:
    """Stacks of corners and edges, and the frame, of an environment."""
    chi, p = frame[0].shape[2], max(x.shape[1] for x in edges)
    around = np.stack([filled(x, (chi, chi)) for x in corners]), np.stack([filled(x, (chi, p, chi)) for x in edges])
    return Around(*around), Frame(*frame)


def separate(around: Around, sizes: np.ndarray, layers: Sequence[np.ndarray], w: Wiring) -> tuple[Group, Group]:
    """Corners and edges of the sizes that they have."""
    n, kinds = len(sizes), len(layers)
    corners, edges = [], []
    for i in range(n):
        k, p = divmod(i, kinds)
        c, t = w.corner[i], w.edge[i]
        corners.append(around.corners[i, : sizes[w.side[c]], : sizes[c]])
        edges.append(around.edges[i, : sizes[w.here[t]], : layers[p].shape[CLOCKWISE[k]], : sizes[t]])
    return tuple(corners), tuple(edges)


def differentiable(
    layers: Sequence[Array], stepper: Stepper, at: Around, spaces: Spaces, tols: tuple[float, float], report: Report
) -> Around:
    """The fixed point as a function of the recorded `layers`, with the decompositions of its cuts."""
    order, w = max(orders(layer) for layer in layers), stepper.wires

    def move(around: Around, layers: Array) -> Around:
        grown = rows(around, layers)
        corners = enlarged(around, grown, w)
        a, b = smooth(sides(corners, w, stepper.method), spaces, order)
        return scaled(absorbed(grown, corners, a, b, w), at)

    return at_rest(move, at, stacked(layers), tols, report, w.after)
