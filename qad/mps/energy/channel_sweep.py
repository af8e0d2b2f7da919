"""How one site of an operator is carried past a state by few products.

Notation: bonds a of the bra, b of the ket, w of the operator; primes on the right of the site; s the physical leg of
the ket, t that of the bra, ``W[w, w'][t, s]``.  ``ket`` is A (b, s, b'), ``bra`` is conj(A) (a, t, a').

An operator made of a sum is nearly empty: of its pairs (w, w') each has w in a small set E, or w' in a small set F (a
vertex cover).  A pair of E is applied after the products with the state, on ``T = bra^T L ket``; a pair of F before
them, in ``M = sum_w W L``; so products are made only for E and F, ``(3 d + 2 d**2) bond**3`` for each of their
members: 28 instead of 50 for a chain of spins 1/2 with neighbours coupled, whatever the couplings.

`qad.mps.energy.sweep_table` writes both sweeps down; `qad.mps.energy.sweep` carries all channels at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from qad.mps.operators.automaton import rows_of_cover

if TYPE_CHECKING:
    from collections.abc import Iterable

K, T = TypeVar("K"), TypeVar("T")
Block: TypeAlias = "tuple[int, int, int]"  # of a channel of E or F, and of a matrix (t, s)


class Sparse:
    """The sums of channels and of blocks by which a site is passed, with products only for a vertex cover of them.

    Attributes
    ----------
    early, late : list of int
        E and F; what they are numbered by below.
    from_t, from_u : dict
        ``L'[v] += c T[e][t, :, s]`` and ``R[w] += c U[f][:, t, s]``: by the channel, what is added, (c, block).
    into_k, into_m : dict
        ``K[e][t, :, s] += c R[v]`` and ``M[f][:, t, s] += c L[w]``: by the block, what is added, (c, channel).
    """

    def __init__(self, tensor: np.ndarray):
        self.left, self.right, self.out, _ = tensor.shape
        self.coefficients: set[complex] = set(tensor[tensor != 0].tolist())
        pairs = [(int(w), int(v)) for w, v in np.argwhere(tensor.any(axis=(2, 3)))]
        chosen = rows_of_cover(pairs, self.left, self.right)
        self.late: list[int] = sorted({v for w, v in pairs if w not in chosen})
        self.early: list[int] = sorted({w for w, v in pairs if v not in self.late})
        entries = [(w, v, t, s, tensor[w, v, t, s].item()) for w, v, t, s in np.argwhere(tensor).tolist()]
        soon = [(w, v, (self.early.index(w), t, s), c) for w, v, t, s, c in entries if v not in self.late]
        then = [(w, v, (self.late.index(v), t, s), c) for w, v, t, s, c in entries if v in self.late]
        self.from_t: dict[int, list[tuple[complex, Block]]] = grouped((v, (c, block)) for _, v, block, c in soon)
        self.into_k: dict[Block, list[tuple[complex, int]]] = grouped((block, (c, v)) for _, v, block, c in soon)
        self.into_m: dict[Block, list[tuple[complex, int]]] = grouped((block, (c, w)) for w, _, block, c in then)
        self.from_u: dict[int, list[tuple[complex, Block]]] = grouped((w, (c, block)) for w, _, block, c in then)


def grouped(pairs: Iterable[tuple[K, T]]) -> dict[K, list[T]]:
    """By their first halves, what stands second in pairs."""
    found = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found
