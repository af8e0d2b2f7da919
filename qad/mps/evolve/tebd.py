"""Time-evolving block decimation: gates on neighbours, applied in sweeps.

A round applies ``exp(-i h[k] t)`` to all even bonds k on the way from left to right, and to all odd ones on the way
back; rounds make up a product formula of second or fourth order (`qad.mps.evolve.suzuki`).  The centre of the chain
moves along, so that every cut is of Schmidt values.  G. Vidal, PRL 93, 040502 (2004).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import Tensor
from qad.linalg import expm
from qad.linalg.truncation import rule
from qad.mps.chain.canonical import move_left, move_right
from qad.mps.evolve.leading import leading, loose, lost, worthwhile
from qad.mps.evolve.neighbours import neighbour_terms
from qad.symmetric.generic import as_map, halves_of, join, laid_out, of_map, permuted
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.mps.charges.quantities import Quantities
    from qad.mps.operators.mpo import MPO
    from qad.typing import Scalar

LEAST_CUTOFF, MOST_CUTOFF = 1e-30, 1e-14


def swept(gates: Sequence[Any], tensors: list[Any], truncation: Truncation, to_right: bool) -> None:
    """Apply gates to the bonds that have one, in one sweep and in place; the centre goes to the other end."""
    for site in range(len(gates)) if to_right else reversed(range(len(gates))):
        if gates[site] is None:
            truncation.move(tensors, site, to_right)
        else:
            pair, before = applied(gates[site], tensors, site), tensors[site + to_right]
            tensors[site], tensors[site + 1] = truncation.split(pair, to_right, before)


def shortened(tensors: list[Any], truncation: Truncation) -> None:
    """Cut a chain with its centre at the end in place; the centre goes to the first site."""
    for site in reversed(range(1, len(tensors))):
        carried, tensors[site] = truncation.split(tensors[site], to_right=False, rows=1)
        tensors[site - 1] = join(tensors[site - 1], carried)


def terms_for(H: MPO, conserved: Quantities | None) -> list[Any]:
    """The two-site terms of an operator, legs (out, out, in, in), as arrays or as tensors that conserve."""
    terms = neighbour_terms(H)
    return terms if conserved is None else [conserved.term(h, site) for site, h in enumerate(terms)]


def gate(h: Any, factor: Scalar) -> tuple[Any, float]:
    """``exp(factor h)`` of a Hermitian two-site term; and the logarithm of its norm, which is divided out.

    If it did not, it might overflow.  Where something is recorded, the norm stays.
    """
    where, matrices = as_map(h, 2)
    if any(type(x) is Tensor for x in (factor, *matrices)):
        return of_map(where, [expm(factor * matrix) for matrix in matrices]), 0.0
    pairs = [np.linalg.eigh(matrix) for matrix in matrices]
    scale = max((factor * values).real.max() for values, _ in pairs)
    return of_map(where, [(v * np.exp(factor * w - scale)) @ v.conj().T for w, v in pairs]), float(scale)


def applied(gate: Any, tensors: Sequence[Any], site: int) -> Any:
    """The pair of sites (a, s, t, b) after a gate."""
    pair = join(tensors[site], tensors[site + 1])
    if type(pair) is SymTensor:
        return permuted(join(gate, pair, ((2, 3), (1, 2))), 2, 0, 1, 3)
    left, s, t, right = pair.shape
    return (gate.reshape(s * t, s * t) @ pair.reshape(left, s * t, right)).reshape(pair.shape)


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

    def __init__(self, bond: int, cutoff: float):
        if not 0 <= cutoff < 1:
            raise ArgumentError(f"a cut may discard a weight from 0 to below 1, not cutoff={cutoff!r}")
        self.bond, self.cutoff, self.discarded = bond, cutoff, 0.0

    def split(self, pair: Any, to_right: bool, before: Any = None, rows: int = 2) -> tuple[Any, Any]:
        """Two tensors, the left one of so many legs; the centre goes to the right one, or to the left.

        The norm is kept.

        `before` is the one that was an isometry before the pair changed: its bond is a first guess (`leading`), where
        there is one sector.
        """
        where, matrices = as_map(pair, rows)
        if type(before) is np.ndarray and (halves := self.guessed(matrices[0], to_right, before)):
            return halves_of(where, [halves])
        triples = [np.linalg.svd(matrix, full_matrices=False) for matrix in matrices]
        values = [s for _, s, _ in triples]
        ranks = self.ranks(values)
        factor = rule.restored(values, ranks)
        pairs = []
        for (u, s, vh), k in zip(triples, ranks, strict=True):
            u, s, vh = u[:, :k], factor * s[:k], vh[:k]
            pairs.append((u, s[:, None] * vh) if to_right else (u * s, vh))
        left, right = halves_of(where, pairs, "evolve")
        return left, laid_out(right, 2)

    def guessed(self, matrix: np.ndarray, to_right: bool, before: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """`split` of a matrix by the bond that was there before; None where it takes a singular value decomposition."""
        if not to_right:
            halves = self.guessed(matrix.T, True, before.transpose(2, 0, 1))
            return halves and (halves[1].T, halves[0].T)
        known = before.reshape(len(before), -1)
        if not worthwhile(matrix, known, self.bond):
            return None
        q, c, _ = leading(matrix, known)
        if loose(matrix, c):
            q, c, _ = leading(matrix, np.linalg.qr(c.T)[0].T)
        if not self.accepts(matrix, q, c):
            return None
        return q, c * (np.linalg.norm(matrix) / np.linalg.norm(c))

    def accepts(self, matrix: np.ndarray, q: np.ndarray, c: np.ndarray) -> bool:
        """Whether ``q c`` is a good approximation of the matrix; if so, what it loses is put down."""
        if (share := lost(matrix, q, c, self.cutoff)) is None:
            return False
        self.discarded += share
        return True

    def move(self, tensors: list[Any], site: int, to_right: bool) -> None:
        """Move the centre across the bond right of a site, either way."""
        if to_right:
            move_right(tensors, site)
        else:
            move_left(tensors, site + 1)

    def ranks(self, values: list[np.ndarray]) -> list[int]:
        """How many of the singular values of each sector are kept; the weight of the others is put down."""
        ranks = rule.kept(values, self.bond, self.cutoff)
        self.discarded += rule.lost(values, ranks)
        return ranks
