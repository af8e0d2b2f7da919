"""Rotations and reflections of a site, and of what stands on the lattice."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import value_of
from qad.symmetric.generic import numbers

TURN, FLIP, ACROSS = (1, 2, 3, 0), (2, 1, 0, 3), (0, 3, 2, 1)  # a quarter turn clockwise; rows, or columns, backwards
GENERATORS: dict[str, tuple[tuple[int, ...], ...]] = {"c4v": (TURN, FLIP), "c4": (TURN,), "c2v": (FLIP, ACROSS)}
STEPS = np.array([(-1, 0), (0, -1), (1, 0), (0, 1)])  # (rows, columns) along the legs


@cache
def elements(symmetry: str) -> tuple[tuple[tuple[int, ...], bool, np.ndarray], ...]:
    """The group: where the legs (up, left, down, right) of the new tensor come from, whether this reflects, and the
    matrices by which vectors ``(rows, columns)`` between two sites turn.
    """
    found = [(0, 1, 2, 3)]
    for legs in found:
        products = (tuple(legs[i] for i in generator) for generator in GENERATORS[symmetry])
        found += [product for product in products if product not in found]
    matrices = [-STEPS[list(legs[:2])] for legs in found]
    return tuple((legs, bool(np.linalg.det(m) < 0), m) for legs, m in zip(found, matrices, strict=True))


def symmetrised(site: Any, symmetry: str | None) -> Any:
    """The part of a site that a symmetry leaves as it is, of norm 1, or the site, of size 1; recorded where it is."""
    largest = np.abs(value_of(numbers(site))).max()
    if not largest > 0:
        raise ArgumentError("a site of the state is zero")
    site = site / largest  # a constant, which environments and densities do not see
    if symmetry is None:
        return site
    total = 0
    for legs, reflects, _ in elements(symmetry):
        image = site.transpose(0, *(1 + leg for leg in legs))
        total = total + (image.conj() if reflects and symmetry == "c4v" else image)
    size = np.sqrt((total * total.conj()).real.sum())
    if not size > 0:
        raise ArgumentError(f"the site has no part with the symmetry {symmetry!r}: start from another one")
    return total / size


def check_symmetry(symmetry: str | None, cell: tuple[str, ...], shape: tuple[int, ...]) -> None:
    """Raise unless a symmetry is known and fits cell and site."""
    if symmetry is None:
        return
    if symmetry not in GENERATORS:
        raise ArgumentError(f"unknown symmetry {symmetry!r}: choose one of {', '.join(map(repr, GENERATORS))}, or None")
    if len({*"".join(cell)}) != 1:
        raise ArgumentError(f"symmetry {symmetry!r} is for cells of one letter, not {'/'.join(cell)}")
    if len(set(shape[1:])) != 1:
        raise ArgumentError(f"a site with the symmetry {symmetry!r} has equal bonds, not {shape[1:]}")
