"""The mixed form of uniform states of definite charge: `qad.mps.uniform.vumps.Mixed`, sector by sector."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.mps.charges.make import product_tensors
from qad.mps.charges.uniform_cell import counted_from_mean, random_word
from qad.mps.uniform.conserving.canonical import schmidt_form
from qad.mps.uniform.conserving.state import SymmetricUniformMPS
from qad.mps.uniform.vumps import NOTHING, outside
from qad.symmetric.contraction import tensordot
from qad.symmetric.create import eye
from qad.symmetric.decompositions import svd
from qad.symmetric.maps import joined
from qad.symmetric.scaling import scale
from qad.symmetric.tensor import SymTensor, bare
from qad.symmetric.truncation import truncated_svd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.charges.quantities import Charge, Quantities
    from qad.mps.kernels.dense_terms import Apply


class SymmetricMixed:
    """A state in mixed form: ``lefts[n] bonds[n]`` is ``bonds[n-1] rights[n]``, at a stationary point.

    Parameters
    ----------
    lefts, rights, bonds : lists of SymTensor
        Isometries (a, s, b) of two legs against one, and of one against two; matrices (a, b), right of every site.
    conserved : Quantities
        Of the cell, as its sites count them.
    sector : tuple of int
        The charge of a cell.
    """

    lefts: list[SymTensor]
    rights: list[SymTensor]
    bonds: list[SymTensor]
    conserved: Quantities
    sector: Charge

    def __init__(
        self,
        lefts: list[SymTensor],
        rights: list[SymTensor],
        bonds: list[SymTensor],
        conserved: Quantities,
        sector: Charge,
    ):
        self.lefts, self.rights, self.bonds = lefts, rights, bonds
        self.conserved, self.sector = conserved, sector

    @classmethod
    def of(cls, psi: SymmetricUniformMPS) -> SymmetricMixed:
        """The mixed form of a state, its bonds in the basis of Schmidt vectors."""
        tensors, weights = schmidt_form(psi)
        lefts = [isometry(scale(t, w, 0), 2) for t, w in zip(tensors, weights, strict=True)]
        after = zip(tensors, (*weights[1:], weights[0]), strict=True)
        bonds = [scale(eye(t.legs[2].conj(), t.dtype), w / np.linalg.norm(w)) for t, w in after]
        return cls(lefts, tensors, bonds, psi.conserved, psi.total)

    @classmethod
    def product(
        cls, conserved: Quantities, sector: Charge, rng: np.random.Generator, dtype: np.dtype
    ) -> SymmetricMixed:
        """A random product of basis states."""
        tensors = product_tensors(random_word(conserved, sector, rng), counted_from_mean(conserved, sector), dtype)
        bonds = [eye(t.legs[2].conj(), dtype) for t in tensors]
        return cls([t.resplit(2) for t in tensors], [t.resplit(1) for t in tensors], bonds, conserved, sector)

    def __len__(self) -> int:
        return len(self.lefts)

    def with_(self, lefts: list[SymTensor], rights: list[SymTensor], bonds: list[SymTensor]) -> SymmetricMixed:
        """Another state of the same cell."""
        return SymmetricMixed(lefts, rights, bonds, self.conserved, self.sector)

    @property
    def centres(self) -> list[SymTensor]:
        """The tensors AC, of two legs against one."""
        return [tensordot(left, c, 1) for left, c in zip(self.lefts, self.bonds, strict=True)]

    @property
    def dims(self) -> list[int]:
        """The dimensions of the bonds."""
        return [c.shape[0] for c in self.bonds]

    @property
    def bond(self) -> int:
        """The largest bond dimension."""
        return max(self.dims)

    def vectors(self) -> list[np.ndarray]:
        """The flat arrays of centres and bonds."""
        return [x.data for x in (*self.centres, *self.bonds)]

    def nearest_to(self, vectors: Sequence[np.ndarray]) -> SymmetricMixed:
        """The isometries that carry these bonds into these centres best, both given by their flat arrays."""
        shaped = [bare(x.layout, v) for v, x in zip(vectors, (*self.lefts, *self.bonds), strict=True)]
        centres, bonds = shaped[: len(self)], shaped[len(self) :]
        turns = [isometry(c, 1).conj() for c in bonds]
        lefts = [tensordot(isometry(x, 2), u, ([2], [1])) for x, u in zip(centres, turns, strict=True)]
        rights = [tensordot(turns[n - 1], isometry(x, 1), ([0], [0])) for n, x in enumerate(centres)]
        return self.with_(lefts, rights, bonds)

    def densities(self) -> tuple[SymTensor, SymTensor]:
        """The densities right of the left isometries of a cell, and left of the right ones, legs (bra, ket)."""
        c = self.bonds[-1]
        return tensordot(c, c.conj(), ([1], [1])), tensordot(c, c.conj(), ([0], [0]))

    def slopes(self, sites: Sequence[Apply]) -> list[float]:
        """The norm of the gradient by every site, of which the effective operators are given."""
        found = []
        for apply, centre, left in zip(sites, self.centres, self.lefts, strict=True):
            moved = bare(centre.layout, apply(centre.data)).sectors()
            found.append(float(np.linalg.norm(list(map(outside, left.sectors(), moved)))))
        return found

    def trimmed(self, least: float = NOTHING) -> SymmetricMixed:
        """The state without directions of no weight, which belong to no environment: or itself, if there are none."""
        return self.truncated(None, least)

    def truncated(self, most: int | None, cutoff: float) -> SymmetricMixed:
        """The state with the largest Schmidt values of every bond, of all sectors together; itself, if that is all."""
        parts = [truncated_svd(c, most, cutoff, split=1, multiplets="cut")[:3] for c in self.bonds]
        if all(len(s) == c.shape[0] for (_, s, _), c in zip(parts, self.bonds, strict=True)):
            return self
        lefts = [tensordot(parts[n - 1][0].conj(), x, ([0], [0])) for n, x in enumerate(self.lefts)]
        lefts = [tensordot(x, u, 1) for x, (u, _, _) in zip(lefts, parts, strict=True)]
        rights = [tensordot(parts[n - 1][2], x, 1) for n, x in enumerate(self.rights)]
        rights = [tensordot(x, v.conj(), ([2], [1])) for x, (_, _, v) in zip(rights, parts, strict=True)]
        bonds = [scale(eye(v.legs[0], v.dtype), s / np.linalg.norm(s)) for _, s, v in parts]
        return self.with_([isometry(x, 2) for x in lefts], [isometry(x, 1) for x in rights], bonds)

    def state(self) -> SymmetricUniformMPS:
        """The right isometries, their bonds in the basis of Schmidt vectors."""
        turns = [svd(c, 1)[2] for c in self.bonds]  # C = U S V: the basis right of it is V
        tensors = [tensordot(turns[n - 1], x, 1) for n, x in enumerate(self.rights)]
        tensors = [tensordot(x, v.conj(), ([2], [1])) for x, v in zip(tensors, turns, strict=True)]
        return SymmetricUniformMPS([isometry(x, 1) for x in tensors], self.conserved, self.sector)


def isometry(tensor: SymTensor, split: int) -> SymTensor:
    """The isometry between the first legs and the others that is nearest to a tensor."""
    tensor = tensor.resplit(split)
    return bare(tensor.layout, joined([polar(matrix) for matrix in tensor.sectors()]))


def polar(matrix: np.ndarray) -> np.ndarray:
    """The isometry that is nearest to a matrix."""
    u, _, vh = np.linalg.svd(matrix, full_matrices=False)
    return u @ vh
