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

from typing import TypeAlias

import numpy as np

from qad.mps.operators.automaton import rows_of_cover

Plan: TypeAlias = dict[tuple[int, int], list[tuple[complex, int]]]  # a sum of channels for each block (t, s)
Sums: TypeAlias = list[tuple[complex, int, int, int]]  # coefficient, number in E or F, and block (t, s) or (s, t)


class Sparse:
    """The sums of channels and of blocks by which a site is passed, with products only for a vertex cover of them."""

    left: int
    right: int
    out: int
    in_: int
    from_t: list[Sums]
    into_k: list[Plan]
    into_m: list[Plan]
    from_u: list[Sums]

    def __init__(self, tensor: np.ndarray):
        self.left, self.right, self.out, self.in_ = tensor.shape
        self.coefficients: set[complex] = set(tensor[tensor != 0].tolist())
        pairs = [(int(w), int(v)) for w, v in np.argwhere(tensor.any(axis=(2, 3)))]
        chosen = rows_of_cover(pairs, self.left, self.right)
        self.late: list[int] = sorted({v for w, v in pairs if w not in chosen})
        early = [(w, v) for w, v in pairs if v not in self.late]
        self.early: list[int] = sorted({w for w, _ in early})
        entries = {pair: [(t, s, tensor[*pair, t, s].item()) for t, s in np.argwhere(tensor[pair])] for pair in pairs}
        self._plan(early, [pair for pair in pairs if pair[1] in self.late], entries)

    def _plan(self, early, late, entries):
        """The sums of blocks from which environments, and what is applied before the products, are put together."""
        self.from_t = [[] for _ in range(self.right)]  # L'[v] += c T[e][t, :, s]
        self.into_k = [{} for _ in self.early]  # K[e][t, :, s] += c R[v]
        for w, v in early:
            e = self.early.index(w)
            for t, s, c in entries[w, v]:
                self.from_t[v].append((c, e, t, s))
                self.into_k[e].setdefault((t, s), []).append((c, v))
        self.into_m = [{} for _ in self.late]  # M[f][:, t, s] += c L[w]
        self.from_u = [[] for _ in range(self.left)]  # R[w] += c U[f][:, t, s]
        for w, v in late:
            f = self.late.index(v)
            for t, s, c in entries[w, v]:
                self.into_m[f].setdefault((t, s), []).append((c, w))
                self.from_u[w].append((c, f, t, s))
