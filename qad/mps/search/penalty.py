"""What keeps searches away from states that are excluded: a penalty for the overlap with them."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.mps.chain.row import edges, total_of
from qad.mps.kernels.environments import past_left, past_right
from qad.mps.measure.observables import energy, overlap
from qad.symmetric.generic import aligned_numbers, join

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qad.mps.chain.chain import Chain
    from qad.mps.kernels.terms import Apply
    from qad.mps.operators.mpo import MPO


class Excluded:
    """States to stay orthogonal to, and what a squared overlap with them costs.

    Parameters
    ----------
    states : sequence of MPS
        Those of another sector than `start` are orthogonal as they are, and are left out.
    weight : float, optional
        Default: ten times the largest energy per site.
    H : MPO
    start : MPS
        Of the search, of the same kind.
    unit : float
        The weight is divided by it.
    """

    def __init__(self, states: Iterable[Any], weight: float | None, H: MPO, start: Any, unit: float = 1.0):
        states = list(states)
        if start.conserved is not None:
            if any(state.conserved != start.conserved for state in states):
                raise ArgumentError(
                    "a search that conserves charges excludes states that conserve the same on the same sites: those "
                    "that ground_state(..., conserve=...) found"
                )
            states = [state for state in states if total_of(state) == total_of(start)]
        self.states: list[Any] = [state.normalized() for state in states]
        if weight is None:
            weight = 10 * unit * max([1.0, *(abs(float(energy(state, H))) / len(H) for state in self.states)])
        if not weight > 0:
            raise ArgumentError(f"weight must be positive, but got {weight!r}")
        self.weight: float = weight / unit

    def overlap(self, psi: Chain) -> float:
        """The largest squared overlap with a normalised state."""
        return max((float(np.abs(overlap(state, psi)) ** 2) for state in self.states), default=0.0)

    def loss(self, H: MPO, psi: Chain) -> Any:
        """The energy of a state with the penalty, by its normalised overlaps; differentiable."""
        square = overlap(psi, psi).real if self.states else None
        return energy(psi, H) + sum(self.weight * np.abs(overlap(state, psi)) ** 2 / square for state in self.states)


class Penalty:
    """``weight |state><state|`` for every excluded state, by the overlaps on both sides of the centre.

    The present state is the bra, and the legs of the overlaps are (bra, ket).
    """

    def __init__(self, excluded: Excluded, tensors: Sequence[Any]):
        self.states: list[Any] = excluded.states
        self.weight: float = excluded.weight
        begin, end = (side.astype(tensors[0].dtype) for side in edges(tensors))
        self.left: list[list[Any]] = [[begin] * len(tensors) for _ in self.states]
        self.right: list[list[Any]] = [[end] * len(tensors) for _ in self.states]

    def pass_right(self, site: int, tensor: Any) -> None:
        """The centre moves on from this site to the right."""
        for state, left in zip(self.states, self.left, strict=True):
            left[site + 1] = past_left(left[site], state[site], tensor)

    def pass_left(self, site: int, tensor: Any) -> None:
        """The centre moves on from this site to the left."""
        for state, right in zip(self.states, self.right, strict=True):
            right[site - 1] = past_right(right[site], state[site], tensor)

    def added(self, apply: Apply, centre: Any, site: int) -> Apply:
        """An effective operator with the penalty added, on the numbers of a centre, this site first."""
        end, rows = site + centre.ndim - 2, []
        for state, left, right in zip(self.states, self.left, self.right, strict=True):
            projected = reduce(join, state.tensors[site:end], left[site])
            projected = join(projected, right[end - 1], ((centre.ndim - 1,), (1,)))
            rows.append(aligned_numbers(centre, projected))
        if not rows:
            return apply

        def penalised(x):
            return apply(x) + self.weight * sum(row * np.vdot(row, x) for row in rows)

        return penalised
