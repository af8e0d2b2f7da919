"""The product of basis states from which charges are counted: of a filling, the one of lowest energy."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import as_array, value_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

    from qad.mps.charges.quantities import Charge, Quantities
    from qad.typing import Array

    Placed: TypeAlias = tuple[Array, tuple[int, ...]]  # an operator, and the letter of each of its sites

MOST = 4096  # products of each charge that are followed; all of them on small cells


def lowest_product(
    placed: Iterable[Placed],
    counts: Sequence[int],
    charges: Sequence[Charge],
    total: Charge | None,
    given: Quantities,
) -> tuple[int, ...]:
    """The basis state of each letter in the product of lowest energy; of equal ones what fluctuates most.

    Products are made letter by letter, with the terms of which all letters are there.
    """
    carried, scores_of = np.array(charges)[:, : len(given.names)], tables(placed)
    states, scores, d = np.zeros((1, 0), int), np.zeros((1, 2)), len(charges)
    for letter in range(len(counts)):
        states = np.column_stack([np.repeat(states, d, 0), np.tile(np.arange(d), len(states))])
        scores = np.repeat(scores, d, 0)
        for letters, table in scores_of:
            if max(letters) == letter:
                scores = scores + table[tuple(states.T[list(letters)])]
        order = np.lexsort(scores.round(9).T[::-1])
        reached = given.symmetry.residues((carried[states] * np.array(counts)[: letter + 1, None]).sum(1))
        sectors, sector = np.unique(reached[order], axis=0, return_inverse=True)
        kept = [np.flatnonzero(sector.reshape(-1) == i)[:MOST] for i in range(len(sectors))]
        order = order[np.sort(np.concatenate(kept))]
        states, scores = states[order], scores[order]
    if total is not None:
        fits = (reached[order] == total).all(1)
        if not fits.any():
            raise unfilled(given, total, sectors)
        states = states[fits]
    return tuple(states[0].tolist())


def unfilled(given: Quantities, total: Charge, sectors: np.ndarray) -> ArgumentError:
    """The error where no product of basis states has this total."""
    near = sectors[np.argsort(np.abs(sectors - total).sum(1), kind="stable")[:4]].tolist()
    found, shown = ", ".join(str(given.symmetry.shown(tuple(q))) for q in near), given.symmetry.shown(total)
    return ArgumentError(
        f"cells that do not fit the filling: no product of basis states has {', '.join(given.names)} = {shown} in a "
        f"cell, but {found}: give another sector=, or a cell of other letters"
    )


def tables(placed: Iterable[Placed]) -> list[tuple[tuple[int, ...], np.ndarray]]:
    """Of each term the letters, and by their basis states its energy and minus the weight of what it leads to."""
    found = []
    for operator, letters in placed:
        shape = operator.shape[: len(letters)]
        matrix = as_array(value_of(operator)).reshape(prod(shape), -1)
        energy = matrix.diagonal().real
        away = (np.abs(matrix) ** 2).sum(0) - energy**2
        found.append((letters, np.stack([energy, -away], axis=1).reshape(*shape, 2)))
    return found
