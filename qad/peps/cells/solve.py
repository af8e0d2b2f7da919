"""Environments of cells, from nothing or from another one, differentiable.

Derivatives are those of the step at its fixed point with all references held fixed: bases, norms and phases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import as_array, value_of
from qad.linalg import Report
from qad.linalg.implicit.fixed_point import fixed_point
from qad.linalg.support.derivative_order import orders
from qad.peps.cells.iteration import Converged, Stepper, weighted
from qad.peps.cells.moves import Around, absorbed, enlarged, rows
from qad.peps.cells.projectors import sides, smooth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.peps.cells.lattice import Cell
    from qad.typing import Array

LOOSER = 100.0  # what a fixed point is confirmed to, in units of what it was iterated to


def solved(
    layers: Sequence[Array],
    cell: Cell,
    chi: int,
    before: tuple[Around, tuple[np.ndarray, ...]] | None,
    method: str,
    tol: float,
    maxiter: int,
) -> tuple[Around, tuple[np.ndarray, ...], float, Report]:
    """Corners and edges around each kind of site, the projectors, the last change, and a report."""
    plain, report = [as_array(value_of(layer)) for layer in layers], Report()
    stepper = Stepper(plain, cell, chi, method)
    around, frame = before or stepper.from_nothing()
    found = stepper.converged(around, frame, tol, maxiter)
    if all(value_of(layer) is layer for layer in layers):
        report.iterations, report.residual = found.iterations, found.error
        return found.around, found.frame, found.error, report
    around = differentiable(layers, stepper, found, tol, report)
    report.iterations = found.iterations
    return around, found.frame, found.error, report


def differentiable(layers: Sequence[Array], stepper: Stepper, found: Converged, tol: float, report: Report) -> Around:
    """The fixed point as a function of the recorded `layers`."""
    order = max(orders(layer) for layer in layers)
    sizes = [len(spaces.s) for spaces in found.spaces]
    at = found.around
    _, _, spaces = stepper.step(at, sizes, found.frame)

    def normal(x, group, i):
        return x / (at[group][i].conj() * x).sum()

    def move(around: Around, layers: Sequence[Array]) -> Around:
        grown = rows(around, layers)
        corners = enlarged(around, grown, stepper.cell)
        pairs = sides(corners, stepper.cell, stepper.method)
        projectors = [smooth(pair, space, order) for pair, space in zip(pairs, spaces, strict=True)]
        return absorbed(grown, corners, projectors, stepper.cell, normal)

    def size(change: Around, around: Around) -> float:
        pairs = zip(around, change, strict=True)
        return weighted(around, Around(*(tuple(x - y for x, y in zip(*pair, strict=True)) for pair in pairs)))

    limits = {"tol": LOOSER * max(tol, 1e-14), "adjoint_tol": tol, "norm": size, "report": report}
    return Around(*fixed_point(move, at, list(layers), method="given", **limits))
