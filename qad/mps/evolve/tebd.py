"""Time-evolving block decimation: gates on neighbours, applied in sweeps.

A sweep applies ``exp(-i h[k] t/2)`` for every bond from left to right, then again from right to left: a symmetric
product, and so of second order in t (`qad.mps.evolve.suzuki` has the fourth).  G. Vidal, PRL 93, 040502 (2004).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.mps.evolve.neighbours import neighbour_terms
from qad.mps.evolve.suzuki import ORDERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.operator import MPO

LEAST_CUTOFF, MOST_CUTOFF = 1e-30, 1e-14
ROUNDING = 10.0  # times size and rounding: singular values below it, relative to the largest, are zero
SAME = 1e-6  # relative difference below which two singular values count as one multiplet


class Gates:
    """One time step as sweeps of gates.

    Parameters
    ----------
    H : MPO
        Of neighbours.
    factor : number
        The step is ``exp(factor * H)``: ``-1j * dt``, or ``-dt`` in imaginary time.
    order : int
        2 or 4.

    Attributes
    ----------
    scale : float
        Logarithm of the norms of all gates, by which they were divided.
    """

    sweeps: list[list[np.ndarray]]

    def __init__(self, H: MPO, factor: complex, order: int = 2):
        terms = neighbour_terms(H)
        parts = [factor * share / 2 for share in ORDERS[order]]
        made = {part: [self.gate(h, part, site) for site, h in enumerate(terms)] for part in set(parts)}
        self.sweeps = [[matrix for matrix, _ in made[part]] for part in parts]
        self.scale: float = 2 * sum(scale for part in parts for _, scale in made[part])

    def gate(self, h: np.ndarray, factor: complex, site: int) -> tuple[np.ndarray, float]:
        """``exp(factor h)`` of the term on a site and the next one, as `gate`."""
        return gate(h, factor)

    def step(self, tensors: list[np.ndarray], truncation: Truncation) -> None:
        """Apply it to a chain with its centre at site 0, in place; the centre comes back there."""
        swept(self.sweeps, tensors, truncation)


def swept(sweeps: Sequence[Sequence[np.ndarray]], tensors: list[np.ndarray], truncation: Truncation) -> None:
    """Apply the gates of every sweep to a chain from left to right and back, in place; its centre is at site 0."""
    for gates in sweeps:
        for site in range(len(gates)):
            pair = applied(gates[site], tensors, site)
            tensors[site], tensors[site + 1] = truncation.split(pair, to_right=True)
        for site in reversed(range(len(gates))):
            pair = applied(gates[site], tensors, site)
            tensors[site], tensors[site + 1] = truncation.split(pair, to_right=False)


def gate(h: np.ndarray, factor: complex) -> tuple[np.ndarray, float]:
    """``exp(factor h)`` of a Hermitian two-site term, scaled to the norm 1, for it might overflow; and log its norm."""
    size = h.shape[0] * h.shape[1]
    values, vectors = np.linalg.eigh(h.reshape(size, size))
    powers = factor * values
    scale = powers.real.max()
    return ((vectors * np.exp(powers - scale)) @ vectors.conj().T).reshape(h.shape), float(scale)


def applied(gate: np.ndarray, tensors: Sequence[np.ndarray], site: int) -> np.ndarray:
    """The pair of sites (a, s, t, b) after a gate."""
    pair = np.tensordot(tensors[site], tensors[site + 1], 1)
    return np.tensordot(gate, pair, ((2, 3), (1, 2))).transpose(2, 0, 1, 3)


def cutoff_for(error: float, cuts: int) -> float:
    """The weight that each cut of a step may discard for all of them to change the state by no more than `error`.

    A discarded weight w changes the state by ``sqrt(w)``.  What one step creates has a weight of the square of the
    step, so that a weight which does not follow the step would cut off what each has just created.
    """
    return float(np.clip((error / cuts) ** 2, LEAST_CUTOFF, MOST_CUTOFF))


class Truncation:
    """Splits pairs of sites, and keeps account of what it cuts off.

    Parameters
    ----------
    bond : int
        Largest bond dimension.
    cutoff : float
        Largest weight (sum of squared Schmidt coefficients, relative) that a cut may discard below `bond`.
    """

    bond: int
    cutoff: float
    discarded: float
    faintest: float  # the smallest Schmidt value that any cut kept, relative to its largest

    def __init__(self, bond: int, cutoff: float):
        if not 0 <= cutoff < 1:
            raise ArgumentError(f"a cut may discard a weight from 0 to below 1, not cutoff={cutoff!r}")
        self.bond, self.cutoff, self.discarded, self.faintest = bond, cutoff, 0.0, 1.0

    def split(self, pair: np.ndarray, to_right: bool) -> tuple[np.ndarray, np.ndarray]:
        """Two site tensors; the centre goes to the right one, or to the left.  The norm is kept."""
        left, s, t, right = pair.shape
        u, values, vh = np.linalg.svd(pair.reshape(left * s, t * right), full_matrices=False)
        kept, size = self.rank(values), np.linalg.norm(values)
        u, vh, values = u[:, :kept], vh[:kept], values[:kept]
        if size:
            values = values * (size / np.linalg.norm(values))
        u, vh = (u, values[:, None] * vh) if to_right else (u * values, vh)
        return u.reshape(left, s, kept), vh.reshape(kept, t, right)

    def rank(self, values: np.ndarray) -> int:
        """How many of the singular values are kept; the weight of the others is put down.

        Values that are zero to rounding are not.  Of equal values all are kept or none, since the choice would be
        arbitrary: all where `bond` lets them, none where their weight hardly counts.
        """
        weights = np.cumsum((values**2)[::-1])[::-1]
        filled = values > ROUNDING * len(values) * np.finfo(values.dtype).eps * values[0]
        kept = max(1, min(np.count_nonzero((weights > self.cutoff * weights[0]) & filled), self.bond))
        top, end = multiplet(values, kept)
        if end <= self.bond:
            kept = end
        elif top and weights[top] <= MOST_CUTOFF * weights[0]:
            kept = top
        if weights[0] and kept < len(values):
            self.discarded += weights[kept] / weights[0]
        self.note(values[:kept])
        return kept

    def note(self, values: np.ndarray) -> None:
        """Keep account of the smallest one."""
        if largest := values.max():
            self.faintest = min(self.faintest, float(values.min() / largest))


def multiplet(values: np.ndarray, kept: int) -> tuple[int, int]:
    """Where the equal values begin and end through which a cut after the first `kept` goes; `kept` twice for none."""
    top = end = kept
    while end < len(values) and values[end] > (1 - SAME) * values[end - 1]:
        end += 1
    while end > kept and top > 0 and (top == kept or values[top] > (1 - SAME) * values[top - 1]):
        top -= 1
    return top, end
