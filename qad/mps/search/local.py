"""The local problems of sweeps: how finely they are solved, and from where."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import like
from qad.linalg.krylov.lanczos import lowest, on_host
from qad.linalg.support.random import normal
from qad.mps.search.monitor import ROUNDING

if TYPE_CHECKING:
    from qad.mps.kernels.terms import Apply

BESIDE = 24  # products, for what lies beside a centre
REFINED = 4  # times as many at most, for a level above by less than CLOSE times what mixes it in
CLOSE = 100.0
SMALL, MANY = 4096, 300  # centres that are so small are solved from scratch, by so many products


class Solving:
    """What sweeps over plain states and over symmetric ones share.

    Attributes
    ----------
    energy : float
        Of the last local problem, or of the state that a sweep has left; terms of the operator are of order 1.
    tolerance, used : float
        Errors of the energy at which local problems are solved, in the next sweep and in the last one.
    products : int
        Of the effective operator, at most, per local problem.
    left_over : float
        Largest error of the energy that a local problem of the last sweep was left with.
    noise : float
        Norm of what is added to a centre of norm 1 before it is improved; it leads out of every sector.
    rng : numpy.random.Generator
        Of the noise.
    closely : int
        Number of the local problem in which close levels are resolved; counted down.
    filled : int
        Directions that a bond keeps at least, also of no weight.
    """

    energy: float
    tolerance: float
    used: float
    products: int
    left_over: float
    noise: float = 0.0
    rng: np.random.Generator
    closely: int = 0
    filled: int = 0

    def settled(self, tol: float) -> bool:
        """Whether the last sweep solved local problems finely enough for the energy to be judged."""
        return self.left_over <= max(tol, ROUNDING) * max(abs(self.energy), 1.0)

    def lowest(self, apply: Apply, centre: np.ndarray) -> np.ndarray:
        """The ground state of an effective operator, sought from the centre."""
        if self.noise:
            centre, random = unit(centre), unit(self.gaussian(centre))
            self.closely -= 1
            if self.closely == 0:
                return self.lowest_of_two(apply, centre, random)
            centre = centre + self.noise * random
        self.energy, vector, error = lowest(apply, centre, self.tolerance, self.products)
        self.left_over = max(self.left_over, error)
        return vector

    def lowest_of_two(self, apply: Apply, centre: np.ndarray, random: np.ndarray) -> np.ndarray:
        """The lower one of two levels that a centre may be a mixture of; the lowest of all where that takes no time."""
        if np.linalg.norm(beside(centre, random)) < 1e-8:
            return centre
        here = on_host(np.vdot(centre, apply(centre))).real
        if centre.size <= SMALL:
            value, vector, _ = lowest(apply, centre + beside(centre, random), self.tolerance, MANY)
            centre, here = (vector, value) if value < here - self.tolerance else (centre, here)
        start = beside(centre, random)
        gain, vector = lower_beside(lambda x: apply(x) - here * x, centre, start, self.tolerance)
        return vector if gain < -self.tolerance else centre

    def gaussian(self, x: np.ndarray) -> np.ndarray:
        """Random numbers of the shape and kind of an array."""
        found = normal(self.rng, x.shape, np.result_type(x.dtype, np.float64))
        return like(x).asarray(found.astype(x.dtype))


def unit(x: np.ndarray) -> np.ndarray:
    """A vector divided by its norm."""
    return x / np.linalg.norm(x)


def beside(centre: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The part of a vector that is orthogonal to the centre."""
    return x - np.vdot(centre, x) * centre


def lower_beside(apply: Apply, centre: np.ndarray, start: np.ndarray, tol: float) -> tuple[float, np.ndarray]:
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
        above, vector, _ = lowest(elsewhere, start, 0.0, BESIDE)
        across = on_host(np.vdot(product, vector))
        levels, weights = np.linalg.eigh(np.array([[0.0, across], [np.conj(across), above]]))
        if levels[0] < -tol or abs(across) <= tol or above > CLOSE * abs(across):
            break
        start = beside(centre, vector)
    return float(levels[0]), weights[0, 0] * centre + weights[1, 0] * vector
