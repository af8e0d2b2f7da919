"""Environments of symmetric states, from nothing or from another one, differentiable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import as_array, value_of
from qad.linalg import Report
from qad.peps.infinite.c4v.growth import raised
from qad.peps.infinite.c4v.implicit import differentiable
from qad.peps.infinite.c4v.iteration import converged
from qad.peps.infinite.c4v.moves import CornerEdge
from qad.peps.infinite.cut import is_about

if TYPE_CHECKING:
    from qad.typing import Array


def solved(
    layer: Array,
    chi: int,
    before: tuple[CornerEdge, np.ndarray] | None,
    method: str,
    tols: tuple[float, float],
    maxiter: int,
) -> tuple[CornerEdge, np.ndarray, float, Report]:
    """Corner and edge of a double layer, the isometry, the last change, and a report.

    Tolerances are those of the last change, and of the adjoint equation.
    """
    plain, report = as_array(value_of(layer)), Report()
    pair, isometry = before or (None, None)
    if pair is None or not is_about(len(pair.corner), chi):
        pair, isometry = raised(plain, chi, pair)
    found = converged(plain, pair, isometry, tols[0], maxiter, method)
    if value_of(layer) is layer:
        report.iterations, report.residual = found.iterations, found.error
        return found.pair, found.isometry, found.error, report
    pair = differentiable(layer, found, tols, report, method)
    report.iterations = found.iterations
    return pair, found.isometry, found.error, report
