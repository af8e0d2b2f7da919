"""What models are written on: a chain, a ring, a lattice or an infinite chain, and couplings of its bonds and sites."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import Tensor
from qad.mps.chain.chain import site_count
from qad.mps.models.lattice import Lattice
from qad.mps.operators.algebra import finite_number
from qad.mps.operators.opsum import OpSum
from qad.mps.operators.uniform_opsum import UniformOpSum

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.mps.operators.local import Site
    from qad.typing import ArrayLike, RealNumber


def couplings(x: RealNumber | ArrayLike, name: str, count: int, of: str) -> list[Any]:
    """A real number for each of `count` bonds or sites, from one for all of them or an array with one for each."""
    if type(x) is not Tensor and not hasattr(x, "dtype"):
        x = np.asarray(x)
    if np.ndim(x) == 0:
        return [finite_number(x, name, real=True)] * count
    if np.shape(x) != (count,):
        raise ShapeError(f"{name} is one number, or one for each of the {count} {of}; it has shape {np.shape(x)}")
    return [finite_number(x[i], f"{name}[{i}]", real=True) for i in range(count)]


class ModelTerms:
    """The part of a sum that knows neighbours: a model is written once, for finite and for infinite chains.

    Couplings are one real number for all bonds or sites, or one for each, recorded or not.
    """

    count: int  # of the sites that have terms of their own
    bonds: Callable[..., list[tuple[int, int]]]

    def on_bonds(self, shell: int = 1, **given: RealNumber | ArrayLike) -> list[tuple[Any, ...]]:
        """Both sites of each bond, and its couplings, given by their names; none where all of them are the number 0."""
        if all(isinstance(x, (int, float)) and x == 0 for x in given.values()):
            return []
        bonds = self.bonds(shell)
        rows = [couplings(x, name, len(bonds), "bonds") for name, x in given.items()]
        return [(*bond, *row) for bond, *row in zip(bonds, *rows, strict=True)]

    def on_sites(self, **given: RealNumber | ArrayLike) -> list[tuple[Any, ...]]:
        """Each site, and its couplings, given by their names."""
        rows = [couplings(x, name, self.count, "sites") for name, x in given.items()]
        return [*zip(range(self.count), *rows, strict=True)]


class FiniteTerms(ModelTerms, OpSum):
    """A sum on a chain, a ring (which needs three sites) or a lattice."""

    def __init__(self, n: int | Lattice, periodic: bool = False, kind: str | Site = "spin-1/2"):
        if not isinstance(n, Lattice):
            n = site_count(n, 3, "n of a ring") if periodic else site_count(n, 2, "n")
        elif periodic:
            raise ArgumentError("a Lattice says by itself where it closes: leave out periodic")
        super().__init__(n, kind)
        self.periodic: bool = periodic
        self.count: int = len(self.sites)

    def bonds(self, shell: int = 1) -> list[tuple[int, int]]:
        """The pairs of neighbours, or of second ones."""
        if self.lattice is not None:
            return self.lattice.bonds(shell)
        n = self.count
        if self.periodic and shell == 2:
            site_count(n, 5, "n of a ring with second neighbours")
        return [(i, (i + shell) % n) for i in range(n if self.periodic else n - shell)]


class InfiniteTerms(ModelTerms, UniformOpSum):
    """A sum on an infinite chain of one kind of site."""

    count: int = 1

    def __init__(self, kind: str | Site = "spin-1/2"):
        super().__init__(1, kind)

    def bonds(self, shell: int = 1) -> list[tuple[int, int]]:
        """The pair of neighbours, or of second ones, and so on, that is repeated."""
        return [(0, shell)]
