"""Steps of time evolution in operations that the tape differentiates; the values are those of the plain steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import like, value_of
from qad.linalg.krylov.lanczos import on_host
from qad.linalg.truncation.rule import nonzero
from qad.mps.chain.canonical import schmidt_form
from qad.mps.evolve.centre import exponential
from qad.mps.evolve.start import normalised
from qad.mps.evolve.suzuki import rounds
from qad.mps.evolve.tdvp import TIGHTEST, Tdvp
from qad.mps.evolve.tebd import between, gate, swept, terms_for
from qad.mps.kernels.environments import past_left, past_right

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from qad.mps.charges.quantities import Quantities
    from qad.mps.evolve.truncation import Truncation
    from qad.mps.operators.mpo import MPO
    from qad.typing import Array, Scalar

    Taken = tuple[list[Any], Any]  # tensors of norm 1, and the logarithm of the norm that was divided out
    Take = Callable[[list[Any], int], Taken]


class GateSteps:
    """Rounds of gates, on even bonds from left to right and on odd ones on the way back.

    What they are made of is a flat list of tensors that may be recorded: here the gates of every other bond, for each
    distinct share of a step.  Pieces of an evolution (`qad.mps.evolve.pieces`) are sweeps, two of every round.

    Parameters
    ----------
    order : int
        Of the product formula, 2 or 4.
    steps : int
        How many steps there are; rounds are more or fewer.
    bonds : int
    conserved : Quantities, optional
        What the chain conserves.
    """

    per_round: int = 2  # pieces
    faint: float = 1e-14  # the weight that a cut of the adjoint state discards

    def __init__(self, order: int, steps: int, bonds: int, conserved: Quantities | None = None):
        self.conserved: Quantities | None = conserved
        self.rounds: list[tuple[float, float]] = rounds(order, steps)
        self.bonds: int = bonds
        self.pieces: int = 2 * len(self.rounds)
        self.distinct: list[tuple[int, float]] = sorted({x for both in self.rounds for x in enumerate(both) if x[1]})

    def __len__(self) -> int:
        return len(self.rounds)

    def made_of(self, H: MPO, factor: Scalar) -> tuple[list[Any], float]:
        """The gates of a step ``exp(factor * H)``, and the logarithm of what was divided out of those of all rounds."""
        terms, dtype = terms_for(H, self.conserved), np.result_type(H.dtype, value_of(factor))
        found, scale = [], 0.0
        for first, share in self.distinct:
            times = sum(both[first] == share for both in self.rounds)
            for site in range(first, self.bonds, 2):
                made, more = gate(terms[site], factor * share)
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

    def element(
        self, made: Sequence[Any], bra: Sequence[Any], before: Sequence[Any], after: Sequence[Any], gained: float,
        k: int,
    ) -> Array:  # fmt: skip
        """What changes with the gates, whose states before and after the piece are given."""
        return between(bra, before, row=self.row(made, k)) * np.exp(-gained)


class TdvpSteps:
    """Steps of the variational principle, of one site or two; made of the factor and the tensors of the operator.

    The `kernel` is that of the plain operator (`qad.mps.kernels.operators.kernel_for`).
    """

    def __init__(self, size: int, steps: int, kernel: Any):
        self.size: int = size
        self.pieces: int = steps  # without shares
        self.kernel: Any = kernel

    def __len__(self) -> int:
        return self.pieces

    def made_of(self, H: MPO, factor: Scalar) -> tuple[list[Any], float]:
        """The factor, and the operator; nothing is divided out."""
        factor = factor if hasattr(factor, "dtype") else like(*H).asarray(factor)
        return [factor, *self.kernel.sites_of(H)], 0.0

    def step(self, made: Sequence[Any], tensors: Sequence[Any], truncation: Truncation, k: int) -> Taken:
        """The tensors after a step, plain or recorded, of norm 1, and the logarithm of what the norm gained."""
        sweep = RecordedTdvp(made, tensors, self.kernel, self.size)
        sweep.step(truncation)
        return normalised(sweep.tensors)

    def forth(self, made: Sequence[Any], truncation: Truncation, shares: Sequence[float] | None = None) -> Take:
        """What takes plain tensors through a step, or a share of one; environments stay for the next."""
        done: Any = None

        def take(tensors: list[Any], k: int) -> Taken:
            nonlocal done
            if done is None or done.tensors is not tensors:
                done = Tdvp(self.kernel, tensors, made[0], np.sqrt(truncation.cutoff), self.size)
            done.tensors, done.gained = list(tensors), 0.0
            done.factor = on_host(made[0][()]) * (shares[k] if shares is not None else 1.0) / 2
            done.step(truncation)
            out, gained = normalised(done.tensors)
            return out, gained + done.gained

        return take


class RecordedTdvp(Tdvp):
    """A step in operations that the tape differentiates, also by the factor and the tensors of the operator."""

    H: Sequence[Any]

    def __init__(self, made: Sequence[Any], tensors: Sequence[Any], kernel: Any, size: int):
        self.H = made[1:]
        super().__init__(kernel, list(tensors), made[0], TIGHTEST, size)

    def evolved(self, x: Any, first: int, size: int, sign: int = 1) -> Any:
        last = first + size - 1
        parts = self.left[first], self.H[first : last + 1], self.right[last]
        return exponential(x, sign * self.factor, *parts, kernel=self.kernel, first=first)

    def passed(self, site: int, to_right: bool) -> None:
        tensor, w = self.tensors[site], self.H[site]
        if to_right:
            self.left[site + 1] = past_left(self.left[site], tensor, tensor, w)
        else:
            self.right[site - 1] = past_right(self.right[site], tensor, tensor, w)


def check_full(tensors: Sequence[Any]) -> None:
    """Raise where a bond of a chain has zero Schmidt values: no derivative knows what would fill them."""
    for values in schmidt_form(tensors)[1]:
        rank = nonzero(-np.sort(-values), len(values))
        if rank < len(values):
            raise ArgumentError(
                f"a bond of the state has rank {rank} of {len(values)}: tdvp of one site would fill the others in "
                "directions without derivative: psi.truncate(cutoff=1e-12)[0] drops them, and 'tdvp2' lets bonds grow"
            )
