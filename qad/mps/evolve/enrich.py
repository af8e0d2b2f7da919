"""What the variational principle cannot see of a Hamiltonian, and room for it in the bonds.

Let ``L_j`` be the projector on the states that the sites up to j have in a chain, ``D_j = L_(j-1) - L_j`` that on
what first leaves them at site j, and ``R_k``, ``D_k`` the same from the right.  The tangent space of neighbouring pairs
holds what leaves the chain at one site or two neighbours; of ``H psi`` it misses

    |H psi|^2 - |P2 H psi|^2 = sum over j, k >= j + 2 of |D_j D_k H psi|^2,

a sum of squares without cancellation, nothing where H has terms of neighbours only; that of single sites misses
``k >= j + 1`` (`gap`).  The cure is a chain whose bonds hold the directions of ``H psi``, ``H^2 psi`` ... on the right
of each, with no weight: the state is the same, its tangent space larger.  M. Yang and S. R. White, PRB 102, 094315
(2020).

What stands left of a bond is known by its products with random vectors where it has more rows than these.
N. Halko, P. G. Martinsson and J. A. Tropp, SIAM Review 53, 217 (2011).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.extend import value_of
from qad.linalg.truncation import rule
from qad.mps.chain.canonical import isometric_rows
from qad.mps.chain.row import edges
from qad.mps.evolve.cut import cut, orthonormal
from qad.symmetric.generic import as_map, bond_and_columns, charges_of, direct_sum, join, padded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Array

MORE = 8  # random vectors beyond the directions that are wanted
MEASURING = 40  # random vectors where only a norm is
ORDER = 3  # powers of H whose directions a bond gets
NOISE = 100.0  # times rounding: directions below it, relative to all of ``H psi``, are none


class Reach:
    """Where an operator leads chains.

    Chains have their centre at site 0, the other tensors are isometries from their left bonds.

    Parameters
    ----------
    H : sequence of arrays or SymTensors (left, right, out, in)
        Of an open chain.
    """

    def __init__(self, H: Sequence[Any]):
        self.sites: list[Any] = list(H)

    def enriched(self, tensors: Sequence[Any], bond: int, dt: float, cutoff: float) -> list[Any]:
        """The same state with directions of ``H psi, ..., H^3 psi`` in its bonds, of no weight.

        What counts is the weight that the Taylor series of a step of length dt gives to a direction: every bond may
        lack the weight `cutoff` of each of its terms.  Bonds of dimension `bond` and more stay as they are.
        """
        out, ket = list(tensors), list(tensors)
        for k in range(1, ORDER + 1):
            before = sizes(out)
            parts = self.left_parts(ket, bond + MORE)
            out, ket, _ = self.extended(out, ket, parts, bond, cutoff, dt / k)
            if sizes(out) == before:
                break
        return out

    def missed(self, tensors: Sequence[Any], gap: int = 2) -> float:
        """The norm of what the tangent space of pairs misses of ``H psi``, or that of single sites for a `gap` of 1.

        Directions of no weight left of a bond count as none.
        """
        return self.extended(tensors, tensors, self.leaving(tensors, gap, tensors), 0, 0.0)[2]

    def left_parts(self, ket: Sequence[Any], rows: int) -> list[Any]:
        """For every bond the left part of ``H ket``, legs (row, operator, ket), None where it is zero."""
        seen, rng = [edges(ket, self.sites)[0]], np.random.default_rng(0)
        for site, tensor in enumerate(ket[:-1]):
            part = None if seen[-1] is None else self.passed(seen[-1], site, tensor)
            seen.append(None if part is None else mixed(part, rows, rng))
        return seen

    def leaving(self, tensors: Sequence[Any], gap: int, ket: Sequence[Any]) -> list[Any]:
        """Of the left parts what leaves the chain `gap` sites or more before the one right of the bond, or None."""
        rng, left = np.random.default_rng(0), edges(tensors, self.sites)[0]
        basis, seen, fresh = None, [None], None
        for site, tensor in enumerate(tensors[:-1]):
            isometry, basis = isometric_rows(tensor if basis is None else join(basis, tensor))
            passed = self.passed(left, site, ket[site])
            left = join(isometry.conj(), passed, ((0, 1), (0, 1)))
            outside = mixed(passed - join(isometry, left), MEASURING, rng)
            far = rows_of_both(seen[-1], fresh) if gap == 2 else seen[-1]
            far = None if far is None else mixed(self.passed(far, site, ket[site]), MEASURING, rng)
            seen, fresh = [*seen, far if gap == 2 else rows_of_both(far, outside)], outside
        return seen

    def extended(
        self, tensors: Sequence[Any], ket: Sequence[Any], seen: Sequence[Any], bond: int, cutoff: float,
        scale: float = 1.0,
    ) -> tuple[list[Any], list[Any], float]:  # fmt: skip
        """The chain with directions of ``scale H ket`` in its bonds, ``scale H ket`` in them, and the norm of the rest.

        It knows of ``H ket`` what the left parts `seen` do; bonds grow up to the dimension `bond`.
        """
        begin, right = edges(tensors, self.sites)
        out, lacked, new = list(tensors), 0.0, None
        for site in reversed(range(len(out))):
            rows = out[site] if new is None else padded(out[site], new)
            reached = join(join(ket[site], right, ((2,), (2,))), self.sites[site], ((1, 3), (3, 1)))
            reached = reached.transpose(2, 0, 3, 1)  # (operator, ket, out, bra)
            if site == 0:
                out[0] = rows
                start = join(begin, reached, ((1, 2), (0, 1))) * scale
                return out, [start, *out[1:]], float(np.sqrt(lacked))
            new = None
            if seen[site] is not None:
                found = join(seen[site], reached, ((1, 2), (0, 1))) * scale
                new, rest = directions(found, rows, bond, cutoff)
                lacked += rest
            out[site] = rows_of_both(rows, new)
            right = join(out[site].conj(), reached, ((1, 2), (2, 3)))
        raise AssertionError

    def passed(self, seen: Any, site: int, tensor: Any) -> Any:
        """A left part past a site: (row, out, operator, ket)."""
        return join(join(seen, tensor), self.sites[site], ((1, 2), (0, 3))).transpose(0, 3, 2, 1)


def mixed(part: Any, rows: int, rng: np.random.Generator) -> Any:
    """A left part (row, out, operator, ket) as (row, operator, ket); None where charges tell that it is zero."""
    where, matrices = as_map(part, 2)
    halves = [fewer(m, rows, rng) if len(matrices) == 1 or value_of(m).any() else m[:0] for m in matrices]
    return bond_and_columns(where, halves) if any(map(len, halves)) else None


def rows_of_both(one: Any, two: Any) -> Any:
    """The rows of both, either of which may be None."""
    return two if one is None else one if two is None else direct_sum(one, two, (0,))


def directions(found: Any, rows: Any, bond: int, cutoff: float) -> tuple[Any, float]:
    """Rows for what others (row, out, bra) have beside those of a tensor, and the weight of what is left over."""
    (where, matrices), (here, own) = as_map(found, 1), as_map(rows, 1)
    known = dict(zip(charges_of(here), own, strict=True))
    pairs = [(m, known.get(charge, m[:0])) for charge, m in zip(charges_of(where), matrices, strict=True)]
    parts = [beside(*pair) for pair in pairs]
    if not parts:
        return None, 0.0
    values, floor = [s for _, s, _ in parts], max(floor for _, _, floor in parts)
    whole, room = sum(float(s @ s) for s in values) or 1.0, bond - rows.shape[0]
    counts = rule.kept(values, room, cutoff / whole, floor, relative=False, zeros=True, least=0)
    halves = [leading(rest, pair[1], count) for pair, (rest, _, _), count in zip(pairs, parts, counts, strict=True)]
    return (bond_and_columns(where, halves) if any(counts) else None), whole * rule.lost(values, counts)


def sizes(tensors: Sequence[Any]) -> list[int]:
    """The dimensions of the inner bonds."""
    return [t.shape[0] for t in tensors[1:]]


def largest(tensors: Sequence[Any], bond: int) -> list[int]:
    """The dimensions that the inner bonds may have."""
    legs = np.minimum([t.shape[1] for t in tensors], bond).astype(float)
    left, right = np.cumprod(legs)[:-1], np.cumprod(legs[::-1])[-2::-1]
    return np.minimum(np.minimum(left, right), bond).astype(int).tolist()


def fewer(rows: Array, most: int, rng: np.random.Generator) -> Array:
    """Rows of the same Gram matrix, no more than columns; where these are more than `most`, so many, in the mean."""
    if rows.shape[0] > rows.shape[1] <= most:
        return orthonormal(rows)[1]
    if rows.shape[0] > most:
        return (rng.standard_normal((most, rows.shape[0])) / np.sqrt(most)).astype(rows.real.dtype) @ rows
    return rows


def beside(found: Array, known: Array) -> tuple[Array, np.ndarray, float]:
    """Rows without what they have of orthonormal others, their singular values, and the size of their rounding."""
    rest = found - (found @ known.conj().mT) @ known
    values = np.linalg.svdvals(value_of(rest))[: known.shape[1] - len(known)]
    return rest, values, float(NOISE * np.finfo(values.dtype).eps * np.linalg.norm(value_of(found)))


def leading(rest: Array, known: Array, kept: int) -> Array:
    """Orthonormal rows that span the leading directions of rows beside others."""
    if not kept:
        return known[:0]
    vectors = cut(rest.mT, ranks_of=lambda _: [kept])[0].mT
    return orthonormal((vectors - (vectors @ known.conj().mT) @ known).mT)[0].mT
