"""Steps of time evolution in operations that the tape differentiates; the values are those of the plain steps.

An adjoint state (`qad.mps.evolve.dual`) goes back by pieces of them: sweeps of gates, and shares of steps.  A loss that
changes by ``Re <x|d psi>`` after all pieces changes, by what they are made of, by the sum of ``Re d E_k`` over all
pieces, with the adjoint state x_k and the state psi_k behind piece k, which has the norm n_k before it is divided out::

    gates                 E_k = <x_k| G_k |psi_(k-1)> / n_k       over a sweep G_k
    exp(F H) of a step    E_k = w_k F <x_k| H |psi_k>             at the points of Gauss, of weight w_k

P. J. Davis and P. Rabinowitz, Methods of Numerical Integration, section 2.7.
"""

from __future__ import annotations

from math import factorial
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.trees import flatten
from qad.extend import Tensor, like, value_of, vjp
from qad.linalg.krylov.lanczos import on_host
from qad.linalg.truncation.rule import nonzero
from qad.mps.chain.canonical import right_canonical, schmidt_form
from qad.mps.energy.hamiltonian import touching
from qad.mps.evolve.centre import exponential
from qad.mps.evolve.cut import centred_by_cuts, size_of
from qad.mps.evolve.neighbours import neighbour_terms
from qad.mps.evolve.suzuki import rounds
from qad.mps.evolve.tdvp import TIGHTEST, Tdvp
from qad.mps.evolve.tebd import between, gate, slopes_of_gates, swept
from qad.symmetric.generic import dense, numbers, with_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from qad.mps.charges.quantities import Quantities
    from qad.mps.evolve.truncation import Truncation
    from qad.mps.operators.mpo import MPO
    from qad.typing import Scalar

    Taken = tuple[list[Any], Any]  # tensors of norm 1, and the logarithm of the norm that was divided out
    Take = Callable[[list[Any], int], Taken]
    States = tuple[Sequence[Any], Sequence[Any], float]  # before and after a piece, and the logarithm of its norm

FAST = 4.0  # highest frequency of a local change, over the size of the terms that touch a site
QUADRATURE = 1e-7  # error of an integral over unit time, of unit vectors
POINTS = 12  # at most, of a step


def centred(psi: Any, H: MPO, imaginary: bool) -> list[Any]:
    """The site tensors, plain or recorded, with their centre at site 0 and norm 1, in a dtype that can evolve."""
    dtype = np.result_type(psi.dtype, H.dtype, psi.dtype if imaginary else 1j)
    if any(type(x) is Tensor for x in flatten(psi)[0]):
        state = normalised(centred_by_cuts(psi.tensors))[0]
    elif psi.conserved is not None or psi.periodic or not right_canonical(psi.tensors):
        state = schmidt_form(psi.tensors)[0]
    else:  # the state that an evolution returned
        state = normalised(list(psi.tensors))[0]
    return [t.astype(dtype) for t in state]


def normalised(tensors: list[Any], centre: int = 0) -> tuple[list[Any], Any]:
    """The tensors of the state of norm 1, changed in place, and the logarithm of the norm."""
    size = size_of(numbers(tensors[centre]))
    tensors[centre] = with_numbers(tensors[centre], numbers(tensors[centre]) / size)
    return tensors, np.log(size)


class GateSteps:
    """Rounds of gates, on even bonds from left to right and on odd ones on the way back.

    What they are made of is a flat list of tensors that may be recorded: here the gates of every other bond, for each
    distinct share of a step.  Pieces of an evolution are sweeps, two of every round.

    Parameters
    ----------
    order : int
        Of the product formula, 2 or 4.
    steps : int
        How many steps there are; rounds are more or fewer.
    bonds : int
    conserved : Quantities, optional
        What the chain conserves.
    hermitian : bool
        Whether the operator is.
    """

    per_round: int = 2  # pieces
    faint: float = 1e-14  # the weight that a cut of the adjoint state discards

    def __init__(self, order: int, steps: int, bonds: int, conserved: Quantities | None = None, hermitian: bool = True):
        self.hermitian: bool = hermitian
        self.conserved: Quantities | None = conserved
        self.rounds: list[tuple[float, float]] = rounds(order, steps)
        self.bonds: int = bonds
        self.pieces: int = 2 * len(self.rounds)
        self.distinct: list[tuple[int, float]] = sorted({x for both in self.rounds for x in enumerate(both) if x[1]})

    def __len__(self) -> int:
        return len(self.rounds)

    def made_of(self, H: MPO, factor: Scalar) -> tuple[list[Any], float]:
        """The gates of a step ``exp(factor * H)``, and the logarithm of what was divided out of those of all rounds."""
        terms, dtype = neighbour_terms(H), np.result_type(H.dtype, value_of(factor))
        if self.conserved is not None:
            terms = [self.conserved.term(h, site) for site, h in enumerate(terms)]
        found, scale = [], 0.0
        for first, share in self.distinct:
            times = sum(both[first] == share for both in self.rounds)
            for site in range(first, self.bonds, 2):
                made, more = gate(terms[site], factor * share, self.hermitian)
                found.append(made.astype(dtype))
                scale += times * more
        return found, scale

    def row(self, made: Sequence[Any], k: int) -> list[Any]:
        """The gates of sweep k, one or None for every bond."""
        row: list[Any] = [None] * self.bonds
        start = 0
        for first, share in self.distinct:
            end = start + len(range(first, self.bonds, 2))
            if first == k % 2 and share == self.rounds[k // 2][first]:
                row[first::2] = made[start:end]
            start = end
        return row

    def sweep(self, made: Sequence[Any], tensors: Sequence[Any], cuts: Truncation, k: int, back: int = 0) -> Taken:
        """The tensors after sweep k, or `back` through it, of norm 1, and the logarithm of what the norm gained."""
        out, to_right = list(tensors), k % 2 == back
        swept(self.row(made, k), out, cuts, to_right)
        return normalised(out, -1 if to_right else 0)

    def step(self, made: Sequence[Any], tensors: Sequence[Any], truncation: Truncation, k: int) -> Taken:
        """The tensors after a round, plain or recorded, of norm 1, and the logarithm of what the norm gained."""
        half, first = self.sweep(made, tensors, truncation, 2 * k)
        out, second = self.sweep(made, half, truncation, 2 * k + 1)
        return out, first + second

    def finer(self, made: Sequence[Any]) -> GateSteps:
        """Pieces for the derivative."""
        return self

    def forth(self, made: Sequence[Any], truncation: Truncation) -> Take:
        """What takes plain tensors past a piece."""
        return lambda tensors, k: self.sweep(made, tensors, truncation, k)

    def back(self, made: Sequence[Any], truncation: Truncation) -> Take:
        """What takes the adjoint state back."""
        daggers = [gate.conj().transpose(2, 3, 0, 1) for gate in made]
        return lambda tensors, k: self.sweep(daggers, tensors, truncation, k, back=1)

    def slopes(self, made: Sequence[Any], bra: Sequence[Any], states: States, k: int) -> Iterator[tuple[int, Any]]:
        """Gradients of ``Re E_k``, and by which of the gates, between an adjoint state and those of a piece."""
        ket, _, gained = states
        places = self.row(range(len(made)), k)
        for site, slope in slopes_of_gates(bra, ket, self.row(made, k)):
            yield places[site], slope * np.exp(-gained)


class TdvpSteps:
    """Steps of the variational principle, of one site or two; made of the factor and the tensors of the operator.

    The `kernel` is that of the plain operator (`qad.mps.kernels.operators.kernel_for`).  Pieces are steps, or shares of
    them, which end at so many `points` of Gauss in every one.
    """

    per_round: int = 1
    faint: float = 1e-12

    def __init__(self, size: int, steps: int, kernel: Any, points: int = 0, hermitian: bool = True):
        self.hermitian: bool = hermitian
        self.size: int = size
        self.steps: int = steps
        self.kernel: Any = kernel
        x, weights = np.polynomial.legendre.leggauss(points) if points else (np.ones(1), np.zeros(1))
        times = (np.arange(steps)[:, None] + (1 + x) / 2).reshape(-1)
        self.shares: list[float] = np.diff([0.0, *times, *[steps] * (points > 0)]).tolist()
        self.weights: list[float] = list(np.tile(weights / 2, steps))
        self.pieces: int = len(self.shares)

    def __len__(self) -> int:
        return self.steps

    def made_of(self, H: MPO, factor: Scalar) -> tuple[list[Any], float]:
        """The factor, and the operator; nothing is divided out."""
        factor = factor if hasattr(factor, "dtype") else like(*H).asarray(factor)
        return [factor, *self.kernel.sites_of(H)], 0.0

    def step(self, made: Sequence[Any], tensors: Sequence[Any], truncation: Truncation, k: int) -> Taken:
        """The tensors after a step, plain or recorded, of norm 1, and the logarithm of what the norm gained."""
        sweep = RecordedTdvp(made, tensors, self.kernel, self.size)
        sweep.step(truncation)
        return normalised(sweep.tensors)

    def finer(self, made: Sequence[Any]) -> TdvpSteps:
        """Pieces for the derivative."""
        angle = abs(made[0][()]) * FAST * touching([dense(w) for w in made[1:]])
        return TdvpSteps(self.size, self.steps, self.kernel, points_for(float(angle)))

    def forth(self, made: Sequence[Any], truncation: Truncation) -> Take:
        """What takes plain tensors past a piece; environments stay for the next."""
        done: Any = None

        def take(tensors: list[Any], k: int) -> Taken:
            nonlocal done
            if done is None or done.tensors is not tensors:
                tol = np.sqrt(truncation.cutoff)
                done = Tdvp(self.kernel, tensors, made[0], tol, self.size, hermitian=self.hermitian)
            done.tensors, done.gained = list(tensors), 0.0
            done.factor = on_host(made[0][()]) * self.shares[k] / 2
            done.step(truncation)
            out, gained = normalised(done.tensors)
            return out, gained + done.gained

        return take

    def back(self, made: Sequence[Any], truncation: Truncation) -> Take:
        """What takes the adjoint state back."""
        return self.forth([made[0].conj()], truncation)

    def slopes(self, made: Sequence[Any], bra: Sequence[Any], states: States, k: int) -> Iterator[tuple[int, Any]]:
        """Gradients of ``Re E_k`` by F and the tensors of H, between an adjoint state and those of a piece."""
        pull = vjp(lambda f, *H: self.weights[k] * f * between(bra, states[1], H), *made)[1]
        return enumerate(pull(np.asarray(1.0 + 0j)))


def points_for(angle: float) -> int:
    """How many points resolve the phase that the fastest change turns by in a step."""
    for m in range(2, POINTS):
        constant = factorial(m) ** 4 / ((2 * m + 1) * factorial(2 * m) ** 3)
        if constant * angle ** (2 * m) < QUADRATURE:
            return m
    return POINTS


class RecordedTdvp(Tdvp):
    """A step in operations that the tape differentiates, also by the factor and the tensors of the operator."""

    def __init__(self, made: Sequence[Any], tensors: Sequence[Any], kernel: Any, size: int):
        super().__init__(kernel, list(tensors), made[0], TIGHTEST, size, made[1:])

    def evolved(self, x: Any, first: int, size: int, sign: int = 1) -> Any:
        last = first + size - 1
        parts = self.left[first], self.H[first : last + 1], self.right[last]
        return exponential(x, sign * self.factor, *parts, kernel=self.kernel, first=first)


def check_full(tensors: Sequence[Any]) -> None:
    """Raise where a bond of a chain has zero Schmidt values: no derivative knows what would fill them."""
    for values in schmidt_form(tensors)[1]:
        rank = nonzero(-np.sort(-values), len(values))
        if rank < len(values):
            raise ArgumentError(
                f"a bond of the state has rank {rank} of {len(values)}: tdvp of one site would fill the others in "
                "directions without derivative: psi.truncate(cutoff=1e-12)[0] drops them, and 'tdvp2' lets bonds grow"
            )
