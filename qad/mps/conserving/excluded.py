"""States that a search for an excited state of definite charge stays orthogonal to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.mps.conserving.inner import inner, normalised, overlap, total_of
from qad.mps.conserving.measures import past
from qad.symmetric.contraction import tensordot
from qad.symmetric.tensor import SymTensor, aligned, bare

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.mps.conserving.state import SymmetricMPS
    from qad.typing import Real


class Excluded:
    """States to stay orthogonal to, and what a squared overlap with them costs.

    Parameters
    ----------
    states : sequence of SymmetricMPS
        Those of other sectors are orthogonal as they are, and are left out.
    weight : float
        In units of the operator.
    like : SymmetricMPS, optional
        A state of the search.
    """

    def __init__(self, states: Sequence[Any], weight: float, like: Any = None):
        for state in states:
            if getattr(state, "conserved", None) != like.conserved:
                raise ArgumentError(
                    "a search that conserves charges excludes states that conserve the same on the same sites: those "
                    "that ground_state(..., conserve=...) found"
                )
        same = [state for state in states if total_of(state) == total_of(like)]
        # Any: SymmetricMPS, where methods that serve all kinds of states take any `Excluding`
        self.states: list[Any] = [type(state)(normalised(state.tensors), state.conserved) for state in same]
        self.weight: float = weight

    def overlap(self, psi: Any) -> float:
        """The largest squared overlap with a normalised state."""
        return max((float(np.abs(psi @ state) ** 2) for state in self.states), default=0.0)

    def cost(self, psi: Any) -> Real:
        """The penalty of a state, by its normalised overlaps; differentiable."""
        square, log_scale = inner(psi.tensors, psi.tensors)
        pairs = [overlap(state, psi) for state in self.states]
        return sum(self.weight * np.abs(x) ** 2 * np.exp(2 * one - log_scale) / square.real for x, one in pairs)


NONE = Excluded([], 0.0)


class Penalty:
    """``weight |state><state|`` for every excluded state, by the overlaps on both sides of the centre.

    The present state is the bra, and the legs of the overlaps are (bra, ket); None is that of no sites.
    """

    def __init__(self, excluded: Excluded, n: int):
        self.states: list[SymmetricMPS] = excluded.states
        self.weight: float = excluded.weight
        self.left: list[list[Any]] = [[None] * n for _ in self.states]
        self.right: list[list[Any]] = [[None] * n for _ in self.states]

    def pass_right(self, site: int, tensor: SymTensor) -> None:
        """The centre moves on from this site to the right."""
        for state, left in zip(self.states, self.left, strict=True):
            left[site + 1] = past(left[site], state[site], tensor)

    def pass_left(self, site: int, tensor: SymTensor) -> None:
        """The centre moves on from this site to the left."""
        for state, right in zip(self.states, self.right, strict=True):
            after = right[site]
            half = state[site] if after is None else tensordot(state[site], after, ([2], [1]))
            right[site - 1] = tensordot(tensor.conj(), half, ([1, 2], [1, 2]))

    def reduced(self, number: int, site: int, size: int) -> SymTensor:
        """An excluded state in the basis of the centre of `size` sites, this one first."""
        state, left, right = self.states[number], self.left[number][site], self.right[number][site + size - 1]
        centre = state[site] if left is None else tensordot(left, state[site], 1)
        for tensor in state[site + 1 : site + size]:
            centre = tensordot(centre, tensor, 1)
        return centre if right is None else tensordot(centre, right, ([centre.ndim - 1], [1]))

    def cost(self, centre: SymTensor) -> float:
        """The penalty of the present state, its centre at site 0."""
        rows = [self.reduced(number, 0, 1) for number in range(len(self.states))]
        return sum(self.weight * abs(np.vdot(aligned(centre, row, "excluded"), centre.data)) ** 2 for row in rows)

    def added(self, apply: Any, site: int, size: int) -> Callable[[np.ndarray], np.ndarray]:
        """An effective operator with the penalty added."""
        if not self.states:
            return apply
        where = bare(apply.layout, np.zeros(0))
        rows = [aligned(where, self.reduced(k, site, size), "excluded") for k in range(len(self.states))]

        def penalised(x: np.ndarray) -> np.ndarray:
            return apply(x) + self.weight * sum(row * np.vdot(row, x) for row in rows)

        return penalised
