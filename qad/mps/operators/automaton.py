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
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    from qad.mps.operators.local import Site
    from qad.typing import Array

    Chooser: TypeAlias = Callable[[Sequence[tuple[int, int]], int, int], set[int]]  # as `rows_of_cover`

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
    n: int, terms: Iterable[tuple[Ahead, Any]], families: Sequence[Family], identities: Sequence[int]
) -> tuple[list[list[Entry]], list[int]]:
    """The automaton of a sum of strings on `n` sites: the blocks of every site, and the sizes of the bonds.

    Parameters
    ----------
    n : int
    terms : iterable of (tuple of (site, operator), weight)
        No two with the same string; sites ascend, and where a string has none of its own the identity stands.
    families : list of Family
        Sums over pairs of sites, of one state each.
    identities : list of int
        Number of the identity of every site.
    """
    starting, written, bonds, strands = by_site(terms), [], [1], []
    for site in range(n):
        strands += starting.get(site, [])
        blocks, strands, bond = write_site(
            site, strands, bonds[-1], families, identities[site], rows_of_cover, first=site == 0, last=site == n - 1
        )
        written.append(blocks)
        bonds.append(bond)
    return written, bonds


def repeated(
    cell: int, terms: Iterable[tuple[Ahead, Any]], families: Sequence[Family], identities: Sequence[int]
) -> tuple[list[list[Entry]], list[int]]:
    """The automaton of an infinite chain, whose terms begin in one cell and are repeated; what `build` takes and gives.

    Its states all remember what has been placed, or all of them what is to come, whichever are fewer: so they repeat
    from cell to cell as soon as no term reaches back to the end of the chain.
    """
    starting, found = by_site(terms), []
    for rows_of in (lambda edges, rows, columns: set(range(rows)), lambda edges, rows, columns: set()):
        strands, before, bond = [], None, 2 + len(families)
        while (now := [strand[:2] for strand in strands]) != before:
            before, written, bonds = now, [], [bond]
            for site in range(cell):
                strands += starting.get(site, [])
                blocks, strands, bond = write_site(site, strands, bond, families, identities[site], rows_of)
                written.append(blocks)
                bonds.append(bond)
            strands = [s._replace(ahead=tuple((site - cell, o) for site, o in s.ahead)) for s in strands]
        found.append((written, bonds))
    return min(found, key=lambda machine: sum(machine[1][1:]))


def by_site(terms: Iterable[tuple[Ahead, Any]]) -> dict[int, list[Strand]]:
    """The terms, nothing of them written, by the site on which they begin."""
    starting: dict[int, list[Strand]] = {}
    for string, weight in terms:
        starting.setdefault(string[0][0], []).append(Strand(0, string, weight))
    return starting


def write_site(
    site: int, strands: Sequence[Strand], bond: int, families: Sequence[Family], identity: int, rows_of: Chooser,
    first: bool = False, last: bool = False,
) -> tuple[list[Entry], list[Strand], int]:  # fmt: skip
    """The blocks of a site, the strands that go on, and how many states there are on the right; `bond` on the left."""
    edges, ending = {}, []
    for state, ahead, weight in strands:
        here = identity
        if ahead[0][0] == site:
            here, ahead = ahead[0][1], ahead[1:]
        if ahead:
            edges[(state, here), ahead] = weight
        else:
            ending.append((state, here, weight))
    blocks, going, states = ([], [], 1) if last else cover(edges, rows_of)
    ended = 0 if last else states + len(families)  # the state of terms that have ended is the last one
    if not last:
        blocks.append(Entry(0, 0, identity))
    if not first:
        blocks.append(Entry(bond - 1, ended, identity))
    for i, family in enumerate(families):
        blocks += family.blocks(site, bond - 1 - len(families) + i, states + i, ended, first, last)
    return blocks + [Entry(state, ended, here, weight) for state, here, weight in ending], going, ended + 1


def cover(edges: dict[tuple[tuple[int, int], Ahead], Any], rows_of: Chooser) -> tuple[list[Entry], list[Strand], int]:
    """Give every edge (left part, right part) a state: blocks, strands, and how many states there are now."""
    rows = {row: i for i, row in enumerate(dict.fromkeys(row for row, _ in edges))}
    columns = {column: i for i, column in enumerate(dict.fromkeys(column for _, column in edges))}
    chosen = rows_of([(rows[r], columns[c]) for r, c in edges], len(rows), len(columns))
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
    if len(dict(edges)) == len({column for _, column in edges}) == len(edges):  # no two share one, as of neighbours
        return set(dict(edges))
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
