"""From sums of operator strings to the smallest finite automaton that writes them, and so to an MPO.

The automaton reads the chain from the left.  Its state on a bond says what has been placed and what is still to
come: state 0 has placed nothing yet, the last one has placed a whole term.  Of the terms across a bond, let rows be
their distinct left parts and columns their distinct right parts.  A state either remembers a row, and the
coefficients come later, or a column, and they have come already; so the fewest states are the smallest vertex cover
of the bipartite graph of terms, which is found from a maximum matching (J. Ren, W. Li, T. Jiang, Z. Shuai,
J. Chem. Phys. 153, 084118 (2020); D. König 1931).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy  # loads scipy.sparse when it is first used

from qad.extend import Tensor

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from qad.typing import Array, DTypeLike

Ahead: TypeAlias = tuple[tuple[int, int], ...]  # pairs (site, operator), ascending


@dataclass(frozen=True)
class Entry:
    """One block of a site tensor: from a state to a state by an operator (its index in the list), times a weight."""

    left: int
    right: int
    operator: int
    weight: object = 1.0


@dataclass
class Strand:
    """A term that is being written: the state it is in, what is still to come, and the weight not yet written."""

    state: int
    ahead: Ahead  # what is still to come
    weight: object


@dataclass
class Machine:
    """All the blocks of an MPO, site by site, and the sizes of its bonds."""

    blocks: list[list[Entry]] = field(default_factory=list)  # per site a list of Entry
    bonds: list[int] = field(default_factory=lambda: [1])


def build(n: int, terms: Sequence[tuple[Ahead, Any]], families: Sequence[Family], identities: Sequence[int]) -> Machine:
    """The automaton of a sum of strings on `n` sites.

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
    starting = {}
    for string, weight in terms:
        starting.setdefault(string[0][0], []).append(Strand(0, string, weight))
    machine, strands = Machine(), []
    for site in range(n):
        strands = step(machine, site, n, strands + starting.get(site, []), families, identities[site])
    return machine


def step(
    machine: Machine, site: int, n: int, strands: list[Strand], families: Sequence[Family], identity: int
) -> list[Strand]:
    """Write one site; returns the strands that go on."""
    last = site == n - 1
    ended = 0 if last else None  # the number of the last state is known when all others have one
    blocks, ending, edges = [], [], {}
    for strand in strands:
        here, ahead = identity, strand.ahead
        if ahead[0][0] == site:
            here, ahead = ahead[0][1], ahead[1:]
        if ahead:
            edges[(strand.state, here), ahead] = strand.weight
        else:
            ending.append((strand.state, here, strand.weight))
    going, states = ([], 1) if last else cover(blocks, edges)
    families_in, families_out = machine.bonds[-1] - 1 - len(families), states
    if not last:
        ended = states + len(families)
        blocks.append(Entry(0, 0, identity))
    if site:
        blocks.append(Entry(machine.bonds[-1] - 1, ended, identity))
    for i, family in enumerate(families):
        blocks += family.blocks(site, families_in + i, families_out + i, ended, first=site == 0, last=last)
    blocks += [Entry(state, ended, operator, weight) for state, operator, weight in ending]
    machine.blocks.append(blocks)
    machine.bonds.append(1 if last else ended + 1)
    return going


def cover(blocks: list[Entry], edges: dict[tuple[tuple[int, int], Ahead], Any]) -> tuple[list[Strand], int]:
    """Give every edge (left part, right part) a state; returns the strands and how many states there are now."""
    rows = {row: i for i, row in enumerate(dict.fromkeys(row for row, _ in edges))}
    columns = {column: i for i, column in enumerate(dict.fromkeys(column for _, column in edges))}
    chosen = rows_of_cover([(rows[r], columns[c]) for r, c in edges], len(rows), len(columns))
    state_of_row, state_of_column, strands = {}, {}, []
    for (row, column), weight in edges.items():
        if rows[row] in chosen:
            new = row not in state_of_row
            state = state_of_row.setdefault(row, 1 + len(state_of_row) + len(state_of_column))
            if new:
                blocks.append(Entry(row[0], state, row[1]))
            strands.append(Strand(state, column, weight))
        else:
            new = column not in state_of_column
            state = state_of_column.setdefault(column, 1 + len(state_of_row) + len(state_of_column))
            if new:
                strands.append(Strand(state, column, 1.0))
            blocks.append(Entry(row[0], state, row[1], weight))
    return strands, 1 + len(state_of_row) + len(state_of_column)


def rows_of_cover(edges: Sequence[tuple[int, int]], rows: int, columns: int) -> set[int]:
    """The rows in a smallest set of rows and columns that touches all edges, by König's theorem.

    Its columns are those of the edges that no such row touches.
    """
    if not edges:
        return set()
    i, j = np.transpose(edges).astype(np.int32)  # which every SciPy takes
    graph = scipy.sparse.csr_array((np.ones(len(i)), (i, j)), (rows, columns))
    matching = scipy.sparse.csgraph.maximum_bipartite_matching(graph, perm_type="row")
    partner = {int(row): column for column, row in enumerate(matching) if row >= 0}  # row -> column
    row_of = {column: row for row, column in partner.items()}
    neighbours = {}
    for row, column in edges:
        neighbours.setdefault(row, []).append(column)
    reached, seen = {row for row in range(rows) if row not in partner}, set()
    queue = list(reached)
    while queue:
        for column in neighbours.get(queue.pop(), ()):
            if column not in seen:
                seen.add(column)
                if (row := row_of[column]) not in reached:
                    reached.add(row)
                    queue.append(row)
    return set(range(rows)) - reached


@dataclass(frozen=True)
class Family:
    """The sum over pairs ``i < j`` of ``weight * rate**(j - i) * left(i) * between(i+1 ... j-1) * right(j)``.

    Operators are given by their indices in the list, one per site.
    """

    weight: object
    rate: object
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


def site_tensor(
    shape: tuple[int, ...], blocks: Sequence[Entry], matrices: Sequence[np.ndarray], dtype: DTypeLike
) -> Array:
    """One site tensor; the blocks with recorded weights are added one by one, the others at once."""
    plain = [b for b in blocks if type(b.weight) is not Tensor]
    if any(isinstance(b.weight, complex) for b in plain):
        dtype = complex
    tensor = np.zeros(shape, dtype)
    for b in plain:
        tensor[b.left, b.right] += b.weight * matrices[b.operator]
    recorded = [b for b in blocks if type(b.weight) is Tensor]
    for b in recorded:
        unit = np.zeros(shape, matrices[b.operator].dtype)
        unit[b.left, b.right] = matrices[b.operator]
        tensor = tensor + b.weight * unit
    return tensor


def weight_key(weight: Any) -> Hashable:
    """What tells weights apart: plain ones by value, Tensors by identity."""
    return ("recorded", id(weight)) if type(weight) is Tensor else weight
