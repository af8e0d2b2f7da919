"""Reduced density matrices of patches of an infinite state: the patch, and the environment around its rectangle."""

from __future__ import annotations

from functools import reduce
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.peps.checks import check_kind
from qad.peps.infinite.cells import CLOCKWISE, cell_of
from qad.peps.infinite.environment import Environment
from qad.peps.infinite.state import PEPS
from qad.peps.infinite.symmetry import symmetrised

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Array

Labelled = tuple[Any, list[Any]]  # a tensor and the names of its legs


def reduced_density(state: PEPS, sites: Sequence[tuple[int, int]], env: Environment) -> Array:
    """The density matrix of a few sites of an infinite state.

    Parameters
    ----------
    state : PEPS
    sites : sequence of (row, column)
        Different sites; rows count downwards. The cost grows steeply with the rectangle around them.
    env : Environment
        Of this state.

    Returns
    -------
    array
        Of trace 1, legs ``(out, ..., out, in, ..., in)`` in the order of `sites`; Hermitian but for the error of the
        environment.

    Raises
    ------
    ArgumentError
        If a site is named twice, or the environment is that of another cell.

    Examples
    --------
    >>> import numpy as np, qad
    >>> state = qad.peps.PEPS.random(bond=2, symmetry="c4v", seed=0)
    >>> rho = qad.peps.reduced_density(state, [(0, 0), (1, 0)], qad.peps.environment(state, chi=12))
    >>> rho.shape, round(float(np.einsum("stst->", rho)), 12)
    ((2, 2, 2, 2), 1.0)
    """
    check_kind(state, PEPS)
    check_kind(env, Environment)
    places = [(int(row), int(column)) for row, column in sites]
    if not places or len(set(places)) != len(places):
        raise ArgumentError(f"name one or several different sites, not {places}")
    if env.cell != cell_of(state.cell):
        raise ArgumentError(f"{env!r} is not the environment of {state!r}")
    patch = Patch(state, places, env)
    rho = patch.contracted()
    n = len(places)
    size = int(np.prod(rho.shape[:n]))
    return rho / np.trace(rho.reshape(size, size))


class Patch:
    """The rectangle around some sites of a state, and the corners and edges around it.

    Two halves grow, column by column from the left and from the right (row by row where the rectangle is higher than
    wide), and meet in the middle: the order of contraction is known, and none is searched for. Where a half turn leaves
    state and patch as they are, the second half is the first one with other names.

    Names of legs: numbers are open physical ones; ``("e", k, i)`` along side k, ``("v", row, column, layer)`` and
    ``("h", row, column, layer)`` above and on the left of a site, in ket or bra.
    """

    state: PEPS
    places: list[tuple[int, int]]
    env: Environment
    top: int
    left: int
    rows: int
    columns: int

    def __init__(self, state: PEPS, places: list[tuple[int, int]], env: Environment):
        self.state, self.places, self.env = state, places, env
        self.top, self.left = (min(place[axis] for place in places) for axis in (0, 1))
        self.rows = max(row for row, _ in places) - self.top + 1
        self.columns = max(column for _, column in places) - self.left + 1

    def contracted(self) -> Array:
        """What the patch and its surroundings leave of the open physical legs, ket first."""
        wide = self.columns >= self.rows
        lines = [self.column(i) for i in range(self.columns)] if wide else [self.row(i) for i in range(self.rows)]
        ends = (self.side(3), self.side(1)) if wide else (self.side(0), self.side(2))
        middle = (len(lines) + 1) // 2
        first = folded([*ends[0], *chain(*lines[:middle])])
        if len(lines) % 2 == 0 and self.is_even():
            second = first[0], [self.turned(name) for name in first[1]]
        else:
            second = folded([*ends[1], *chain(*reversed(lines[middle:]))])
        rho, labels = joined(first, second)
        order = sorted(range(len(labels)), key=lambda i: labels[i])
        return rho.transpose(order)

    def is_even(self) -> bool:
        """Whether a half turn leaves the state, its environment and the patch as they are."""
        one = len(self.env.corners) == 1 and self.state.symmetry == "c4v"
        return one and {self.across(place) for place in self.places} == set(self.places)

    def across(self, place: tuple[int, int]) -> tuple[int, int]:
        """Where a half turn takes a site of the rectangle."""
        return 2 * self.top + self.rows - 1 - place[0], 2 * self.left + self.columns - 1 - place[1]

    def turned(self, name: Any) -> Any:
        """The name of the leg to which a half turn takes a leg."""
        if isinstance(name, int):
            layer, i = divmod(name, len(self.places))
            return layer * len(self.places) + self.places.index(self.across(self.places[i]))
        kind, *at = name
        if kind == "e":
            k, i = at
            return "e", (k + 2) % 4, self.count(k) - i
        row, column, layer = at
        return kind, self.rows - (kind == "h") - row, self.columns - (kind == "v") - column, layer

    def side(self, k: int) -> list[Labelled]:
        """The corners and edges along one side of the rectangle, all but those of the lines that end there."""
        n = self.rows if k % 2 else self.columns
        return [self.corner(k), *(self.edge(k, i) for i in range(n)), self.corner((k + 1) % 4)]

    def column(self, i: int) -> list[Labelled]:
        """A column of sites, and the edges above and below."""
        sites = chain(*(self.site(row, i) for row in range(self.rows)))
        return [self.edge(0, i), *sites, self.edge(2, i)]

    def row(self, i: int) -> list[Labelled]:
        """A row of sites, and the edges on its left and right."""
        sites = chain(*(self.site(i, column) for column in range(self.columns)))
        return [self.edge(3, i), *sites, self.edge(1, i)]

    def at(self, row: int, column: int) -> tuple[int, int]:
        """A site of the rectangle on the lattice."""
        return self.top + row, self.left + column

    def corner(self, k: int) -> Labelled:
        """A corner, its legs named after the direction and the place of the edge that they lead to."""
        row, column = (0 if k in (0, 1) else self.rows - 1), (0 if k in (0, 3) else self.columns - 1)
        before = (k - 1) % 4
        leaves = self.count(before) if k in (1, 2) else 0  # where the side before ends, and where this one begins
        begins = 0 if k in (0, 1) else self.count(k)
        return self.env.corner(k, *self.at(row, column)), [("e", before, leaves), ("e", k, begins)]

    def count(self, k: int) -> int:
        """How many edges a side has."""
        return self.rows if k % 2 else self.columns

    def edge(self, k: int, i: int) -> Labelled:
        """The edge of direction k in column or row i."""
        row, column = {0: (0, i), 1: (i, self.columns - 1), 2: (self.rows - 1, i), 3: (i, 0)}[k]
        tensor, d = self.env.edge(k, *self.at(row, column)), self.state[self.at(row, column)].shape[1 + CLOCKWISE[k]]
        ends = [("e", k, i), ("e", k, i + 1)]
        before, after = ends if k in (0, 1) else reversed(ends)
        leg = {0: ("v", 0, i), 1: ("h", i, self.columns), 2: ("v", self.rows, i), 3: ("h", i, 0)}[k]
        return tensor.reshape(tensor.shape[0], d, d, -1), [before, (*leg, "ket"), (*leg, "bra"), after]

    def site(self, row: int, column: int) -> list[Labelled]:
        """Ket and bra of a site."""
        at = self.at(row, column)
        legs = [("v", row, column), ("h", row, column), ("v", row + 1, column), ("h", row, column + 1)]
        tensor = symmetrised(self.state[at], self.state.symmetry)
        n, found = len(self.places), []
        for side, x in enumerate((tensor, tensor.conj())):
            physical = self.places.index(at) + side * n if at in self.places else ("s", row, column)
            found.append((x, [physical, *((*leg, ("ket", "bra")[side]) for leg in legs)]))
        return found


def folded(tensors: list[Labelled]) -> Labelled:
    """All of them contracted, from the first to the last."""
    return reduce(joined, tensors)


def joined(first: Labelled, second: Labelled) -> Labelled:
    """Two tensors contracted over the labels that they share."""
    (x, names), (y, others) = first, second
    shared = [name for name in names if name in others]
    axes = [names.index(name) for name in shared], [others.index(name) for name in shared]
    rest = [name for name in (*names, *others) if name not in shared]
    return np.tensordot(x, y, axes), rest
