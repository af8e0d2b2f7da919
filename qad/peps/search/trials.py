"""What a search notes of every evaluation, whether it led anywhere or not."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

    from qad.peps.infinite.environment import Environment

FIELDS: list[tuple[str, type]] = [
    ("energy", float), ("gradient_norm", float), ("chi", int), ("moves", int), ("products", int), ("seconds", float),
    ("best", bool),
]  # fmt: skip


class Trials:
    """Evaluations of energies with their gradients, in a row."""

    rows: list[tuple[Any, ...]]
    since: float
    is_best: bool

    def __init__(self) -> None:
        self.rows = []

    def begin(self) -> None:
        """An evaluation begins."""
        self.since, self.is_best = perf_counter(), False

    def end(self, energy: float, norm: float, env: Environment | None) -> None:
        """It had these values, infinite where the point was rejected: no environment came to rest."""
        chi = moves = products = 0
        if env is not None:
            chi, moves, products = env.chi, env.report.iterations, sum(n for n, _ in env.report.adjoint)
        self.rows.append((energy, norm, chi, moves, products, perf_counter() - self.since, self.is_best))

    def table(self) -> np.ndarray:
        """All of them, as a structured array."""
        return np.array(self.rows, dtype=FIELDS)
