"""A leg times a diagonal matrix."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from qad.contract.operands import as_operand
from qad.core.errors import ArgumentError, ShapeError
from qad.extend import like
from qad.symmetric.gemms import Gemms, gemms
from qad.symmetric.layout import Layout
from qad.symmetric.tensor import SymTensor, as_symmetric, bare, moved

if TYPE_CHECKING:
    from qad.typing import ArrayLike

__all__ = ["scale"]


def scale(a: SymTensor, factors: ArrayLike, axis: int = -1) -> SymTensor:
    """Multiply along a leg by a factor for each value of its index, such as singular values.

    Parameters
    ----------
    a : SymTensor
    factors : array (leg.dim,)
        In the order of the leg.
    axis : int

    Raises
    ------
    ShapeError
        If there is not one factor for each value of the index.

    Examples
    --------
    >>> import numpy as np, qad
    >>> leg = qad.symmetric.Leg({0: 1, 1: 2}, flow=+1)
    >>> qad.symmetric.scale(qad.symmetric.eye(leg), np.array([2.0, 3.0, 4.0])).to_dense().diagonal()
    array([2., 3., 4.])
    """
    factors, a = as_operand(factors), as_symmetric(a, "scale")
    try:
        place = range(a.ndim)[axis]
    except (IndexError, TypeError) as error:
        raise ArgumentError(f"scale: there is no axis {axis!r} among {a.ndim} legs") from error
    if tuple(factors.shape) != (a.shape[place],):
        raise ShapeError(
            f"scale: axis {axis} takes {a.shape[place]} factors, not an array of shape {tuple(factors.shape)}"
        )
    if place in (0, a.ndim - 1):
        return _scaled(a.resplit(a.ndim - 1 if place else 1), factors, first=not place)
    whole = tuple(range(a.ndim))
    front = (place, *[axis for axis in whole if axis != place])
    back = tuple(sorted(whole, key=front.__getitem__))
    return moved(_scaled(moved(a, front, 1), factors, first=True), back, a.layout.split)


def _scaled(a, factors, first):
    """The same where the leg alone is the rows of each sector, or the columns."""
    plan = _spreading(a.layout, first)
    ones = like(factors, a.data).ones(plan.sizes[1 if first else 0], factors.dtype)
    return bare(a.layout, a.data * (gemms(factors, ones, plan=plan) if first else gemms(ones, factors, plan=plan)))


@lru_cache(maxsize=1024)
def _spreading(where: Layout, first: bool) -> Gemms:
    """The products of each sector's factors with a row of ones, or of a column of ones with them."""
    leg, group = where.legs[0 if first else -1], where.symmetry
    rows = []
    for charge, start, m, n in where.sectors:
        own = charge if first else group.minus(where.total, charge)
        begin = leg.starts[leg.charges.index(own if leg.flow > 0 else group.opposite(own))]
        rows.append((begin, 0, start, m, 1, n) if first else (0, begin, start, m, 1, n))
    most = max([row[5 if first else 3] for row in rows], default=0)
    sizes = (leg.dim, most) if first else (most, leg.dim)
    return Gemms(rows, (*sizes, where.size))
