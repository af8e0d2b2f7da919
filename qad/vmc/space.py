"""Spaces of configurations: which rows of whole numbers there are, how many, and uniform samples of them.

A configuration has one small whole number for each site.  Quantities such as the number of particles may be fixed.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.mps.chain.chain import site_count
from qad.vmc.ways import COUNTED, Ways

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from qad.mps.operators.local import Site
    from qad.typing import ArrayLike

LISTED = 2**20  # the most states that are listed


def as_space(given: Any) -> Space:
    """A space; raises unless it is one."""
    if not isinstance(given, Space):
        raise ArgumentError(f"a space is Spins, Bosons, Fermions or Electrons of qad.vmc, but got {given!r}")
    return given


class Space:
    """Configurations of sites of one kind; made by `Spins`, `Bosons`, `Fermions` or `Electrons`.

    Parameters
    ----------
    n : int
        Number of sites.
    kind : Site
        What stands on every site.
    values : sequence of int (d,)
        The number that configurations have for each basis state, evenly spaced, in the order of the site's basis.
    quantities : dict of name -> sequence of int (d,)
        What each basis state holds of each quantity, numbers from 0.
    totals : sequence of int or None
        The totals of all quantities where they are fixed; None or empty where they are not.
    shown : dict
        The arguments that the space is printed with, but for those that are None.

    Attributes
    ----------
    n, kind, values, quantities, totals
    held : int array (d, fixed quantities)
        What each basis state holds of what is fixed.
    size : int
        How many configurations there are.
    conserve : str or tuple of str
        What the site of the kind calls the quantities that can be fixed (``conserve=`` in `qad.mps`).
    moves : str
        The name of the moves by which a Metropolis walk goes through the space unless it is told others.

    Examples
    --------
    >>> import qad
    >>> space = qad.vmc.Spins(4, total=0)
    >>> space, space.size
    (Spins(4, total=0), 6)
    >>> space.states()[:2]
    array([[ 1,  1, -1, -1],
           [ 1, -1,  1, -1]], dtype=int8)
    """

    conserve: str | tuple[str, ...] = "N"

    def __init__(
        self,
        n: int,
        kind: Site,
        values: Iterable[int],
        quantities: dict[str, Sequence[int]],
        totals: Iterable[float | None],
        shown: dict[str, Any],
    ):
        self.n: int = site_count(n, 1, "n")
        self.kind: Site = kind
        self.values: np.ndarray = np.array([*values], np.int8 if kind.phys < 128 else np.int16)
        self.quantities: dict[str, np.ndarray] = {name: np.array(held) for name, held in quantities.items()}
        self.shown: dict[str, Any] = {name: x for name, x in shown.items() if x is not None}
        given = [total for total in totals if total is not None]
        self.totals: tuple[int, ...] = tuple([int(total) for total in given if total >= 0 and int(total) == total])
        self.held: np.ndarray = np.array([*self.quantities.values()]).T[:, : len(given)]  # of what is fixed
        if len(self.totals) < len(given) or not self.size:
            raise ArgumentError(f"{self!r} has no configuration: its sites cannot hold these totals")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join([str(self.n), *(f'{name}={x}' for name, x in self.shown.items())])})"

    @property
    def moves(self) -> str:
        if not self.totals:
            return "flips"
        return "exchanges" if len(self.values) == len(self.totals) + 1 else "hops"  # if they reach everything

    @cached_property
    def ways(self) -> Ways:
        return Ways(self.n, self.held, self.totals)

    @property
    def size(self) -> int:
        return self.ways.count

    def indices(self, configurations: ArrayLike) -> np.ndarray:
        """The basis states of the sites, which amplitudes of chains (`qad.mps.MPS.log_amplitudes`) take.

        Parameters
        ----------
        configurations : int array (..., n)

        Returns
        -------
        int array (..., n)

        Examples
        --------
        >>> import qad
        >>> qad.vmc.Spins(3).indices([[1, -1, 1]])
        array([[0, 1, 0]])
        """
        rows = configurations if hasattr(configurations, "dtype") else np.asarray(configurations)
        first, step = int(self.values[0]), int(self.values[1]) - int(self.values[0])
        return (rows.astype(np.int64) - first) // step

    def of_indices(self, indices: ArrayLike) -> np.ndarray:
        """The configurations with these basis states, the inverse of `indices`.

        Examples
        --------
        >>> import qad
        >>> qad.vmc.Spins(3).of_indices([[0, 1, 0]])
        array([[ 1, -1,  1]], dtype=int8)
        """
        return self.values[np.asarray(indices)]

    def check(self, configurations: ArrayLike) -> np.ndarray:
        """The configurations as an array of small whole numbers.

        Raises
        ------
        ShapeError
            Unless they have the shape (how many, n).
        ArgumentError
            If one is not in the space; the message shows the first one.

        Examples
        --------
        >>> import qad
        >>> qad.vmc.Spins(2, total=0).check([[1, 1]])
        Traceback (most recent call last):
        qad.core.errors.ArgumentError: configuration 0, [1, 1], is not in Spins(2, total=0)
        """
        rows = np.asarray(configurations)
        if rows.ndim != 2 or rows.shape[1] != self.n:
            raise ShapeError(f"configurations of {self!r} have shape (how many, {self.n}), not {rows.shape}")
        near = np.clip(self.indices(rows), 0, len(self.values) - 1)
        wrong = (self.values.take(near) != rows).any(1)
        for held, total in zip(self.held.T, self.totals, strict=True):
            wrong |= held.take(near).sum(1) != total
        if wrong.any():
            first = int(wrong.argmax())
            raise ArgumentError(f"configuration {first}, {rows[first].tolist()}, is not in {self!r}")
        return rows.astype(self.values.dtype)

    def states(self) -> np.ndarray:
        """All configurations, in the order of the basis of a chain: the first site is the most significant.

        Returns
        -------
        int8 array (size, n)

        Raises
        ------
        ArgumentError
            For more than 2**20 of them.

        Examples
        --------
        >>> import qad
        >>> qad.vmc.Bosons(2, most=2, total=2).states()
        array([[0, 2],
               [1, 1],
               [2, 0]], dtype=int8)
        """
        if self.size > LISTED:
            raise ArgumentError(f"{self!r} has {self.size} configurations: lists hold at most {LISTED}, so sample them")
        number = np.arange(self.size)

        def choose(k, starts, left):
            own = starts.take(left, 0)
            chosen = (number[:, None] >= own[:, 1:-1]).sum(1)
            number[:] -= own[np.arange(len(own)), chosen]
            return chosen

        return self.of_indices(self.ways.walk(self.size, choose))

    def numbers(self, configurations: ArrayLike) -> np.ndarray:
        """Which of the `states` each configuration is; equal numbers say that configurations are equal.

        Parameters
        ----------
        configurations : int array (how many, n)

        Returns
        -------
        int64 array (how many,)

        Raises
        ------
        ArgumentError
            If one is not in the space, or where that has 2**62 configurations or more.

        Examples
        --------
        >>> import qad
        >>> space = qad.vmc.Spins(100, total=96)
        >>> space.numbers(space.random(3, rng=0)) < space.size
        array([ True,  True,  True])
        """
        if self.size >= COUNTED:
            raise ArgumentError(f"{self!r} has {self.size} configurations, too many to be numbered by 64 bits")
        rows = np.ascontiguousarray(self.check(configurations).T)
        found = np.zeros(rows.shape[1], np.int64)

        def choose(k, starts, left):
            states = self.indices(rows[k])
            found[:] += starts.take(left * starts.shape[1] + states)
            return states

        self.ways.walk(len(found), choose)
        return found

    def random(self, count: int, rng: np.random.Generator | int | None = None) -> np.ndarray:
        """Configurations drawn uniformly from the space.

        Parameters
        ----------
        count : int
        rng : numpy.random.Generator or int, optional
            A generator, or the seed of one.

        Returns
        -------
        int8 array (count, n)

        Examples
        --------
        >>> import qad
        >>> qad.vmc.Spins(6, total=0).random(1000, rng=1).sum(1).any()
        np.False_
        """
        rng = np.random.default_rng(rng)

        def choose(k, starts, left):
            own = starts.take(left, 0)
            return (rng.random((count, 1)) * own[:, -1:] >= own[:, 1:-1]).sum(1)

        return self.of_indices(self.ways.walk(count, choose))
