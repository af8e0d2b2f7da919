"""What states and operators on a chain have in common: a row of site tensors joined by bonds."""

from itertools import pairwise

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.core.trees import register
from qad.extend import Tensor


class Chain:
    """A row of site tensors; neighbours share a bond, and the last one shares a bond with the first.

    Subclasses name their legs.  A chain whose outer bond is 1 is open.  Site tensors may be Tensors, so a
    chain may be made inside a differentiated function; it is a pytree of its site tensors.
    """

    __slots__ = ("tensors",)
    LEGS: tuple[str, ...]  # names of the legs of a site tensor
    RIGHT: int  # the leg that joins the next site; leg 0 joins the previous one

    def __init__(self, tensors):
        if not hasattr(tensors, "__iter__"):
            raise ArgumentError(f"{type(self).__name__} takes a list of site tensors, not {type(tensors).__name__}")
        self.tensors = tuple(map(as_array, tensors))
        self._check()

    def __init_subclass__(cls):
        register(cls, lambda chain: (chain.tensors, None), lambda _, tensors: bare(cls, tensors))

    def __len__(self):
        return len(self.tensors)

    def __getitem__(self, site):
        return self.tensors[site]

    def __iter__(self):
        return iter(self.tensors)

    @property
    def bonds(self) -> tuple:
        """Dimensions of the bonds: the one left of site 0, then the one right of every site."""
        return (self.tensors[0].shape[0], *(t.shape[self.RIGHT] for t in self.tensors))

    @property
    def bond(self) -> int:
        """The largest bond dimension."""
        return max(self.bonds)

    @property
    def periodic(self) -> bool:
        """Whether the outer bond joins the ends (its dimension is above 1)."""
        return self.tensors[0].shape[0] > 1

    @property
    def dtype(self):
        """The dtype in which all site tensors fit."""
        return np.result_type(*{t.dtype for t in self.tensors})

    def __repr__(self):
        kind, bonds = type(self).__name__, [str(b) for b in self.bonds]
        bonds = "-".join(bonds if len(bonds) <= 12 else [*bonds[:5], "...", *bonds[-5:]])
        ends = "periodic" if self.periodic else "open"
        return f"{kind}({len(self)} sites, {ends}, bonds {bonds}, {self.dtype})"

    def _check(self):
        """Raise unless every tensor has its legs and every bond fits."""
        kind, legs = type(self).__name__, "(" + ", ".join(self.LEGS) + ")"
        if not self.tensors:
            raise ArgumentError(f"{kind} needs at least one site tensor {legs}")
        for site, tensor in enumerate(self.tensors):
            if tensor.ndim != len(self.LEGS) or 0 in tensor.shape:
                raise ShapeError(
                    f"site {site} of the {kind} has shape {tensor.shape}: a site tensor has legs {legs}, each of "
                    "dimension 1 or more (outer bonds of an open chain are 1: write tensor[None] for a missing one)"
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


def as_array(tensor):
    """`tensor` itself where it is an array of any kind, else as an ndarray."""
    return tensor if type(tensor) is Tensor or hasattr(tensor, "__array_function__") else np.asarray(tensor)


def bare(cls, tensors):
    """A chain of whatever stands in a pytree's places, unchecked."""
    chain = object.__new__(cls)
    chain.tensors = tuple(tensors)
    return chain


def site_count(n, least, what) -> int:
    """`n` as an int; raises unless it is a whole number and at least `least`."""
    try:
        whole = int(n)
    except (TypeError, ValueError):
        whole = None
    if whole is None or whole != n or whole < least:
        raise ArgumentError(f"{what} must be a whole number of at least {least}, but got {n!r}")
    return whole
