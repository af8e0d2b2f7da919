"""What states and operators on a chain have in common: a row of site tensors joined by bonds."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from qad.archive import understood
from qad.core.errors import ArgumentError, ShapeError
from qad.core.trees import register
from qad.extend import Tensor
from qad.mps.chain.row import Linear, SiteRow, check_standing, require_alike, require_same_sector
from qad.mps.chain.storage import load, save
from qad.mps.operators.local import each_of
from qad.showing import card
from qad.symmetric.generic import direct_sum
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any, Self

    from qad.mps.charges.quantities import Kinds, Quantities
    from qad.mps.operators.local import Site
    from qad.typing import Array, ArrayLike, FilePath, Number

C = TypeVar("C", bound="Chain")
SiteTensors: TypeAlias = "Chain | Sequence[Array]"


class Chain(Linear, SiteRow):
    """A row of site tensors; neighbours share a bond, and the last one shares a bond with the first.

    Subclasses name their legs.  A chain whose outer bond is 1 is open.  Site tensors may be Tensors, so a
    chain may be made inside a differentiated function; it is a pytree of its site tensors, each distinct one once where
    sites share them (`uniform`).
    """

    __slots__ = ("tensors", "sharing", "conserved", "sites")
    tensors: tuple[Any, ...]
    sharing: tuple[int, ...] | None
    conserved: Quantities | None  # None of plain arrays
    sites: tuple[Site, ...] | None  # what stands on every site, where that is known
    LEGS: tuple[str, ...]  # names of the legs of a site tensor

    def __init__(self, tensors: Iterable[Any], conserved: Quantities | None = None, kind: Kinds = None):
        if not hasattr(tensors, "__iter__"):
            raise ArgumentError(f"{type(self).__name__} takes a list of site tensors, not {type(tensors).__name__}")
        self.tensors = tuple(map(as_array, tensors))
        self.sharing, self.conserved = None, conserved
        self.sites = None if kind is None else each_of(kind, len(self.tensors))
        self._check()

    def __init_subclass__(cls) -> None:
        register(
            cls, lambda chain: (distinct(chain), (chain.sharing, chain.conserved, chain.sites)),
            lambda kept, tensors: bare(cls, tensors, *kept),
        )  # fmt: skip

    @classmethod
    def uniform(cls, cell: Iterable[ArrayLike], n: int) -> Self:
        """A ring of `n` sites that repeats a unit cell; its sites share their tensors.

        As a pytree it has one leaf per tensor of the cell, so that a gradient is the derivative by the shared tensor
        and optimisers keep the translation invariance.

        Parameters
        ----------
        cell : sequence of arrays
            Site tensors; the last one's right bond fits the first one's left bond.
        n : int
            Number of sites, a multiple of the cell's.

        Raises
        ------
        ArgumentError
            If `n` is no multiple of the number of tensors.

        Examples
        --------
        >>> import numpy as np, qad
        >>> ring = qad.mps.MPS.uniform([np.ones((3, 2, 3))], 8)
        >>> g = qad.grad(qad.mps.energy)(ring, qad.mps.heisenberg(8, periodic=True))
        >>> g[0] is g[5]
        True
        """
        cell = list(cell)
        n = site_count(n, 1, "n")
        if not cell or n % len(cell):
            raise ArgumentError(f"{n} sites cannot repeat a cell of {len(cell)} tensors")
        chain = cls([tensor for _ in range(n // len(cell)) for tensor in cell])
        chain.sharing = tuple(range(len(cell))) * (n // len(cell))
        return chain

    def _made_of(self, tensors: Iterable[Any]) -> Self:
        """The chain of other site tensors, unchecked."""
        return bare(type(self), tuple(tensors), None, self.conserved, self.sites)

    def _on(self, sites: tuple[Site, ...] | None) -> Self:
        """The chain, told what stands on its sites where it does not know."""
        if self.sites is not None or sites is None:
            return self
        return bare(type(self), distinct(self), self.sharing, self.conserved, sites)

    @property
    def periodic(self) -> bool:
        """Whether the outer bond joins the ends (its dimension is above 1)."""
        return self.tensors[0].shape[0] > 1

    def _times(self, factor: Number) -> Self:
        """The chain times a number, which its first tensor takes."""
        return self._made_of([factor * self.tensors[0], *self.tensors[1:]])

    def __add__(self, other: Self) -> Self:
        return sum_of(self, other) if type(other) is type(self) else NotImplemented

    def save(self, path: FilePath) -> None:
        """Write the chain to an ``.npz`` file; `load` reads it.

        Parameters
        ----------
        path : str or path
            Replaced only once the new file is complete.

        Examples
        --------
        >>> import qad, tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp(), "state.npz")
        >>> qad.mps.MPS.random(4, 2).save(path)
        >>> qad.mps.MPS.load(path)
        MPS(4 sites, open, bonds 1-2-2-2-1, complex128)
        """
        save(path, type(self).__name__, distinct(self), self.sharing, self.conserved, self.sites)

    @classmethod
    def load(cls, path: FilePath) -> Self:
        """The chain in a file that `save` wrote.

        Raises
        ------
        ArgumentError
            If the file is damaged or holds something else.

        Examples
        --------
        See `save`.
        """
        chain = bare(cls, *load(path, cls.__name__))
        with understood(path):
            chain._check()
        return chain

    def __repr__(self) -> str:
        kind = ", ".join([str(x) if name == "ends" else f"{name} = {x}" for name, x in self._kind().items()])
        return f"{type(self).__name__}({len(self)} sites, {kind}, bonds {listed(self.bonds)}, {self.dtype})"

    def _repr_html_(self) -> str:
        size = sum(tensor.size for tensor in self.tensors)
        own = {"bonds": listed(self.bonds), "largest bond": self.bond, "entries": f"{size:,}", "dtype": self.dtype}
        return card(f"{type(self).__name__} of {len(self)} sites", [*self._kind().items(), *own.items()])

    def _kind(self) -> dict[str, Any]:
        """What is told of a chain besides its sizes: how its ends meet."""
        return {"ends": "periodic" if self.periodic else "open"}

    def _check(self):
        """Raise unless every tensor has its legs and every bond fits."""
        kind, legs = type(self).__name__, "(" + ", ".join(self.LEGS) + ")"
        if not self.tensors:
            raise ArgumentError(f"{kind} needs at least one site tensor {legs}")
        for site, tensor in enumerate(self.tensors):
            if tensor.ndim != len(self.LEGS) or 0 in tensor.shape:
                raise ShapeError(
                    f"site {site} of the {kind} has shape {tensor.shape}: a site tensor has legs {legs}, each of "
                    "dimension 1 or more (outer bonds of an open chain are 1: write tensor[None] for a missing one, "
                    "and qad.mps.MPS.from_dense(v.reshape((2,) * n)) for all amplitudes in a vector)"
                )
        for site, (stands, tensor) in enumerate(zip(self.sites or (), self.tensors, strict=False)):
            if stands.phys != tensor.shape[1 if self.RIGHT == 2 else 2]:
                raise ShapeError(
                    f"site {site} of the {kind} has shape {tensor.shape}, and a site of kind {stands.name!r} has "
                    f"{stands.phys} basis states"
                )
        for site, (one, two) in enumerate(pairwise(self.tensors)):
            if one.shape[self.RIGHT] != two.shape[0]:
                raise ShapeError(
                    f"the bond between sites {site} and {site + 1} of the {kind} does not fit: leg 'right' of site "
                    f"{site}, of shape {one.shape}, has dimension {one.shape[self.RIGHT]}, but leg 'left' of site "
                    f"{site + 1}, of shape {two.shape}, has {two.shape[0]}; legs are ordered {legs}"
                )
        first, last = self.tensors[0], self.tensors[-1]
        if last.shape[self.RIGHT] != first.shape[0]:
            raise ShapeError(
                f"the ends of the {kind} do not fit: the bond left of site 0 is {first.shape[0]}, the one right of the "
                f"last site is {last.shape[self.RIGHT]}; give both dimension 1 (open chain) or the same (periodic)"
            )


def sum_of(one: C, two: C) -> C:
    """The sum of two chains of the same sites: bonds add, but the outer ones of open chains."""
    cls = type(one)
    require_alike(one, two, "a sum")
    require_same_sector(one, two)
    for site, (a, b) in enumerate(zip_sites(one, two)):
        if inner_legs(cls, a) != inner_legs(cls, b):
            raise ShapeError(
                f"site {site}: physical dimensions {inner_legs(cls, a)} and {inner_legs(cls, b)} cannot be added"
            )
    of = "state" if "physical" in cls.LEGS else "operator"
    check_standing(one, two, f"the other {of}", f"the {of}")
    if one.periodic != two.periodic:
        raise ShapeError("an open chain and a ring cannot be added: write the ring as an open chain, psi.opened()")
    return one._on(two.sites)._made_of(added(one, two, cls.RIGHT, one.periodic))


def added(one: Any, two: Any, right: int, periodic: bool = False) -> list[Any]:
    """The tensors of a sum of chains, whose bonds add up; the outer ones of open chains lie over each other."""
    last, tensors = len(one) - 1, []
    for site, (a, b) in enumerate(zip_sites(one, two)):
        axes = [axis for axis, is_end in ((0, site == 0), (right, site == last)) if periodic or not is_end]
        tensors.append(direct_sum(a, b, axes) if axes else a + b)
    return tensors


def zip_sites(one: Chain, two: Chain) -> Iterator[tuple[Array, Array]]:
    """Pairs of site tensors; raises for chains of different length."""
    if len(one) != len(two):
        raise ShapeError(f"chains of {len(one)} and {len(two)} sites do not fit: make both for the same n")
    return zip(one, two, strict=True)


def inner_legs(cls: type[Chain], tensor: Array) -> tuple[int, ...]:
    """Dimensions of the physical legs."""
    return tuple(size for leg, size in enumerate(tensor.shape) if leg not in (0, cls.RIGHT))


def as_array(tensor: ArrayLike) -> Array:
    """`tensor` itself where it is an array of any kind, else as an ndarray; whole numbers become floats."""
    is_array = type(tensor) in (Tensor, SymTensor) or hasattr(tensor, "__array_function__")
    array = tensor if is_array else np.asarray(tensor)
    return array.astype(float) if array.dtype.kind in "biu" else array


def distinct(chain: Chain) -> tuple[Any, ...]:
    """The leaves of a chain: its tensors, shared ones once."""
    return chain.tensors if chain.sharing is None else chain.tensors[: max(chain.sharing) + 1]


def bare(
    cls: type[C], tensors: Sequence[Any], sharing: tuple[int, ...] | None, conserved: Quantities | None = None,
    sites: tuple[Site, ...] | None = None,
) -> C:  # fmt: skip
    """A chain of whatever stands in a pytree's places, unchecked."""
    chain = object.__new__(cls)
    chain.tensors = tuple(tensors) if sharing is None else tuple(tensors[i] for i in sharing)
    chain.sharing, chain.conserved, chain.sites = sharing, conserved, sites
    return chain


def site_count(n: Any, least: int, what: str) -> int:
    """`n` as an int; raises unless it is a whole number and at least `least`."""
    try:
        whole = int(n)
    except (TypeError, ValueError):
        whole = None
    if whole is None or whole != n or whole < least:
        raise ArgumentError(f"{what} must be a whole number of at least {least}, but got {n!r}")
    return whole


def listed(bonds: Sequence[int]) -> str:
    """Dimensions of bonds, of many the first and the last five."""
    return "-".join(map(str, bonds if len(bonds) <= 12 else (*bonds[:5], "...", *bonds[-5:])))
