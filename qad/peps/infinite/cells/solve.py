"""Environments of cells, from nothing or from another one, differentiable.

Derivatives are those of the step at its fixed point with all references held fixed: bases, norms and phases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.trees import flatten, tree_map
from qad.extend import as_array, value_of
from qad.linalg import Report
from qad.linalg.support.derivative_order import orders
from qad.peps.infinite.cells.iteration import Stepper
from qad.peps.infinite.cells.lattice import CLOCKWISE, wiring
from qad.peps.infinite.cells.moves import absorbed, enlarged, rows, seen
from qad.peps.infinite.cells.projectors import Frame, Spaces, sides, smooth
from qad.peps.infinite.cut import is_about
from qad.peps.infinite.implicit import at_rest, in_any_basis
from qad.peps.infinite.iteration import Around, scaled
from qad.peps.infinite.stacks import stacked
from qad.symmetric.stacks import SymStack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.peps.infinite.cells.lattice import Cell, Wiring
    from qad.peps.infinite.stacks import Stack

Group = tuple[Any, ...]


def solved(
    layers: Sequence[Any],
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
    plain, report, wires = tree_map(lambda x: as_array(value_of(x)), list(layers)), Report(), wiring(cell)
    stepper = Stepper(plain, seen(plain), cell, wires, chi, method)
    around, frame = (None, None) if before is None else together(*before)
    if around is None or not is_about(states(around), chi):
        around, frame = stepper.raised(around, frame)
    around, frame, spaces, report.residual, report.iterations = stepper.converged(around, frame, tols[0], maxiter)
    if any(value_of(x) is not x for x in flatten(list(layers))[0]):
        around = differentiable(layers, stepper, around, spaces, tols, report)
    apart = separate(around, spaces.used.sum(1), plain, wires)
    return (*apart, tuple(frame)), report.residual, report


def states(around: Around) -> int:
    """The largest number of states of a corner."""
    corners = around.corners
    return max(where.shape[0] for where in corners.layouts) if type(corners) is SymStack else corners.shape[1]


def together(corners: Group, edges: Group, frame: Group) -> tuple[Around, Frame]:
    """Stacks of corners and edges, and the frame, of an environment."""
    return Around(stacked(corners, 1), stacked(edges, 2)), Frame(*frame)


def separate(around: Around, sizes: np.ndarray, layers: Sequence[Any], w: Wiring) -> tuple[Group, Group]:
    """Corners and edges of the sizes that they have."""
    if type(around.corners) is SymStack:
        return tuple(around.corners.members()), tuple(around.edges.members())
    n, kinds = len(sizes), len(layers)
    corners, edges = [], []
    for i in range(n):
        k, p = divmod(i, kinds)
        c, t = w.corner[i], w.edge[i]
        corners.append(around.corners[i, : sizes[w.side[c]], : sizes[c]])
        edges.append(around.edges[i, : sizes[w.here[t]], : layers[p].shape[CLOCKWISE[k]], : sizes[t]])
    return tuple(corners), tuple(edges)


def differentiable(
    layers: Sequence[Any], stepper: Stepper, at: Around, spaces: Spaces, tols: tuple[float, float], report: Report
) -> Around:
    """The fixed point as a function of the recorded `layers`, with the decompositions of its cuts."""
    order, w = max(orders(x) for x in flatten(list(layers))[0]), stepper.wires

    def move(around: Around, layers: Stack) -> Around:
        grown = rows(around, layers)
        corners = enlarged(around, grown, w)
        a, b = smooth(sides(corners, w, stepper.method), spaces, order)
        return scaled(absorbed(grown, corners, a, b, w), at)

    return in_any_basis(at_rest(move, at, seen(layers), tols, report, w.after), w)
