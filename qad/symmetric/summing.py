"""Direct sums: tensors as blocks of a larger one."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ShapeError
from qad.symmetric.blocks.layout import Layout, layout, named
from qad.symmetric.blocks.moves import Move, move
from qad.symmetric.legs import Leg
from qad.symmetric.maps import axes_of
from qad.symmetric.tensor import SymTensor, as_symmetric, bare

if TYPE_CHECKING:
    from qad.typing import Axis

__all__ = ["direct_sum"]


def direct_sum(a: SymTensor, b: SymTensor, axes: Axis) -> SymTensor:
    """Two tensors as the diagonal blocks of a larger one; along the other axes they lie over each other and are added.

    Parameters
    ----------
    a, b : SymTensor
        Of one charge; along the other axes, of the same legs.
    axes : int or sequence of int
        Where dimensions add up, sector by sector, the first tensor in front.  With a bond on either side of the
        tensors of a chain this is the sum of two chains; with one axis it puts tensors side by side.

    Returns
    -------
    SymTensor
        Its sectors stand in the order of `a`, those that only `b` has behind them.

    Raises
    ------
    ShapeError
        If charges differ, or legs along the other axes, or flows.
    ArgumentError
        If an axis does not exist, or is named twice.

    Examples
    --------
    >>> import qad
    >>> one, two = qad.symmetric.Leg({0: 1, 1: 2}, flow=+1), qad.symmetric.Leg({0: 3, 2: 1}, flow=+1)
    >>> both = qad.symmetric.direct_sum(qad.symmetric.eye(one), qad.symmetric.eye(two), (0, 1))
    >>> both.legs[0], qad.symmetric.trace(both)
    (Leg({0: 4, 1: 2, 2: 1}, flow=+1), np.float64(7.0))
    """
    a, b = as_symmetric(a, "direct_sum"), as_symmetric(b, "direct_sum")
    chosen = tuple(sorted(axes_of(a, axes, "direct_sum")))
    _require_alike(a, b, chosen)
    legs = tuple([_joined(x, y) if i in chosen else x for i, (x, y) in enumerate(zip(a.legs, b.legs, strict=True))])
    target = layout(legs, a.layout.split, a.layout.total, a.symmetry)
    first = move(a.data, table=embedding(a.layout, target, chosen, False))
    return bare(target, first + move(b.data, table=embedding(b.layout, target, chosen, True)))


def _require_alike(a, b, chosen):
    if a.symmetry is not b.symmetry or a.layout.total != b.layout.total or a.ndim != b.ndim:
        raise ShapeError(f"direct_sum: {a!r} and {b!r} have different charges or numbers of legs")
    for i, (x, y) in enumerate(zip(a.legs, b.legs, strict=True)):
        if x.flow != y.flow or not (i in chosen or x.alike(y)):
            raise ShapeError(f"direct_sum: axis {i} is {x!r} of the one and {y!r} of the other: {named(a.legs)}")


def _joined(one, two):
    """The leg whose sectors have the dimensions of both."""
    dims = dict(zip(one.charges, one.dims, strict=True))
    for charge, dim in zip(two.charges, two.dims, strict=True):
        dims[charge] = dims.get(charge, 0) + dim
    return Leg._made(one.symmetry, tuple(dims), tuple(dims.values()), one.flow)


@lru_cache(maxsize=1024)
def embedding(source: Layout, target: Layout, axes: tuple[int, ...], last: bool) -> Move:
    """The move of blocks into larger ones of the same charges: to their beginnings along `axes`, or to their ends."""
    here, there, numbers = source.arrays, target.arrays, source.pairing.numbers.copy()
    for axis, (small, large) in enumerate(zip(source.legs, target.legs, strict=True)):
        numbers[:, axis] = np.array([large.charges.index(charge) for charge in small.charges])[numbers[:, axis]]
    block = target.pairing.find(numbers)
    starts, steps = there.starts[block], there.strides[block]
    if last:
        starts = starts + (steps * (there.shapes[block] - here.shapes))[:, list(axes)].sum(axis=1)
    table = np.column_stack([here.starts, starts, here.shapes, here.strides, steps])
    return Move(source.size, target.size, table, (embedding, (source, target, axes, last)))
