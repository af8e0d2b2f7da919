"""Moves by which Markov chains go through spaces: each proposes a configuration for every chain of a batch.

A move is a function of configurations (chains, n) and a random generator.  It returns the proposed configurations, and
with them the logarithms of ``q(back) / q(there)``, the ratios of the probabilities of proposals, unless they are equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qad.core.errors import ArgumentError, ShapeError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.vmc.space import Space

    Move: TypeAlias = Callable[[np.ndarray, np.random.Generator], Any]


def move(space: Space, given: str | Move | None = None) -> Move:
    """The move of a name, that which suits the space, or that which is given, whose proposals are checked."""
    if callable(given):
        return checked(given, space)
    known = {"flips": flips, "exchanges": exchanges_of, "hops": hops}
    name = space.moves if given is None else given
    if name not in known:
        raise ArgumentError(f"moves are {', '.join(map(repr, known))}, or a function of your own, not {given!r}")
    if name == "flips" and space.totals:
        raise ArgumentError(f"flips change what {space!r} keeps fixed: exchanges and hops do not")
    return known[name](space)


def checked(given: Move, space: Space) -> Move:
    """A move of the user's, which may leave the space."""

    def move(rows, rng):
        found = given(rows, rng)
        proposed = np.asarray(found[0] if isinstance(found, tuple) else found)
        if proposed.shape != rows.shape:
            raise ShapeError(f"a move of configurations {rows.shape} proposes as many, not {proposed.shape}")
        space.check(proposed)
        return found

    return move


def flips(space: Space) -> Move:
    """Another state of one site."""
    others = len(space.values)

    def move(rows, rng):
        proposed, chain = rows.copy(), np.arange(len(rows))
        site = rng.integers(space.n, size=len(rows))
        before = space.indices(rows[chain, site])
        proposed[chain, site] = space.values[(before + rng.integers(1, others, size=len(rows))) % others]
        return proposed

    return move


def exchanges_of(space: Space) -> Move:
    """The states of two sites that differ, exchanged: how many sites differ from each other stays the same."""

    def move(rows, rng):
        chain, one = np.arange(len(rows)), rng.integers(space.n, size=len(rows))
        differs = rows != rows[chain, one][:, None]
        other, count = drawn(differs, rng)
        return exchanged(rows, one, np.where(count > 0, other, one))

    return move


def exchanges(pairs: Sequence[tuple[int, int]]) -> Move:
    """Moves that exchange the states of two sites of given pairs, such as neighbours: for ``Metropolis(move=...)``.

    Parameters
    ----------
    pairs : sequence of (int, int)

    Returns
    -------
    callable
        ``move(configurations, rng)``, which returns the proposed configurations.

    Raises
    ------
    ShapeError
        Unless these are pairs.

    Examples
    --------
    >>> import numpy as np, qad
    >>> lattice = qad.mps.Lattice(4, 4, along=True, around=True)
    >>> move = qad.vmc.exchanges(lattice.pairs())
    >>> rows = qad.vmc.Spins(16, total=0).random(5, rng=0)
    >>> (move(rows, np.random.default_rng(1)) != rows).sum(1)
    array([2, 2, 2, 0, 2])
    """
    ends = np.array(pairs)
    if ends.ndim != 2 or ends.shape[1] != 2 or ends.dtype.kind not in "iu" or ends.min() < 0:
        raise ShapeError(f"exchanges take pairs of sites (pairs, 2), but got an array of shape {ends.shape}")

    def move(rows, rng):
        if ends.max() >= rows.shape[1]:
            raise ShapeError(f"exchanges of sites up to {ends.max()} do not fit {rows.shape[1]} sites, from 0 on")
        return exchanged(rows, *ends[rng.integers(len(ends), size=len(rows))].T)

    return move


def exchanged(rows: np.ndarray, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Configurations with the states of two sites of each exchanged."""
    proposed, chain = rows.copy(), np.arange(len(rows))
    proposed[chain, one], proposed[chain, other] = rows[chain, other], rows[chain, one]
    return proposed


def hops(space: Space) -> Move:
    """One unit of one quantity, such as a particle of one spin, taken from one site to another."""
    held = np.array([*space.quantities.values()])
    number = {tuple(states): k for k, states in enumerate(held.T.tolist())}
    less, more = (
        np.array([[number.get((*at[:q], at[q] + by, *at[q + 1 :]), -1) for at in number] for q in range(len(held))])
        for by in (-1, 1)
    )

    def move(rows, rng):
        chain, states = np.arange(len(rows)), space.indices(rows)
        which = rng.integers(len(held), size=len(rows))[:, None]
        source, sources = drawn(less[which, states] >= 0, rng)
        takes = more[which, states] >= 0
        takes[chain, source] = False
        target, targets = drawn(takes, rng)
        possible = (sources > 0) & (targets > 0)
        after = states.copy()
        after[chain, source] = less[which[:, 0], states[chain, source]]
        after[chain, target] = more[which[:, 0], states[chain, target]]
        after = np.where(possible[:, None], after, states)
        back = (more[which, after] >= 0).sum(1) - (more[which[:, 0], after[chain, target]] >= 0)
        ratio = sources * targets / np.maximum((less[which, after] >= 0).sum(1) * back, 1)
        return space.of_indices(after).astype(rows.dtype), np.log(np.where(possible, ratio, 1.0))

    return move


def drawn(allowed: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """One of the allowed sites (chains, n) of each chain, and how many there are."""
    upto = allowed.cumsum(1)
    count = upto[:, -1]
    return (upto > (rng.random(len(count)) * count).astype(int)[:, None]).argmax(1), count
