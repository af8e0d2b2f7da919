"""From sums of operator strings to the smallest finite automaton that writes them, and so to an MPO.

The automaton reads the chain from the left.  Its state on a bond says what has been placed and what is still to
come: state 0 has placed nothing yet, the last one has placed a whole term.  Of the terms across a bond, let rows be
their distinct left parts and columns their distinct right parts.  A state either remembers a row, and the
coefficients come later, or a column, and they have come already; so the fewest states are the smallest vertex cover
of the bipartite graph of terms, which is found from a maximum matching (J. Ren, W. Li, T. Jiang, Z. Shuai,
J. Chem. Phys. 153, 084118 (2020); D. König 1931).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import scipy  # loads scipy.sparse when it is first used

from qad.extend import Tensor

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from qad.mps.operators.local import Site
    from qad.typing import Array

Ahead: TypeAlias = tuple[tuple[int, int], ...]  # pairs (site, operator), ascending


class Entry(NamedTuple):
    """One block of a site tensor: from a state to a state by an operator (its index in the list), times a weight."""

    left: int
    right: int
    operator: int
    weight: Any = 1.0


class Strand(NamedTuple):
    """A term that is being written: the state it is in, what is still to come, and the weight not yet written."""

    state: int
    ahead: Ahead
    weight: Any


def build(
    n: int, terms: Sequence[tuple[Ahead, Any]], families: Sequence[Family], identities: Sequence[int]
) -> tuple[list[list[Entry]], list[int]]:
    """The automaton of a sum of strings on `n` sites: the blocks of every site, and the sizes of the bonds.

    Parameters
    ----------
    n : int
    terms : list of (tuple of (site, operator), weight)
        No two with the same string; sites ascend, and where a string has none of its own the identity stands.
    families : list of Family
        Sums over pairs of sites, of one state each.
    identities : list of int
        Number of the identity of every site.
    """
    starting: dict[int, list[Strand]] = {}
    for string, weight in terms:
        starting.setdefault(string[0][0], []).append(Strand(0, string, weight))
    written, bonds, strands = [], [1], []
    for site in range(n):
        last = site == n - 1
        blocks, strands, states = step(site, strands + starting.get(site, []), identities[site], last)
        ended = 0 if last else states + len(families)  # the state of terms that have ended is the last one
        blocks = [b._replace(right=ended) if b.right < 0 else b for b in blocks]
        if not last:
            blocks.append(Entry(0, 0, identities[site]))
        if site:
            blocks.append(Entry(bonds[-1] - 1, ended, identities[site]))
        arriving = bonds[-1] - 1 - len(families)
        for i, family in enumerate(families):
            blocks += family.blocks(site, arriving + i, states + i, ended, first=site == 0, last=last)
        written.append(blocks)
        bonds.append(ended + 1)
    return written, bonds


def step(site: int, strands: list[Strand], identity: int, last: bool) -> tuple[list[Entry], list[Strand], int]:
    """The blocks of one site, which end terms in state -1, the strands that go on, and how many states these are in."""
    ending, edges = [], {}
    for state, ahead, weight in strands:
        here = identity
        if ahead[0][0] == site:
            here, ahead = ahead[0][1], ahead[1:]
        if ahead:
            edges[(state, here), ahead] = weight
        else:
            ending.append(Entry(state, -1, here, weight))
    blocks, going, states = ([], [], 1) if last else cover(edges)
    return blocks + ending, going, states


def cover(edges: dict[tuple[tuple[int, int], Ahead], Any]) -> tuple[list[Entry], list[Strand], int]:
    """Give every edge (left part, right part) a state: blocks, strands, and how many states there are now."""
    rows = {row: i for i, row in enumerate(dict.fromkeys(row for row, _ in edges))}
    columns = {column: i for i, column in enumerate(dict.fromkeys(column for _, column in edges))}
    chosen = rows_of_cover([(rows[r], columns[c]) for r, c in edges], len(rows), len(columns))
    states: dict[Any, int] = {}  # of rows and of columns, numbered from 1
    blocks, strands = [], []
    for (row, column), weight in edges.items():
        by_row = rows[row] in chosen
        new = (part := (by_row, row if by_row else column)) not in states
        state = states.setdefault(part, 1 + len(states))
        if new or not by_row:
            blocks.append(Entry(row[0], state, row[1], 1.0 if by_row else weight))
        if new or by_row:
            strands.append(Strand(state, column, weight if by_row else 1.0))
    return blocks, strands, 1 + len(states)


def rows_of_cover(edges: Sequence[tuple[int, int]], rows: int, columns: int) -> set[int]:
    """The rows in a smallest set of rows and columns that touches all edges, by König's theorem.

    Its columns are those of the edges that no such row touches.
    """
    if not edges:
        return set()
    i, j = np.transpose(edges).astype(np.int32)  # which every SciPy takes
    graph = scipy.sparse.csr_array((np.ones(len(i)), (i, j)), (rows, columns))
    row_of = scipy.sparse.csgraph.maximum_bipartite_matching(graph, perm_type="row")
    reached = np.ones(rows, bool)  # from rows without a partner, to columns by edges, and on to their partners
    reached[row_of[row_of >= 0]] = False
    while not reached[on := row_of[reached @ graph > 0]].all():
        reached[on] = True
    return set(np.flatnonzero(~reached).tolist())


class Family(NamedTuple):
    """The sum over pairs ``i < j`` of ``weight * rate**(j - i) * left(i) * between(i+1 ... j-1) * right(j)``.

    Operators are given by their indices in the list, one per site.
    """

    weight: Any
    rate: Any
    left: list[int]
    between: list[int]
    right: list[int]

    def blocks(self, site: int, arriving: int, leaving: int, ended: int, first: bool, last: bool) -> Iterator[Entry]:
        """What this family writes on one site."""
        if not last:
            yield Entry(0, leaving, self.left[site], self.weight)
        if not first:
            yield Entry(arriving, ended, self.right[site], self.rate)
        if not first and not last:
            yield Entry(arriving, leaving, self.between[site], self.rate)


def site_tensors(
    written: Sequence[Sequence[Entry]], bonds: Sequence[int], sites: Sequence[Site], matrices: Sequence[np.ndarray]
) -> list[Array]:
    """The tensors of the blocks of every site, real if all of them are; sites that are alike share one."""
    dtype = complex if any(matrices[b.operator].imag.any() for blocks in written for b in blocks) else float
    made: dict[Hashable, Array] = {}
    tensors = []
    for i, blocks in enumerate(written):
        shape = (*bonds[i : i + 2], sites[i].phys, sites[i].phys)
        key = shape, tuple((*b[:3], id(b.weight) if type(b.weight) is Tensor else b.weight) for b in blocks)
        if key not in made:
            made[key] = site_tensor(np.zeros(shape, dtype), blocks, matrices)
        tensors.append(made[key])
    return tensors


def site_tensor(tensor: Array, blocks: Sequence[Entry], matrices: Sequence[np.ndarray]) -> Array:
    """Zeros and the blocks of a site; those with recorded weights are added one by one, the others at once."""
    plain = [b for b in blocks if type(b.weight) is not Tensor]
    if any(isinstance(b.weight, complex) for b in plain):
        tensor = tensor.astype(complex)
    for b in plain:
        tensor[b.left, b.right] += b.weight * matrices[b.operator]
    for b in blocks:
        if type(b.weight) is Tensor:
            unit = np.zeros(tensor.shape, matrices[b.operator].dtype)
            unit[b.left, b.right] = matrices[b.operator]
            tensor = tensor + b.weight * unit
    return tensor


def has_form(w: np.ndarray, first: bool = False, last: bool = False) -> bool:
    """Whether a site tensor is that of an automaton."""
    one = np.eye(w.shape[2]) if w.shape[2] == w.shape[3] else np.nan
    fits = (w.shape[0] == 1 if first else w.shape[0] > 1) and (w.shape[1] == 1 if last else w.shape[1] > 1)
    if fits and first:  # nothing waits that has not begun, as the second of two operators added as they are
        fits = not any(x[0, 0] and (x == x[0, 0] * one).all() for x in w[0, 1:-1])
    if fits and not last:
        fits = bool((w[0, 0] == one).all()) and not w[1:, 0].any()
    if fits and not first:
        fits = bool((w[-1, -1] == one).all()) and not w[-1, :-1].any()
    return fits
