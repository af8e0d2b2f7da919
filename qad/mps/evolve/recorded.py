"""Steps of time evolution in operations that the tape differentiates; the values are those of the plain steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import like
from qad.linalg import expm
from qad.linalg.truncation.rule import nonzero
from qad.mps.chain.densities import edges, passed_left, passed_right
from qad.mps.evolve.centre import exponential
from qad.mps.evolve.cut import move, orthonormal_columns, orthonormal_rows, split
from qad.mps.evolve.suzuki import rounds
from qad.mps.evolve.tebd import applied, terms_for
from qad.mps.kernels.dense import past_left, past_right
from qad.symmetric.generic import as_map, join, of_map, plain
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.mps.charges.quantities import Quantities
    from qad.mps.evolve.tebd import Truncation
    from qad.mps.operators.mpo import MPO
    from qad.typing import Array, Scalar


class GateSteps:
    """Rounds of gates, on even bonds from left to right and on odd ones on the way back.

    What they are made of, `made`, is a flat list of arrays that may be recorded: here the gates of every other bond,
    for each distinct share of a step.

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

    def _made_of(self, H: MPO, factor: Scalar) -> list[Any]:
        """The gates of a step ``exp(factor * H)``."""
        terms = terms_for(H, self.conserved)
        return [
            exponential_of(terms[site], factor * share)
            for first, share in self.distinct
            for site in range(first, self.bonds, 2)
        ]

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
            for site in range(self.bonds) if to_right else reversed(range(self.bonds)):
                if gates[site] is None:
                    move(out, site, to_right)
                else:
                    pair, before = applied(gates[site], out, site), out[site + to_right]
                    out[site : site + 2] = split(pair, truncation, to_right, before)
        return out


def exponential_of(h: Any, factor: Scalar) -> Any:
    """``exp(factor h)`` of a two-site term, recorded if either is."""
    where, matrices = as_map(h, 2)
    return of_map(where, [expm(factor * matrix) for matrix in matrices])


class TdvpSteps:
    """Steps of the variational principle, of one site or two; made of the factor and the tensors of the operator.

    The `kernel` is that of the plain operator (`qad.mps.kernels.operators.kernel_for`).
    """

    def __init__(self, two_sites: bool, steps: int, kernel: Any):
        self.two_sites: bool = two_sites
        self.steps: int = steps
        self.kernel: Any = kernel

    def __len__(self) -> int:
        return self.steps

    def _made_of(self, H: MPO, factor: Scalar) -> list[Any]:
        """The factor, and the operator."""
        sites = self.kernel.sites_of(H)
        return [like(*H).asarray(factor) if not hasattr(factor, "dtype") else factor, *sites]

    def recorded(self, made: Sequence[Any], tensors: Sequence[Any], truncation: Truncation, k: int) -> list[Any]:
        """The tensors after a step, plain or recorded."""
        sweep = RecordedSweep(made, tensors, self.kernel)
        if self.two_sites:
            sweep.two_sites(truncation)
        else:
            sweep.one_site()
        return sweep.tensors


class RecordedSweep:
    """One step of the variational principle, as in `qad.mps.evolve.tdvp`, in recorded operations."""

    def __init__(self, made: Sequence[Any], tensors: Sequence[Any], kernel: Any):
        self.half: Array = made[0] / 2
        self.kernel: Any = kernel
        self.H: Sequence[Any] = made[1:]
        self.tensors: list[Any] = list(tensors)
        n, dtype = len(tensors), np.result_type(*{t.dtype for t in tensors}, made[0].dtype)
        begin, end = [env.astype(dtype) for env in edges(tensors, self.H)]
        self.left: list[Any] = [begin] * n
        self.right: list[Any] = [end] * n
        for site in reversed(range(1, n)):
            self.passed(site, False)

    def one_site(self) -> None:
        """Every site to the right and back; bonds stay as they are."""
        last = len(self.tensors) - 1
        for site in range(last):
            self.evolve(site, 1)
            self.pass_right(site)
        self.evolve(last, 1)
        self.evolve(last, 1)
        for site in reversed(range(last)):
            self.pass_left(site + 1)
            self.evolve(site, 1)

    def two_sites(self, truncation: Truncation) -> None:
        """Every pair to the right and back."""
        last = len(self.tensors) - 2
        there = [(site, True) for site in range(last + 1)]
        for site, to_right in there + [(site, False) for site, _ in reversed(there)]:
            pair, before = join(self.tensors[site], self.tensors[site + 1]), self.tensors[site + to_right]
            pair = self.after(pair, site, site + 1, 1)
            self.tensors[site : site + 2] = split(pair, truncation, to_right, before)
            self.passed(site if to_right else site + 1, to_right)
            if site != (last if to_right else 0):
                self.evolve(site + 1 if to_right else site, -1)

    def after(self, x: Any, first: int, last: int, sign: int) -> Any:
        """A centre of sites `first` to `last` after half a step; none for a bond."""
        parts = self.left[first], self.H[first : last + 1], self.right[last]
        return exponential(x, sign * self.half, *parts, kernel=self.kernel, first=first)

    def evolve(self, site: int, sign: int) -> None:
        """Only the centre."""
        self.tensors[site] = self.after(self.tensors[site], site, site, sign)

    def passed(self, site: int, to_right: bool) -> None:
        """The environment past a site that has become an isometry."""
        tensor, w = self.tensors[site], self.H[site]
        if to_right:
            self.left[site + 1] = past(self.left[site], tensor, w, to_right)
        else:
            self.right[site - 1] = past(self.right[site], tensor, w, to_right)

    def pass_right(self, site: int) -> None:
        """Leave an isometry behind; the bond matrix goes back in time before it joins the next site."""
        self.tensors[site], bond = orthonormal_rows(self.tensors[site])
        check_full(bond)
        self.passed(site, True)
        bond = self.after(bond, site + 1, site, -1)
        self.tensors[site + 1] = join(bond, self.tensors[site + 1])

    def pass_left(self, site: int) -> None:
        """The mirror image."""
        bond, self.tensors[site] = orthonormal_columns(self.tensors[site])
        check_full(bond)
        self.passed(site, False)
        bond = self.after(bond, site, site - 1, -1)
        self.tensors[site - 1] = join(self.tensors[site - 1], bond)


def past(environment: Any, tensor: Any, w: Any, to_right: bool) -> Any:
    """An environment past a site, plain or recorded."""
    if type(tensor) is SymTensor:
        return (passed_left if to_right else passed_right)(environment, tensor, tensor, w)
    return (past_left if to_right else past_right)(environment, tensor, operator=w)


def check_full(bond: Any) -> None:
    """Raise where the matrix on a bond has zero Schmidt values: no derivative knows what would fill them."""
    values = np.concatenate([np.linalg.svdvals(matrix) for matrix in as_map(plain(bond), 1)[1]])
    rank = nonzero(-np.sort(-values), max(bond.shape))
    if rank < len(values):
        raise ArgumentError(
            f"a bond of the state has rank {rank} of {len(values)}: tdvp of one site would fill the others in "
            "directions that have no derivative: psi.truncate(cutoff=1e-12)[0] drops them, and 'tdvp2' lets bonds grow"
        )
