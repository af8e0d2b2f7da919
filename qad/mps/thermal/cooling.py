"""Density operators by squaring, and derivatives of what is measured in them.

``X = exp(-A / 2)`` begins as a Taylor series at ``exp(-A t)``, t = 2^-(m+1), and is squared m times, each time cut to
small bonds: an exponential tensor renormalisation group.  B.-B. Chen, L. Chen, Z. Chen, W. Li and A. Weichselbaum, PRX
8, 031082 (2018).  As a vector X is the purification of ``rho = X X^H / tr X X^H``.  A square doubles errors, so that
the cuts before have been as much finer.

A loss that changes by ``Re <x|dX>`` after a square changes by that with ``x <- X^H x + x X^H`` before it, X being the
root; and so on, by the terms of the series, to the tensors of A.  The adjoint x is a chain with bonds of its own: what
a change does to X is never asked to fit into the bonds of X, and no cut is differentiated.  For the mean f of a
Hermitian O in the state of norm 1 it begins as ``x = 2 (O - f) X``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import Tensor, any_traced, defvjp, primitive, vjp
from qad.mps.energy.hamiltonian import HERMITIAN, strength
from qad.mps.evolve.cut import FROZEN, LEAST_CUTOFF
from qad.mps.evolve.neighbours import traced
from qad.mps.operators.mpo import MPO
from qad.mps.thermal.products import chain_of, daggered, element_of, projector, purification, summed, times
from qad.showing.progress import bar_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from qad.mps.chain.state import MPS
    from qad.mps.charges.quantities import Charge, Quantities
    from qad.mps.thermal.products import Chain, Pairs
    from qad.typing import Array

SERIES, ORDER = 0.2, 12  # length of the series, over the size of all terms together, and its last power
FINE = 1e-18  # weight that a cut of the adjoint discards
FIRST_OF_MEANS = (
    "derivatives of thermal means are of first order; one of log_partition is a mean: -energy by beta, so that the "
    "gradient of energy is its second"
)


@dataclass(frozen=True)
class Cooling:
    """How a thermal state is made.

    Attributes
    ----------
    bond : int
        Largest bond dimension.
    cutoff : float
        Weight that a cut of the state may discard.
    conserved : Quantities, optional
        What the operator conserves, and the sites count.
    total : tuple of int, optional
        The charge of all sites together; by default the state is a sum over all charges.
    """

    bond: int
    cutoff: float
    conserved: Quantities | None = None
    total: Charge | None = None


class Squares:
    """``exp(-A / 2)``, and all that it was made from.

    Attributes
    ----------
    series : list of chains
        What follows in the Taylor series after its last term, after the one before, and so on, to all of it.
    roots : list of chains
        What the series gave, its square, and so on, to X itself, each of norm 1.
    sizes : list of floats
        Logarithms of the norms that they had.
    log_norm : float
        That of X.
    discarded : float
        The weight that cuts took off.
    """

    def __init__(self, cooling: Cooling, A: Sequence[np.ndarray]):
        self.cooling: Cooling = cooling
        self.A: Sequence[np.ndarray] = A
        self.legs: list[int] = [w.shape[2] for w in A]
        self.discarded: float = 0.0
        mean, squares = float(traced(A)[-1][0].real), squares_for(A)
        self.time: float = 0.5 ** (squares + 1)
        self.one: Chain = self.chain_of(MPO.identity(len(A), self.legs))
        self.rest: Chain = self.chain_of(MPO(A) - mean * MPO.identity(len(A), self.legs))
        self.series: list[Chain] = []
        self.roots: list[Chain] = []
        self.sizes: list[float] = []
        with bar_for(label="cooling", total=ORDER + squares) as bar:
            self.begin(cutoff_at(self.time * 2, cooling.cutoff), bar)
            self.log_norm: float = self.sizes[0] + 0.5 * float(np.sum(np.log(self.legs)))
            for left in reversed(range(squares)):
                root, size = self.summed([(self.roots[-1], self.roots[-1])], cutoff_at(0.5**left, cooling.cutoff))
                self.roots.append(root)
                self.sizes.append(size)
                self.log_norm = 2 * self.log_norm + size
                bar.update()
        self.log_norm -= mean / 2

    def begin(self, cutoff: float, bar: Any) -> None:
        """The series ``1 - t A (1 - t A / 2 (1 - t A / 3 ...))`` from within, of the one or its part in a sector."""
        one, cooling = self.one, self.cooling
        start = one if cooling.total is None else self.chain_of(projector(cooling.conserved, cooling.total))
        unit = [w * (1 / np.sqrt(d)) for w, d in zip(start, self.legs, strict=True)]
        self.series.append(unit)
        for k in range(ORDER, 0, -1):
            root, size = self.summed([(one, unit), (times(-self.time / k, self.rest), self.series[-1])], cutoff)
            self.series.append(times(np.exp(size), root))
            bar.update()
        self.roots.append(root)
        self.sizes.append(size)

    def summed(self, pairs: Pairs, cutoff: float) -> tuple[Chain, float]:
        """A sum of products of norm 1, and the logarithm of its norm; what is cut off is put down."""
        tensors, log_norm, lost = summed(pairs, self.cooling.bond, cutoff)
        self.discarded += lost
        return tensors, log_norm

    def chain_of(self, operator: Sequence[Any]) -> Chain:
        """An operator as a chain, its numbers plain or recorded; what would break a symmetry is left out of these."""
        return chain_of(operator, self.cooling.conserved)

    @property
    def state(self) -> MPS:
        """X as a purification of norm 1, its centre at site 0."""
        return purification(self.roots[-1], self.cooling.conserved)

    def slopes(self, adjoint: Chain, size: float) -> list[np.ndarray]:
        """``Re <x|dX>`` by the tensors of A, for an adjoint x of norm 1 times a number."""
        if not size > 0:
            return [np.zeros_like(w) for w in self.A]
        for root, norm in zip(self.roots[-2::-1], self.sizes[:0:-1], strict=True):
            before = daggered(root)
            adjoint, gained = self.back([(adjoint, before), (before, adjoint)])
            size *= np.exp(gained - norm)
        size /= np.exp(self.sizes[0])
        found, H, share = [np.zeros(w.shape, np.result_type(w, 1j)) for w in self.A], daggered(self.rest), 1.0
        for k, terms in enumerate(self.series[-2::-1], 1):
            size *= -self.time / k
            value, pull = vjp(lambda *A, k=adjoint, t=terms: element_of(k, t, self.chain_of(A)), *self.A)
            by_terms = pull(np.asarray(size, value.dtype))
            found = [total + slope for total, slope in zip(found, by_terms, strict=True)]
            share *= SERIES / k  # of all terms, that those from here on have
            if share**2 < FINE:
                break
            adjoint, gained = self.back([(H, adjoint)], FINE / share**2)
            size *= np.exp(gained)
        return [(t if w.dtype.kind == "c" else t.real).astype(w.dtype) for t, w in zip(found, self.A, strict=True)]

    def back(self, pairs: Pairs, cutoff: float = FINE) -> tuple[Chain, float]:
        """An adjoint of norm 1, and the logarithm of its norm; it has twice the bonds that states have.

        In bonds like theirs slopes of states that are cut were off by 2e-3 and more, for 1e-4 (spins and electrons).
        """
        return summed(pairs, 2 * self.cooling.bond, cutoff)[:2]

    def mean(self, operator: Sequence[Array]) -> Array:
        """Of an operator on the sites."""
        return element_of(self.roots[-1], self.roots[-1], self.chain_of(operator))

    def by_mean(self, operator: MPO) -> list[np.ndarray]:
        """The slopes of the mean of a Hermitian operator by the tensors of A."""
        mean = float(self.mean(operator).real)
        excess = operator - mean * MPO.identity(len(self.legs), self.legs)
        adjoint, log_norm = self.back([(times(2.0, self.chain_of(excess)), self.roots[-1])])
        return self.slopes(adjoint, np.exp(log_norm))


def squares_for(A: Sequence[np.ndarray]) -> int:
    """How many follow the series."""
    return max(0, ceil(log2(max(len(A) * strength(A) / (2 * SERIES), 1.0))))


def cutoff_at(share: float, cutoff: float) -> float:
    """The weight that a cut may discard at a share of the whole inverse temperature: amplitudes add up to its end."""
    return max(LEAST_CUTOFF, cutoff * share**2)


@primitive(keeps=True)
def measured_in(*arrays: np.ndarray, cooling: Cooling) -> tuple[tuple[Array, Array], Squares]:
    """``log tr exp(-A)``, and the mean of an operator, whose tensors follow those of A."""
    A, operator = halves(arrays)
    done = Squares(cooling, A)
    return (np.asarray(2 * done.log_norm), done.mean(operator)), done


def halves(arrays: Sequence[Array]) -> tuple[Sequence[Array], Sequence[Array]]:
    """The tensors of A, and those of another operator."""
    return arrays[: len(arrays) // 2], arrays[len(arrays) // 2 :]


def _measured_in_vjp(needed, g, ans, *arrays, cooling, kept=None):
    if any(type(x) is Tensor for x in arrays):
        raise ArgumentError(FIRST_OF_MEANS)
    if any_traced(*arrays, *(c for c in g if c is not None)):
        raise ArgumentError(FROZEN)
    A, operator = halves(arrays)
    done, (by_log, by_mean) = Squares(cooling, A) if kept is None else kept, g
    found = [np.zeros_like(x) for x in arrays]
    if by_log is not None:
        slopes = vjp(lambda *tensors: done.mean(tensors).real, *A)[1](-1.0)
        found[: len(A)] = [by_log * slope.conj() for slope in slopes]
    if by_mean is not None and min(needed) < len(A):
        for weight, part in parts_of(by_mean, MPO(operator)):
            slopes = done.by_mean(part)
            found[: len(A)] = [total + weight * slope.conj() for total, slope in zip(found, slopes, strict=False)]
    if by_mean is not None and max(needed) >= len(A):
        slopes = vjp(lambda *tensors: done.mean(tensors), *operator)[1](1.0)
        found[len(A) :] = [by_mean * slope.conj() for slope in slopes]
    return tuple(found[i] for i in needed)


def parts_of(by_mean: Array, operator: MPO) -> Iterable[tuple[Array, MPO]]:
    """Hermitian operators whose means make up one of any operator, each with the cotangent of its mean."""
    yield by_mean.real, 0.5 * (operator + operator.mH)
    odd = -0.5j * (operator - operator.mH)
    if by_mean.dtype.kind == "c" and strength(odd.tensors) > HERMITIAN * strength(operator.tensors):
        yield -by_mean.imag, odd


defvjp(measured_in, shared=_measured_in_vjp)
