"""Environments of the norm, and the density matrices of sites between them.

On both sides of a bond the legs are (bra, ket).  Site tensors are arrays or symmetric tensors; what a density matrix
has in the order of charges is put into the order of the sites' own basis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import stack_of
from qad.mps.chain.row import edges
from qad.mps.charges.axes import in_basis
from qad.mps.kernels.environments import past_left, past_right
from qad.symmetric.generic import join, numbers
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Array

    Sides = tuple[list[Any], list[Any], list[Any]]


def environments(tensors: Sequence[Any]) -> Sides:
    """Environments of every bond from the left, site tensors scaled evenly, and environments from the right.

    The constant scales are taken out of the tensors.
    """
    tensors, rights = rights_of(tensors)
    lefts = [edges(tensors)[0]]
    for tensor in tensors[:-1]:
        lefts.append(past_left(lefts[-1], tensor))
    return lefts, tensors, rights


def rights_of(tensors: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Site tensors scaled evenly, and the environments of every bond from the right."""
    tensors, rights = list(tensors), [edges(tensors)[1]]
    for site in reversed(range(len(tensors))):
        environment = past_right(rights[-1], tensors[site])
        values = numbers(environment)
        size = np.linalg.norm(stack_of(values).ravel())
        if not 0 < size < np.inf:
            raise ArgumentError(
                "the state is zero or not finite: nothing can be measured in it, and there is nothing to draw from"
            )
        tensors[site] = tensors[site] * (size**-0.5).astype(numbers(tensors[site]).real.dtype)
        rights.append(environment * (1 / size).astype(values.real.dtype))
    return tensors, rights[::-1]


def site_density(left: Any, tensor: Any, right: Any, order: np.ndarray | None = None) -> Array:
    """The density of a site between two environments, legs (ket, bra), of any trace.

    `order` tells what the leg of a site with charges stands for (`qad.mps.charges.quantities.Quantities.frames`).
    """
    upper = join(join(left, tensor), right, ((2,), (1,)))  # bra, s, bra'
    density = join(upper, tensor.conj(), ((0, 2), (0, 2)))
    return density if order is None else of_basis(density, [order])


def reduced(sides: Sides, sites: Sequence[int], orders: Sequence[np.ndarray] | None = None) -> Array:
    """The density matrix of some sites, the first of them most significant, of any trace."""
    lefts, tensors, rights = sides
    environment = lefts[sites[0]]
    for site in range(sites[0], sites[-1] + 1):
        environment = opened(environment, tensors[site], site in sites)
    last = environment.ndim - 1
    density = join(environment, rights[sites[-1] + 1], ((0, last), (0, 1)))  # bra and ket of every site
    density = density.transpose(*range(1, density.ndim, 2), *range(0, density.ndim, 2))
    dense = density if orders is None else of_basis(density, [orders[site] for site in sites])
    size = int(np.prod(dense.shape[: len(sites)]))
    return dense.reshape(size, size)


def opened(environment: Any, tensor: Any, keep: bool, bra: Any = None) -> Any:
    """An environment (bra, pairs of physical legs, ket) past a site whose physical legs are summed over, or kept.

    The bra is the ket where it is not given.
    """
    half, bra = join(environment, tensor), tensor if bra is None else bra  # bra, pairs, s, b
    if not keep:
        return join(bra.conj(), half, ((0, 1), (0, half.ndim - 2)))
    found = join(bra.conj(), half, ((0,), (0,)))  # s' b' pairs s b
    end = found.ndim - 2
    return found.transpose(1, *range(2, end), 0, end, end + 1)


def of_basis(density: SymTensor, orders: Sequence[np.ndarray]) -> Array:
    """A density with charges, legs (kets, bras), as an array in the order of the sites' basis."""
    found = density.to_dense()
    for axis, frame in enumerate((*orders, *orders)):
        found = in_basis(found, frame, axis)
    return found
