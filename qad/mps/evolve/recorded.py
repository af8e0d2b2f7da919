"""Steps of time evolution in operations that the tape differentiates; the values are those of the plain steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import like, value_of
from qad.linalg.krylov.lanczos import on_host
from qad.linalg.truncation.rule import nonzero
from qad.mps.chain.row import edges
from qad.mps.evolve.centre import exponential
from qad.mps.evolve.cut import orthonormal_columns, orthonormal_rows
from qad.mps.evolve.room import Sweep
from qad.mps.evolve.suzuki import rounds
from qad.mps.evolve.tdvp import TIGHTEST, Tdvp
from qad.mps.evolve.tebd import gate, swept, terms_for
from qad.mps.kernels.dense import past_left, past_right
from qad.symmetric.generic import as_map, norm, plain

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.mps.charges.quantities import Quantities
    from qad.mps.evolve.room import Room
    from qad.mps.evolve.truncation import Truncation
    from qad.mps.operators.mpo import MPO
    from qad.typing import Scalar


class GateSteps:
    """Rounds of gates, on even bonds from left to right and on odd ones on the way back.

    What they are made of is a flat list of tensors that may be recorded: here the gates of every other bond, for each
    distinct share of a step.

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

    def __init__(self, order: int, steps: int, bonds: int, conserved: Quantities | None = None):
        self.conserved: Quantities | None = conserved
        self.rounds: list[tuple[float, float]] = rounds(order, steps)
        self.bonds: int = bonds
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

    def run(
        self,
        made: Sequence[Any],
        start: Sequence[Any],
        truncation: Truncation,
        room: Room | None,
        tol: float | None = None,
    ) -> GateRun:
        """What takes a chain through all rounds."""
        return GateRun(self, made, start, truncation)

    def layers(self, made: Sequence[Any], k: int) -> list[list[Any]]:
        """The gates of the two sweeps of a round, one or None for every bond."""
        found, kinds, start = [], {}, 0
        for kind in self.distinct:
            size = len(range(kind[0], self.bonds, 2))
            kinds[kind], start = made[start : start + size], start + size
        for first, share in enumerate(self.rounds[k]):
            gates: list[Any] = [None] * self.bonds
            gates[first::2] = kinds.get((first, share), gates[first::2])
            found.append(gates)
        return found

    def recorded(self, made: Sequence[Any], tensors: Sequence[Any], truncation: Truncation, k: int) -> list[Any]:
        """The tensors after a round, plain or recorded."""
        out = list(tensors)
        for gates, to_right in zip(self.layers(made, k), (True, False), strict=True):
            swept(gates, out, truncation, to_right)
        return out


class GateRun:
    """A chain that gates change, round by round; its norm is divided out."""

    def __init__(self, kind: GateSteps, made: Sequence[Any], start: Sequence[Any], truncation: Truncation):
        self.kind: GateSteps = kind
        self.made: Sequence[Any] = made
        self.tensors: list[Any] = list(start)
        self.truncation: Truncation = truncation
        self.missed: float = 0.0
        self.widened: bool = False

    def step(self, k: int) -> float:
        """One round; the logarithm of what the norm gained."""
        for gates, to_right in zip(self.kind.layers(self.made, k), (True, False), strict=True):
            swept(gates, self.tensors, self.truncation, to_right)
        size = norm(self.tensors[0])
        self.tensors[0] = self.tensors[0] * (1 / size)
        return float(np.log(size))

    def advance(self) -> float:
        """All rounds."""
        return sum(self.step(k) for k in range(len(self.kind)))


class TdvpSteps:
    """Steps of the variational principle, of one site or two; made of the factor and the tensors of the operator.

    The `kernel` is that of the plain operator (`qad.mps.kernels.operators.kernel_for`).
    """

    def __init__(self, size: int, steps: int, kernel: Any):
        self.size: int = size
        self.steps: int = steps
        self.kernel: Any = kernel

    def __len__(self) -> int:
        return self.steps

    def made_of(self, H: MPO, factor: Scalar) -> tuple[list[Any], float]:
        """The factor, and the operator; nothing is divided out."""
        factor = factor if hasattr(factor, "dtype") else like(*H).asarray(factor)
        return [factor, *self.kernel.sites_of(H)], 0.0

    def run(
        self,
        made: Sequence[Any],
        start: Sequence[Any],
        truncation: Truncation,
        room: Room | None,
        tol: float | None = None,
    ) -> Sweep:
        """What takes a chain through all steps."""
        return Sweep(self.kernel, start, on_host(made[0][()]), truncation, room, self.size, tol, self.steps)

    def recorded(self, made: Sequence[Any], tensors: Sequence[Any], truncation: Truncation, k: int) -> list[Any]:
        """The tensors after a step, plain or recorded."""
        sweep = RecordedTdvp(made, tensors, self.kernel, self.size)
        sweep.step(truncation)
        return sweep.tensors


class RecordedTdvp(Tdvp):
    """A step in operations that the tape differentiates, also by the factor and the tensors of the operator."""

    H: Sequence[Any]

    def __init__(self, made: Sequence[Any], tensors: Sequence[Any], kernel: Any, size: int):
        self.H = made[1:]
        super().__init__(kernel, list(tensors), made[0], TIGHTEST, size)

    def edges(self) -> tuple[Any, Any]:
        dtype = np.result_type(*{t.dtype for t in self.tensors}, self.factor.dtype)
        begin, end = edges(self.tensors, self.H)
        return begin.astype(dtype), end.astype(dtype)

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

    def rows(self, tensor: Any) -> tuple[Any, Any]:
        isometry, bond = orthonormal_rows(tensor)
        check_full(bond)
        return isometry, bond

    def columns(self, tensor: Any) -> tuple[Any, Any]:
        bond, isometry = orthonormal_columns(tensor)
        check_full(bond)
        return bond, isometry


def check_full(bond: Any) -> None:
    """Raise where the matrix on a bond has zero Schmidt values: no derivative knows what would fill them."""
    values = np.concatenate([np.linalg.svdvals(matrix) for matrix in as_map(plain(bond), 1)[1]])
    rank = nonzero(-np.sort(-values), max(bond.shape))
    if rank < len(values):
        raise ArgumentError(
            f"a bond of the state has rank {rank} of {len(values)}: tdvp of one site would fill the others in "
            "directions that have no derivative: psi.truncate(cutoff=1e-12)[0] drops them, and 'tdvp2' lets bonds grow"
        )
