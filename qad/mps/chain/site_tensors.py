"""Single site tensors: random ones, and basis states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.linalg.support.random import normal
from qad.mps.charges.quantities import kinds as kinds_of
from qad.symmetric.blocks.layout import layout
from qad.symmetric.contraction import tensordot
from qad.symmetric.fusing import fuse
from qad.symmetric.legs import Leg
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qad.typing import Array, DTypeLike


def random_gaussian(rng: np.random.Generator, left: int, phys: int, right: int, dtype: np.dtype[Any]) -> np.ndarray:
    """A site tensor of independent Gaussian entries, as large as an isometry from the left bond."""
    size = np.sqrt(phys * right * (2 if dtype.kind == "c" else 1))
    return (normal(rng, (left, phys, right), dtype) / size).astype(dtype)


def random_isometry(rng: np.random.Generator, left: int, phys: int, right: int, dtype: np.dtype[Any]) -> np.ndarray:
    """A site tensor that is an isometry from its left bond, uniformly distributed."""
    gauss = random_gaussian(rng, left, phys, right, np.dtype(np.result_type(dtype, np.float64)))
    q, r = np.linalg.qr(gauss.reshape(left, -1).T)
    return np.ascontiguousarray((q * np.sign(r.diagonal().real)).T.reshape(left, phys, right), dtype)


def numbered(states: Iterable[Any], phys: int, kinds: Any) -> tuple[list[Any], list[int]]:
    """The states of a product, those given by name as numbers, and the dimensions of their sites."""
    states = list(states)
    named = any(isinstance(state, str) for state in states)
    if kinds is None and not named:
        return states, [phys] * len(states)
    sites = kinds_of(kinds, [phys] * len(states))
    return [kind.state(s) if isinstance(s, str) else s for s, kind in zip(states, sites, strict=True)], [
        kind.phys for kind in sites
    ]


def basis_or_vector(state: Any, site: int, phys: int, dtype: DTypeLike) -> Array:
    """The amplitudes of one site of a product state."""
    if np.ndim(state) == 1:
        return state if hasattr(state, "dtype") else np.asarray(state)
    if np.ndim(state) != 0 or int(state) != state:
        raise ShapeError(f"site {site} of a product state needs a vector or the number of a basis state, got {state!r}")
    if not 0 <= state < phys:
        raise ArgumentError(f"site {site}: there is no basis state {state} among {phys} (numbers start at 0)")
    return np.eye(phys, dtype=dtype)[int(state)]


def stacked(upper: Array, lower: Array) -> Array:
    """The site tensor of a product of two operators: bonds paired, the inner physical legs contracted."""
    a, b, out, inner = upper.shape
    c, d, _, in_ = lower.shape
    product = upper.reshape(-1, inner) @ lower.transpose(2, 0, 1, 3).reshape(inner, -1)
    return product.reshape(a, b, out, c, d, in_).transpose(0, 3, 1, 4, 2, 5).reshape(a * c, b * d, out, in_)


def applied(upper: Any, lower: Any) -> Any:
    """The site tensor of an operator applied to a state, whose bonds are pairs of a channel and a bond."""
    if type(lower) is SymTensor:
        product = tensordot(upper, lower, ([3], [1])).transpose(0, 3, 2, 1, 4)  # u a s' v b
        product = fuse(fuse(product, (3, 4)), (0, 1))
        legs = tuple([Leg._made(leg.symmetry, leg.charges, leg.dims, leg.flow) for leg in product.legs])
        return SymTensor(layout(legs, 2, product.layout.total, product.symmetry), product.resplit(2).data)
    a, b, out, inner = upper.shape
    c, _, d = lower.shape
    product = upper.reshape(-1, inner) @ lower.transpose(1, 0, 2).reshape(inner, -1)
    return product.reshape(a, b, out, c, d).transpose(0, 3, 2, 1, 4).reshape(a * c, out, b * d)
