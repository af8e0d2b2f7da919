"""The mixed form of uniform states: isometries from the left and from the right of every site, and what joins them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from qad.linalg.truncation import rule
from qad.mps.uniform.canonical import schmidt_form
from qad.mps.uniform.state import UniformMPS
from qad.mps.uniform.transfer import identity
from qad.symmetric.generic import (
    as_map,
    halves_of,
    join,
    laid_out,
    norm,
    numbers,
    of_map,
    permuted,
    scaled,
    svd,
    with_numbers,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.mps.charges.quantities import Quantities
    from qad.mps.kernels.terms import Apply

NOTHING = 1e-9  # of the largest Schmidt coefficient: its square is beyond rounding


@dataclass
class Mixed:
    """A state in mixed form: ``lefts[n] bonds[n]`` is ``bonds[n-1] rights[n]``, at a stationary point.

    Parameters
    ----------
    lefts, rights, bonds : lists of arrays or SymTensors
        Isometries (a, s, b) of two legs against one, and of one against two; matrices (a, b), right of every site.
    conserved : Quantities, optional
        Of the cell, as its sites count them.
    """

    lefts: list[Any]
    rights: list[Any]
    bonds: list[Any]
    conserved: Quantities | None = None

    @classmethod
    def of(cls, psi: UniformMPS) -> Mixed:
        """The mixed form of a state, its bonds in the basis of Schmidt vectors."""
        state, weights = schmidt_form(psi)
        lefts = [isometry(scaled(t, w, 0), 2) for w, t in zip(weights, state, strict=True)]
        after = zip(state, (*weights[1:], weights[0]), strict=True)
        bonds = [diagonal(t, w).astype(t.dtype) for t, w in after]
        return cls(lefts, list(state.tensors), bonds, psi.conserved)

    def __len__(self) -> int:
        return len(self.lefts)

    def with_(self, lefts: list[Any], rights: list[Any], bonds: list[Any]) -> Mixed:
        """Another state of the same cell."""
        return Mixed(lefts, rights, bonds, self.conserved)

    @property
    def centres(self) -> list[Any]:
        """The tensors AC, of two legs against one."""
        return [join(left, c) for left, c in zip(self.lefts, self.bonds, strict=True)]

    @property
    def dims(self) -> list[int]:
        """The dimensions of the bonds."""
        return [c.shape[0] for c in self.bonds]

    @property
    def bond(self) -> int:
        """The largest bond dimension."""
        return max(self.dims)

    def vectors(self) -> list[np.ndarray]:
        """The numbers of the centres and of the bonds, each as a vector."""
        return [numbers(x) for x in (*self.centres, *self.bonds)]

    def nearest_to(self, vectors: Sequence[np.ndarray]) -> Mixed:
        """The isometries that carry bonds into centres best, both given as `vectors` gives them."""
        shaped = [with_numbers(x, v) for v, x in zip(vectors, (*self.lefts, *self.bonds), strict=True)]
        centres, bonds = shaped[: len(self)], shaped[len(self) :]
        turns = [isometry(c, 1).conj() for c in bonds]
        lefts = [join(isometry(x, 2), u, ((2,), (1,))) for x, u in zip(centres, turns, strict=True)]
        rights = [join(turns[n - 1], isometry(x, 1), ((0,), (0,))) for n, x in enumerate(centres)]
        return self.with_(lefts, rights, bonds)

    def densities(self) -> tuple[Any, Any]:
        """The densities right of the left isometries of a cell, and left of the right ones, legs (bra, ket)."""
        c = self.bonds[-1]
        return join(c, c.conj(), ((1,), (1,))), join(c, c.conj(), ((0,), (0,)))

    def slopes(self, sites: Sequence[Apply]) -> list[float]:
        """The norm of the gradient by every site, of which the effective operators are given."""
        found = []
        for apply, centre, left in zip(sites, self.centres, self.lefts, strict=True):
            moved = as_map(with_numbers(centre, apply(numbers(centre))), 2)[1]
            found.append(float(np.linalg.norm(list(map(outside, as_map(left, 2)[1], moved)))))
        return found

    def trimmed(self, least: float = NOTHING) -> Mixed:
        """The state without directions of no weight, which belong to no environment: or itself, if there are none."""
        return self.truncated(None, least)

    def truncated(self, most: int | None, cutoff: float) -> Mixed:
        """The state with the largest Schmidt values of every bond, of all sectors together; itself, if that is all."""
        parts = [leading_of(c, 1, most, cutoff) for c in self.bonds]
        if all(u.shape[1] == c.shape[0] for (u, _), c in zip(parts, self.bonds, strict=True)):
            return self
        us, vs = [u for u, _ in parts], [permuted(v.conj(), 1, 0) for _, v in parts]
        lefts = [isometry(between(x, us[n - 1], us[n]), 2) for n, x in enumerate(self.lefts)]
        rights = [isometry(between(x, vs[n - 1], vs[n]), 1) for n, x in enumerate(self.rights)]
        bonds = [between(c, u, v) for c, u, v in zip(self.bonds, us, vs, strict=True)]
        bonds = [laid_out(c * (1 / norm(c)), 1) for c in bonds]
        return self.with_(lefts, rights, bonds)

    def state(self) -> UniformMPS:
        """The right isometries, their bonds in the basis of Schmidt vectors."""
        turns = [permuted(svd(c, 1)[2].conj(), 1, 0) for c in self.bonds]  # C = U S V: the basis right of it is V
        tensors = [isometry(between(x, turns[n - 1], turns[n]), 1) for n, x in enumerate(self.rights)]
        return UniformMPS(tensors, self.conserved)


def diagonal(tensor: Any, weights: np.ndarray) -> Any:
    """The matrix on the bond right of a site of these Schmidt coefficients, of norm 1."""
    return scaled(identity(tensor, 2), weights / np.linalg.norm(weights), 1)


def leading_of(x: Any, rows: int, most: int | None, least: float, relative: bool = True) -> tuple[Any, Any]:
    """The singular vectors of the largest values of a map from its first legs to the others, of all sectors together.

    The `least` value is beside the largest (`relative`), or as it is.
    """
    where, matrices = as_map(x, rows)
    triples = [np.linalg.svd(matrix, full_matrices=False) for matrix in matrices]
    ranks = rule.kept([s for _, s, _ in triples], most, None, least, relative=relative, zeros=True)
    return halves_of(where, [(u[:, :k], vh[:k]) for (u, _, vh), k in zip(triples, ranks, strict=True)])


def between(x: Any, one: Any, two: Any) -> Any:
    """A tensor with its first and its last leg in the bases that the columns of two matrices are."""
    return join(join(one.conj(), x, ((0,), (0,))), two)


def isometry(tensor: Any, rows: int) -> Any:
    """The isometry between the first legs and the others that is nearest to a tensor."""
    where, matrices = as_map(tensor, rows)
    return of_map(where, [polar(matrix) for matrix in matrices])


def polar(matrix: np.ndarray) -> np.ndarray:
    """The isometry that is nearest to a matrix."""
    u, _, vh = np.linalg.svd(matrix, full_matrices=False)
    return u @ vh


def outside(isometry: np.ndarray, moved: np.ndarray) -> float:
    """The norm of what lies out of the range of an isometry: of the gradient, where an effective operator moved it."""
    return float(np.linalg.norm(moved - isometry @ (isometry.conj().T @ moved)))
