"""Configurations that an operator connects with given ones, and its matrix elements between them.

A product of matrices on sites is a sum of products that turn the basis states of sites by fixed numbers of steps,
``<c| ... |c + k>`` modulo d.  All those with the same steps lead to the same configuration; the element of each is a
product of one row of numbers for each site.  Products of equally many are evaluated together, for a whole batch.
"""

from __future__ import annotations

from itertools import groupby, product
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy  # loads scipy.sparse when it is first used

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import Tensor
from qad.extend.memory import ready
from qad.mps.charges.parts import of_definite_charge
from qad.mps.charges.quantities import sites_of_dimension
from qad.mps.operators.mpo import MPO
from qad.mps.operators.opsum import OpSum
from qad.vmc.space import as_space

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qad.typing import ArrayLike
    from qad.vmc.space import Space

BLOCK = 2**13  # rows of a matrix that are found together
PRODUCTS = 2**18  # the most that an operator is taken apart into
ROUNDING = 1e-12  # of the largest weight: what is left of elements that cancel


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
        total = products_of(H, as_space(space))
        terms = of_definite_charge(total, space.conserve) if space.totals else total.terms.items()
        self._rows, products = turned(terms, total.operators.matrices)
        weights = np.array([weight for each in products.values() for weight in each.values()] or [0.0])
        self._rounding: float = ROUNDING * np.abs(weights).max()
        self.space: Space = space
        self.complex: bool = np.iscomplexobj(self._rows) or bool(np.abs(weights.imag).max() > self._rounding)
        products.setdefault((), {})  # what turns nothing is the diagonal
        by_count = groupby(sorted(products, key=len), len)
        self._diagonal, *self._moves = [moves_of([*moves], products, self.complex) for _, moves in by_count]
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
        return self._evaluated(self._diagonal, self.space.indices(self.space.check(configurations)).T)[0]

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
        for group in self._moves:
            elements = self._evaluated(group, indices)
            where = np.flatnonzero(np.abs(elements) > self._rounding)
            moves, samples = np.divmod(where, len(rows))
            connected = rows.take(samples, 0)
            starts = np.arange(len(moves)) * rows.shape[1]
            for site, step in zip(group.sites, group.steps, strict=True):
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

    def _evaluated(self, group: Moves, indices: np.ndarray) -> np.ndarray:
        """The elements (moves, B) of all moves for configurations of basis states (n, B)."""
        size = self._rows.shape[1]
        found = np.zeros((group.sites.shape[1], indices.shape[1]), complex if self.complex else float)
        ready(found.nbytes)
        for sites, rows, weights, moves, starts in group.products:
            values = np.repeat(weights[:, None], indices.shape[1], axis=1)
            for site, row in zip(sites, rows, strict=True):
                values *= self._rows.take(indices.take(site, 0) + size * row[:, None])
            found[moves] += np.add.reduceat(values, starts)
        return found


class Moves(NamedTuple):
    """Moves that turn equally many sites."""

    sites: np.ndarray  # (turned sites, moves)
    steps: np.ndarray
    products: list[tuple[np.ndarray, ...]]
    """For each number of factors the sites and the rows of them (factors, products), their weights, the moves that they
    belong to, ascending, and the first product of each."""


def moves_of(moves: Sequence[Any], products: dict[Any, dict[Any, complex]], is_complex: bool) -> Moves:
    """Those that turn equally many sites, as arrays."""
    sites, steps = np.array(moves, int).reshape(len(moves), -1, 2).T
    every = [(len(key), k, key, weight) for k, move in enumerate(moves) for key, weight in products[move].items()]
    found = []
    for _, same in groupby(sorted(every, key=lambda each: each[:2]), lambda each: each[0]):
        _, numbers, keys, weights = zip(*same, strict=True)
        values = np.array(weights) if is_complex else np.real(weights)
        found.append((*np.array(keys).T, values, *np.unique(numbers, return_index=True)))
    return Moves(sites, steps, found)


def turned(terms: Iterable[Any], matrices: Sequence[np.ndarray]) -> tuple[np.ndarray, dict[Any, dict[Any, complex]]]:
    """Rows of numbers (rows, d), and the weights of products of them, ((site, row), ...), by what they turn.

    Terms are pairs of a string ((site, number of a matrix), ...) and its weight; what is turned are pairs
    ((site, steps), ...).  The first number of a row that is not 0 is 1: phases, such as that of Sy, are in the weights.
    """
    states, rows, parts, found = np.arange(len(matrices[0])), [], [], {}
    for matrix in matrices:
        parts.append([])
        for k in states.tolist():
            row = matrix[states, (states + k) % len(states)]
            if row.any():
                parts[-1].append((k, len(rows), row[np.flatnonzero(row)[0]]))
                rows.append(row / parts[-1][-1][2])
    for string, weight in terms:
        for choice in product(*[parts[number] for _, number in string]):
            each = [(site, *part) for (site, _), part in zip(string, choice, strict=True)]
            of_move = found.setdefault(tuple([(site, steps) for site, steps, _, _ in each if steps]), {})
            key = tuple([(site, row) for site, _, row, _ in each])
            of_move[key] = of_move.get(key, 0.0) + weight * prod(scale for *_, scale in each)
    table = np.array(rows)
    return table if np.iscomplexobj(table) and table.imag.any() else table.real, found


def products_of(H: Any, space: Space) -> OpSum:
    """An `OpSum`, a `PauliSum` or a matrix product operator as an `OpSum` without families; raises unless it fits.

    The strings of a Pauli sum act on spins 1/2, up where the qubit is 0.
    """
    if not isinstance(H, (OpSum, MPO)):
        from qad.circuit.observables.pauli import PauliSum  # circuits are loaded only where they are needed

        if not isinstance(H, PauliSum):
            raise ArgumentError(f"a Hamiltonian is an OpSum, a PauliSum or an MPO, but got {type(H).__name__}")
    given = H.mpo() if isinstance(H, OpSum) and H.families else H
    if any(type(x) is Tensor for x in (given.tensors if isinstance(given, MPO) else given.terms.values())):
        raise ArgumentError("local energies have no derivative by the couplings of H: give it plain numbers")
    if isinstance(given, MPO):
        total = taken_apart(given, space)
    elif isinstance(given, OpSum):
        total = given
    else:
        total = OpSum(given.n)
        for string, coefficient in given.terms.items():
            total.add(coefficient, *[x for k, letter in enumerate(string) if letter != "I" for x in (letter, k)])
    if len(total.sites) != space.n or {*total.sites} != {space.kind}:
        raise ShapeError(
            f"H acts on {len(total.sites)} sites of kind {total.sites[0].name!r}, {space!r} has {space.n} of "
            f"{space.kind.name!r}"
        )
    return total


def taken_apart(H: MPO, space: Space) -> OpSum:
    """The products of matrices that a matrix product operator consists of, read from its last site."""
    dims = [w.shape[2] for w in H]
    total = OpSum(len(H), H.sites or (space.kind if {*dims} == {space.kind.phys} else sites_of_dimension(dims)))
    for outer in range(H[0].shape[0]):  # more than one on a ring
        ends: dict[int, list[Any]] = {outer: [((), 1.0)]}  # by the state of a bond, the strings behind it with weights
        for site in reversed(range(len(H))):
            begun: dict[int, list[Any]] = {}
            blocks = np.argwhere(np.any(H[site], (2, 3))).tolist()
            if sum(len(ends.get(right, ())) for _, right in blocks) > PRODUCTS:
                raise ArgumentError(f"{H!r} is more than {PRODUCTS} products of matrices: give the OpSum it came from")
            for left, right in blocks:
                number, scale = total.operators.number(np.asarray(H[site][left, right]))
                head = () if number == total.identities[site] else ((site, number),)
                found = [(head + string, scale * weight) for string, weight in ends.get(right, ())]
                begun.setdefault(left, []).extend(found)
            ends = begun
        for string, weight in ends.get(outer, ()):
            key = string or ((0, total.identities[0]),)
            total.terms[key] = total.terms.get(key, 0.0) + weight
    return total
