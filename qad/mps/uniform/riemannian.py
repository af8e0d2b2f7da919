"""Ground states of infinite chains by the Riemannian optimiser of finite ones, over cells of isometries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import value_of
from qad.mps.search.isometric import IsometricChain, Point
from qad.mps.search.monitor import is_settled
from qad.mps.uniform.canonical import schmidt_form
from qad.mps.uniform.measures import energy_from
from qad.mps.uniform.state import UniformMPS
from qad.mps.uniform.transfer import isometric_environments
from qad.optimize import minimize_on

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.operators.uniform_mpo import UniformMPO
    from qad.optimize.result import OptimizeResult
    from qad.typing import Progress

WINDOW = 10  # iterations over which the gain is judged


def riemannian(
    H: UniformMPO, start: UniformMPS, progress: Progress, tol: float, maxiter: int
) -> tuple[OptimizeResult, bool]:
    """Minimise over cells of isometries, in double precision: the metric of states in single is not positive.

    Returns
    -------
    found : OptimizeResult
        Its parameters are the state.
    converged : bool
    """
    start = UniformMPS([t.astype(np.result_type(t.dtype, np.float64), copy=False) for t in start])
    manifold, history = IsometricCell(start), []

    def loss(psi):
        lefts, rights = isometric_environments(psi, manifold.left)
        left = value_of(lefts[0])
        manifold.left = (left + left.conj().T) / 2
        return energy_from(psi, H, lefts[0], rights[-1])

    def step(psi, value):
        history.append(value)
        if is_steady(history, WINDOW, abs(value), tol):
            raise StopIteration

    limits = {"gtol": 0.0, "ftol": 0.0, "maxiter": maxiter}
    found = minimize_on(manifold, loss, start, callback=step, progress=progress, metric=manifold.metric, **limits)
    return found, found.success or is_steady(history, WINDOW, abs(float(found.fun)), tol)


def is_steady(energies: Sequence[float], window: int, scale: float, tol: float) -> bool:
    """Whether the last steps leave less than this to gain, beside a scale, as a window and the one before tell."""
    if len(energies) <= 2 * window:
        return False
    last, before = (abs(energies[-k - window] - energies[-k]) / scale for k in (1, 1 + window))
    return is_settled(last, before, tol)


class IsometricCell(IsometricChain):
    """Cells of right-canonical tensors; the metric comes from the transfer operator's fixed point."""

    def __init__(self, state: UniformMPS):
        super().__init__(state)
        self.left: np.ndarray | None = np.eye(state.bonds[0]) / state.bonds[0]

    def canonical(self, params: UniformMPS) -> UniformMPS:
        """The cell in right-canonical gauge."""
        return schmidt_form(params)[0]

    def retract(self, point: Point, vector: np.ndarray) -> tuple[Point, np.ndarray]:
        """Cayley's transform, its rounding taken out: the environments hold only for isometries.

        Long steps lose many digits of ``A A^H = 1``, and the energy would be wrong by as much.
        """
        new, velocity = super().retract(point, vector)
        isometries = [orthonormal(a) for a in new.isometries]
        complements = [orthonormal(n - (n @ a.conj().mT) @ a) for a, n in zip(isometries, new.complements, strict=True)]
        return Point(isometries, complements), velocity


def orthonormal(rows: np.ndarray) -> np.ndarray:
    """Rows that are nearly orthonormal made so, by a step of Newton's method for the polar factor."""
    return rows - 0.5 * (rows @ rows.conj().mT - np.eye(rows.shape[1])) @ rows
