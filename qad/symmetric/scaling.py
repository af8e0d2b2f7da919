"""A leg times a diagonal matrix: any, or the parity of fermions."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from qad.contract.notation.operands import as_operand
from qad.core.errors import ShapeError
from qad.extend import like
from qad.symmetric.blocks.gemms import Gemms, gemms
from qad.symmetric.blocks.layout import Layout
from qad.symmetric.blocks.moves import between, move
from qad.symmetric.maps import axes_of
from qad.symmetric.tensor import SymTensor, as_symmetric, bare, moved

if TYPE_CHECKING:
    from qad.typing import ArrayLike, Axis

__all__ = ["scale", "twist"]


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
    (place,) = axes_of(a, axis, "scale")
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


def twist(a: SymTensor, axes: Axis) -> SymTensor:
    """Change the sign of what is odd on some legs: multiply them by the parity of fermions.

    A line of fermions that closes on itself from the wrong side costs such a sign (`qad.symmetric.trace`); this takes
    it back.  Without a factor "fZ2" in the symmetry nothing is odd.

    Parameters
    ----------
    a : SymTensor
    axes : int or sequence of int

    Raises
    ------
    ArgumentError
        If an axis does not exist, or is named twice.

    Examples
    --------
    >>> import qad
    >>> one = qad.symmetric.eye(qad.symmetric.Leg({0: 2, 1: 3}, flow=+1, symmetry="fZ2"))
    >>> qad.symmetric.trace(one), qad.symmetric.trace(qad.symmetric.twist(one, 0))
    (np.float64(-1.0), np.float64(5.0))
    """
    a = as_symmetric(a, "twist")
    whole = tuple(range(a.ndim))
    signs = between(a.layout, a.layout, whole, whole, axes_of(a, axes, "twist"))
    return a if signs is None else bare(a.layout, move(a.data, table=signs))


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
