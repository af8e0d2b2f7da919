"""The mixed form of uniform states: isometries from the left and from the right of every site, and what joins them."""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from qad.linalg.support.drivers import singular_triples
from qad.linalg.truncation import rule
from qad.mps.uniform.canonical import schmidt_form
from qad.mps.uniform.state import UniformMPS
from qad.mps.uniform.transfer import identity
from qad.symmetric.generic import as_map, charges_of, halves_of, join, laid_out, numbers, of_map, scaled, with_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.mps.charges.quantities import Quantities

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
        bonds = [scaled(identity(t, 2), w / np.linalg.norm(w), 1).astype(t.dtype) for t, w in after]
        return cls(lefts, list(state.tensors), bonds, psi.conserved)

    def __len__(self) -> int:
        return len(self.lefts)

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
        return Mixed(lefts, rights, bonds, self.conserved)

    def densities(self) -> tuple[Any, Any]:
        """The densities right of the left isometries of a cell, and left of the right ones, legs (bra, ket)."""
        c = self.bonds[-1]
        return join(c, c.conj(), ((1,), (1,))), join(c, c.conj(), ((0,), (0,)))

    def truncated(self, most: int | None = None, cutoff: float = NOTHING) -> Mixed:
        """The state with the largest Schmidt values of every bond, of all sectors together; itself, if that is all."""
        parts = [leading_of(c, 1, most=most, cutoff=cutoff, zeros=True)[::2] for c in self.bonds]
        if all(u.shape[1] == c.shape[0] for (u, _), c in zip(parts, self.bonds, strict=True)):
            return self
        us, vs = [u for u, _ in parts], [v.conj().transpose(1, 0) for _, v in parts]
        lefts = [between(x, us[n - 1], us[n]) for n, x in enumerate(self.lefts)]
        if not all(numbers(x).size for x in lefts):  # sectors that no cell joins
            return self
        lefts = [isometry(x, 2) for x in lefts]
        rights = [isometry(between(x, vs[n - 1], vs[n]), 1) for n, x in enumerate(self.rights)]
        bonds = [between(c, u, v) for c, u, v in zip(self.bonds, us, vs, strict=True)]
        bonds = [laid_out(c * (1 / np.linalg.norm(numbers(c))), 1) for c in bonds]
        return Mixed(lefts, rights, bonds, self.conserved)

    def state(self) -> UniformMPS:
        """The right isometries, their bonds in the basis of Schmidt vectors."""
        turns = [
            leading_of(c, 1, zeros=True)[2].conj().transpose(1, 0) for c in self.bonds
        ]  # C = U S V: the basis right of it is V
        tensors = [isometry(between(x, turns[n - 1], turns[n]), 1) for n, x in enumerate(self.rights)]
        return UniformMPS(tensors, self.conserved)


def leading_of(x: Any, rows: int, **limits: Any) -> tuple[Any, np.ndarray, Any]:
    """The largest singular values of a map from its first legs to the others, of all sectors together.

    They stand in the order of the bond, between the columns and the rows that go with them.  The `limits` are those of
    `qad.linalg.truncation.rule.kept`.
    """
    where, matrices = as_map(x, rows)
    triples = [singular_triples(matrix) for matrix in matrices]
    ranks = rule.kept([s for _, s, _ in triples], **limits)
    kept = [(charge, s[:k]) for charge, (_, s, _), k in zip(charges_of(where), triples, ranks, strict=True)]
    u, v = halves_of(where, [(u[:, :k], vh[:k]) for (u, _, vh), k in zip(triples, ranks, strict=True)])
    return u, np.concatenate([s for _, s in sorted(kept, key=itemgetter(0))]), v


def between(x: Any, one: Any, two: Any) -> Any:
    """A tensor with its first and its last leg in the bases that the columns of two matrices are."""
    return join(join(one.conj(), x, ((0,), (0,))), two)


def isometry(tensor: Any, rows: int) -> Any:
    """The isometry between the first legs and the others that is nearest to a tensor."""
    where, matrices = as_map(tensor, rows)
    pairs = [singular_triples(matrix) for matrix in matrices]
    return of_map(where, [u @ vh for u, _, vh in pairs])


def beside(left: Any, x: Any) -> Any:
    """The part of ``x`` (a, s, ...) out of the range of an isometry (a, s, b)."""
    return x - join(left, join(left.conj(), x, ((0, 1), (0, 1))))


def beyond(x: Any, right: Any) -> Any:
    """The part of ``x`` (..., t, b) out of the range of an isometry (m, t, b) from its left leg."""
    kept = join(x, right.conj(), ((x.ndim - 2, x.ndim - 1), (1, 2)))
    return x - join(kept, right)
