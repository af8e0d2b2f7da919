"""What a search must not have overlooked before it is said to have converged.

A search that starts in a symmetric sector stays there, and ends in its lowest state.  So every site is stirred by a
random matrix, which belongs to no sector, and the lowest state of its effective operator is sought from there.  And a
search between two close levels is slow, so that its last steps gain little though much is left to gain: superpositions
with an earlier state find that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import like
from qad.linalg.support.random import normal
from qad.mps.canonical import schmidt_form
from qad.mps.observables import overlap
from qad.mps.sandwich import operator_matrices, sandwich
from qad.mps.scales import factor
from qad.mps.search.dmrg import OneSite
from qad.mps.search.lanczos import lowest, on_host

if TYPE_CHECKING:
    from qad.mps.effective import Apply
    from qad.mps.operator import MPO
    from qad.mps.search.result import Excluding
    from qad.mps.state import MPS

PRODUCTS = 24
REFINED = 4  # times as many products at most, for a level above by less than CLOSE times what mixes it in
CLOSE = 100.0
NOISE = 0.05  # of the stirred vector, in all directions: sectors that no change of one site leads to
DIFFERENT = 1e-7  # norm of the difference of two states, below which it is rounding
RANK = 1e-20  # weight that a superposition may lose where its bonds need not be as large as they may be


def escaped(
    H: MPO, state: MPS, excluded: Excluding, tol: float, rng: np.random.Generator, mixing: bool = True
) -> MPS | None:
    """A state of lower energy by more than `tol`, relative, or None where one sweep of stirred sites finds none.

    Without `mixing` superpositions with the state itself do not count.
    """
    sweeps = Stirred(H, state, state.bond, excluded, tol, rng)
    sweeps.mixes = mixing
    sweeps.sweep()
    return sweeps.state if sweeps.refuted else None


class Stirred(OneSite):
    """One site at a time, beginning with a random change of it."""

    def __init__(self, H: MPO, state: MPS, bond: int, excluded: Excluding, tol: float, rng: np.random.Generator):
        super().__init__(H, state, bond, excluded)
        self.mixing: float = 0.0
        self.refuted: bool = False
        self.mixes: bool = True
        self.tol: float = tol
        self.rng: np.random.Generator = rng
        self.energy: float = self.first_energy

    def solve(self, apply: Apply, centre: np.ndarray, shape: tuple[int, ...], at: tuple[int, int]) -> np.ndarray:
        """The lower one of the centre itself and of what is found from a random change of it."""
        apply = self.penalty.added(apply, at)
        centre = centre.reshape(-1) / np.linalg.norm(centre)
        start = beside(centre, self.stirred(centre.reshape(shape)))
        if np.linalg.norm(start) > 1e-8:
            here = self.energy  # taken away, so that rounding leads to the centre itself and to nothing lower
            gain, vector = lower_beside(lambda x: apply(x) - here * x, centre, start, self.tol * abs(here), self.mixes)
            if gain < -self.tol * abs(here):
                self.energy, self.refuted = here + gain, True
                return vector.reshape(shape)
        return centre.reshape(shape)

    def stirred(self, centre: np.ndarray) -> np.ndarray:
        """A random matrix applied to the physical leg, and a little of everything."""
        change = np.tensordot(self.gaussian(centre.shape[1], centre.shape[1]), centre, (1, 1)).transpose(1, 0, 2)
        noise = self.gaussian(*centre.shape)
        return (change / np.linalg.norm(change) + NOISE * noise / np.linalg.norm(noise)).reshape(-1)

    def gaussian(self, *shape: int) -> np.ndarray:
        x = normal(self.rng, shape, np.result_type(self.tensors[0].dtype, np.float64))
        return like(*self.tensors).asarray(x)


def beside(centre: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The part of a vector that is orthogonal to the centre."""
    return x - np.vdot(centre, x) * centre


def lower_beside(
    apply: Apply, centre: np.ndarray, start: np.ndarray, tol: float, mixes: bool = True
) -> tuple[float, np.ndarray]:
    """The lowest level, and its vector, of a centre with what is found orthogonal to it from a start.

    A state between two close levels has the energy of neither, but so has the one orthogonal to it: only what mixes
    the two tells, as soon as the vector is as good as that.  The operator has the centre's energy taken away.
    """
    product, far = apply(centre), np.linalg.norm(apply(start)) / np.linalg.norm(start)

    def elsewhere(x):
        """The operator beside the centre, which is far up: rounding leads to it where a space is exhausted."""
        along = np.vdot(centre, x) * centre
        return beside(centre, apply(x - along)) + far * along

    for _ in range(REFINED):
        above, vector, _ = lowest(elsewhere, start, 0.0, PRODUCTS)
        if not mixes:
            return above, vector
        across = on_host(np.vdot(product, vector))
        levels, weights = np.linalg.eigh(np.array([[0.0, across], [np.conj(across), above]]))
        if levels[0] < -tol or abs(across) <= tol or above > CLOSE * abs(across):
            break
        start = beside(centre, vector)
    return float(levels[0]), weights[0, 0] * centre + weights[1, 0] * vector


def combined(H: MPO, state: MPS, earlier: MPS, excluded: Excluding, tol: float) -> MPS | None:
    """A superposition of a state and an earlier one, of lower energy by more than `tol`, relative, or None.

    Where levels are close, sweeps and gradients move slowly from one to the other, and each step gains little.  The
    difference of two states shows the direction: the best superposition of the two (a Ritz vector) goes all the way.
    """
    states = schmidt_form(state)[0], schmidt_form(earlier)[0]
    across = on_host(overlap(*states))
    size = np.sqrt(max(1 - np.abs(across) ** 2, 0.0))
    if size < DIFFERENT:
        return None
    basis = np.array([[1, -across / size], [0, 1 / size]])
    matrix = np.array([[on_host(element(H, one, two, excluded)) for two in states] for one in states])
    matrix = matrix - matrix[0, 0] * np.array([[1, across], [np.conj(across), 1]])
    weights = basis @ np.linalg.eigh(basis.conj().T @ matrix @ basis)[1][:, 0]
    found = (weights[0] * states[0] + weights[1] * states[1]).truncate(state.bond, RANK)[0]
    found = schmidt_form(found)[0]
    before = element(H, states[0], states[0], excluded).real
    return found if element(H, found, found, excluded).real < before - tol * abs(before) else None


def element(H: MPO, bra: MPS, ket: MPS, excluded: Excluding) -> np.ndarray:
    """A matrix element of the operator, and of the penalty for states that are excluded."""
    (value,), log_scale = sandwich(bra, operator_matrices(H, np.result_type(bra.dtype, ket.dtype)), ket)
    penalty = sum(overlap(bra, other) * overlap(other, ket) for other in excluded.states)
    return value * factor(value, log_scale) + excluded.weight * penalty
