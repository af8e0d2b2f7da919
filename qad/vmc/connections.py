"""Configurations that an operator connects with given ones, and its matrix elements between them.

All pieces of an operator (`qad.vmc.pieces`) whose tables have one size are evaluated together, for a whole batch of
configurations: one gather for each site of the tables, one from the tables, and a product of matrices for the signs.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy  # loads scipy.sparse when it is first used

from qad.extend.memory import ready
from qad.mps.charges.parts import of_definite_charge
from qad.vmc.pieces import pieces_of
from qad.vmc.terms import products_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import ArrayLike
    from qad.vmc.pieces import Piece
    from qad.vmc.space import Space

BLOCK = 2**13  # rows of a matrix that are found together


class Connections:
    """The matrix elements of an operator between configurations of a space.

    Parameters
    ----------
    H : OpSum, PauliSum or MPO
        On the sites of the space.  Letter k of a Pauli string acts on spin k, whose state up is the qubit's 0.
    space : Space

    Attributes
    ----------
    space : Space
    complex : bool
        Whether an element is complex.

    Raises
    ------
    ArgumentError
        If H changes what the space keeps fixed (the message names a term), is a matrix product operator of too many
        products of matrices, or its couplings are being differentiated.
    ShapeError
        If it acts on other sites.

    Notes
    -----
    A connected configuration appears once for each sample, however many terms lead to it, and only if its element is
    not zero.

    Examples
    --------
    >>> import qad
    >>> H = qad.vmc.Connections(qad.mps.heisenberg(3), qad.vmc.Spins(3, total=1))
    >>> H.diagonal([[1, 1, -1]])
    array([0.])
    >>> H.of([[1, 1, -1]])
    (array([0]), array([[ 1, -1,  1]], dtype=int8), array([0.5]))
    """

    def __init__(self, H: Any, space: Space):
        total = products_of(H, space)
        terms = of_definite_charge(total, space.conserve) if space.totals else total.terms.items()
        tables = pieces_of(terms, total.operators.matrices)
        self.space: Space = space
        self.complex: bool = any(np.iscomplexobj(table) for table in tables.values())
        self._diagonal: list[PieceTables] = grouped(tables, [()], space)
        self._moves: list[Moves] = []
        for _, moves in groupby(sorted({piece.turned for piece in tables} - {()}, key=len), len):
            turned = [*moves]
            self._moves.append(Moves(*np.array(turned).transpose(2, 1, 0), grouped(tables, turned, space)))
        states = np.arange(space.kind.phys)
        self._after: np.ndarray = space.values[(states + states[:, None]) % len(states)]  # by steps and state

    def diagonal(self, configurations: ArrayLike) -> np.ndarray:
        """The elements ``<s|H|s>``.

        Parameters
        ----------
        configurations : int array (B, n)

        Returns
        -------
        array (B,)

        Raises
        ------
        ArgumentError
            If a configuration is not in the space.
        """
        return evaluated(self._diagonal, 1, self.space.indices(self.space.check(configurations)).T)[0]

    def of(self, configurations: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What H connects configurations with, themselves left out.

        Parameters
        ----------
        configurations : int array (B, n)

        Returns
        -------
        samples : int array (M,)
            Which configuration s each one is connected with, not in order.
        connected : int8 array (M, n)
            The configurations s'.
        elements : array (M,)
            ``<s|H|s'>``.

        Raises
        ------
        ArgumentError
            If a configuration is not in the space.
        """
        rows = np.ascontiguousarray(self.space.check(configurations))
        indices = np.ascontiguousarray(self.space.indices(rows).T)
        found = [(np.empty(0, int), rows[:0], np.empty(0))]
        for sites, steps, groups in self._moves:
            elements = evaluated(groups, sites.shape[1], indices)
            where = np.flatnonzero(elements != 0)
            moves, samples = np.divmod(where, len(rows))
            connected = rows.take(samples, 0)
            starts = np.arange(len(moves)) * rows.shape[1]
            for site, step in zip(sites, steps, strict=True):
                at = site.take(moves)
                before = indices.take(at * len(rows) + samples)
                connected.ravel()[starts + at] = self._after.take(step.take(moves) * len(self._after) + before)
            found.append((samples, connected, elements.take(where)))
        samples, connected, elements = map(np.concatenate, zip(*found, strict=True))
        return samples, connected, elements

    def matrix(self) -> Any:
        """The operator as a sparse matrix of SciPy, over the `states` of the space.

        Raises
        ------
        ArgumentError
            If the space has more than 2**20 states.

        Examples
        --------
        >>> import numpy as np, qad
        >>> ring = qad.mps.heisenberg(12, periodic=True)
        >>> H = qad.vmc.Connections(ring, qad.vmc.Spins(12, total=0)).matrix()
        >>> float(np.linalg.eigvalsh(H.toarray())[0].round(9))
        -5.387390917
        """
        states, blocks = self.space.states(), []
        for start in range(0, len(states), BLOCK):
            rows = states[start : start + BLOCK]
            samples, connected, elements = self.of(rows)
            shape = len(rows), len(states)
            others = scipy.sparse.csr_array((elements, (samples, self.space.numbers(connected))), shape)
            blocks.append(others + scipy.sparse.diags_array(self.diagonal(rows), offsets=start, shape=shape))
        return scipy.sparse.vstack(blocks, format="csr")


class PieceTables(NamedTuple):
    """Pieces whose tables have the same size, evaluated together."""

    sites: np.ndarray  # (sites of a table, pieces)
    strides: np.ndarray  # (sites of a table,)
    offsets: np.ndarray  # (pieces, 1): where the table of each begins
    tables: np.ndarray  # of all pieces, one behind the other
    signs: tuple[np.ndarray, ...]  # which pieces have each (pieces, signs), its site, what it flips (signs, d); or none
    moves: np.ndarray  # those that pieces belong to, ascending
    starts: np.ndarray  # the first piece of each


class Moves(NamedTuple):
    """Moves that turn equally many sites."""

    sites: np.ndarray  # (turned sites, moves)
    steps: np.ndarray
    groups: list[PieceTables]


def grouped(tables: dict[Piece, np.ndarray], moves: Sequence[Any], space: Space) -> list[PieceTables]:
    """The pieces of some moves, by the sizes of their tables."""
    order = {turned: k for k, turned in enumerate(moves)}
    pieces = sorted([piece for piece in tables if piece.turned in order], key=lambda p: (len(p.sites), order[p.turned]))
    found = []
    for size, same in groupby(pieces, lambda piece: len(piece.sites)):
        own = [*same]
        flips = [*dict.fromkeys([flip for piece in own for flip in piece.signs])]
        cast = np.array([[flip in piece.signs for flip in flips] for piece in own], np.float32)
        signs = cast, np.array([site for site, _ in flips]), np.array([odd for _, odd in flips], np.float32)
        group = PieceTables(
            np.array([piece.sites for piece in own], int).reshape(len(own), size).T,
            space.kind.phys ** np.arange(size)[::-1],
            np.arange(len(own))[:, None] * space.kind.phys**size,
            np.concatenate([tables[piece] for piece in own]),
            signs if flips else (),
            *np.unique([order[piece.turned] for piece in own], return_index=True),
        )
        found.append(group)
    return found


def evaluated(groups: Sequence[PieceTables], moves: int, indices: np.ndarray) -> np.ndarray:
    """The elements (moves, B) of all moves for configurations of basis states (n, B)."""
    dtype = np.result_type(float, *[group.tables for group in groups])
    found = np.zeros((moves, indices.shape[1]), dtype)
    ready(found.nbytes)
    for group in groups:
        where = np.tile(group.offsets, indices.shape[1])
        for site, stride in zip(group.sites, group.strides, strict=True):
            where += (stride * indices).take(site, 0)
        values = group.tables.take(where)
        if group.signs:
            cast, sites, flips = group.signs
            odd = cast @ flips.take(indices.take(sites, 0) + flips.shape[1] * np.arange(len(sites))[:, None])
            values *= 1 - 2 * (odd.astype(np.int16) & 1)
        if len(group.moves) < len(values):
            values = np.add.reduceat(values, group.starts)
        found[group.moves] += values
    return found
