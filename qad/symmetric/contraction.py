"""Contractions of symmetric tensors: at most one move of each operand, then one matrix product per sector."""

from __future__ import annotations

from functools import lru_cache
from operator import index
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import like
from qad.symmetric.blocks.gemms import Gemms, gemms
from qad.symmetric.blocks.layout import Layout, layout
from qad.symmetric.blocks.moves import Move, between, move
from qad.symmetric.create import identity
from qad.symmetric.signs import kets_among
from qad.symmetric.tensor import SymTensor, aligned, as_symmetric, bare

if TYPE_CHECKING:
    from typing import Any

    from qad.symmetric.blocks.combinations import Charges
    from qad.symmetric.blocks.layout import Pairing
    from qad.symmetric.groups import Symmetry
    from qad.symmetric.legs import Leg
    from qad.typing import Array, Axis, Scalar

__all__ = [
    "Contraction", "closing", "contraction", "identity_beside", "joint_contractions", "result_of", "tensordot", "trace",
    "vdot",
]  # fmt: skip


class Contraction(NamedTuple):
    """How two tensors are contracted: a move of each where it does not lie right, the products, the result's layout."""

    first: Move | None
    second: Move | None
    plan: Gemms
    out: Layout

    def run(self, x: Array, y: Array) -> Array:
        """The flat array of the result."""
        x = x if self.first is None else move(x, table=self.first)
        y = y if self.second is None else move(y, table=self.second)
        return gemms(x, y, plan=self.plan)


class _Side(NamedTuple):
    """An operand as matrices: its layout, the order of axes there (None where it lies so already), and whether the
    contracted legs are where the product has them (columns of the first operand, rows of the second), or the matrices
    lie transposed."""

    layout: Layout
    order: tuple[int, ...] | None
    turned: bool

    def move_from(self, where: Layout, order: tuple[int, ...], closed: tuple[int, ...] = ()) -> Move | None:
        """The move to these matrices, with the signs of fermions that are put into another order than that."""
        axes = tuple(range(len(where.legs))) if self.order is None else self.order
        return between(where, self.layout, axes, order, closed)


@lru_cache(maxsize=4096)
def contraction(a: Layout, b: Layout, ones: tuple[int, ...], twos: tuple[int, ...]) -> Contraction:
    """The contraction of axes `ones` of the first with `twos` of the second, from a bounded cache."""
    _require_joining(a, b, ones, twos)
    found = _ways(a, b, ones, twos)
    return _contraction(a, b, ones, twos, *min(found if a.size >= b.size else found[::-1], key=_moved))


def joint_contractions(
    a: tuple[Layout, ...], b: tuple[Layout, ...], ones: tuple[int, ...], twos: tuple[int, ...]
) -> list[Contraction]:
    """Those of all members of two stacks, by matrices that lie alike in all of them."""
    pairs = list(zip(a, b, strict=True))
    for one, two in pairs:
        _require_joining(one, two, ones, twos)
    ways = zip(*(_ways(one, two, ones, twos) for one, two in pairs), strict=True)
    best = min(ways, key=lambda way: sum(map(_moved, way)))
    return [_contraction(one, two, ones, twos, *sides) for (one, two), sides in zip(pairs, best, strict=True)]


def _ways(a: Layout, b: Layout, ones: tuple[int, ...], twos: tuple[int, ...]) -> list[tuple[_Side, _Side]]:
    """The operands as matrices, their legs in the order that either of them has."""
    by_a = sorted(zip(ones, twos, strict=True))
    by_b = sorted(by_a, key=lambda pair: pair[1])
    orders = [tuple(zip(*pairs, strict=True)) or ((), ()) for pairs in (by_a, by_b)]
    return [(_side(a, axes, True), _side(b, others, False)) for axes, others in orders]


def _moved(sides: tuple[_Side, _Side]) -> int:
    """How many elements are moved."""
    return sum(side.layout.size for side in sides if side.order is not None)


def _contraction(
    a: Layout, b: Layout, ones: tuple[int, ...], twos: tuple[int, ...], one: _Side, two: _Side
) -> Contraction:
    free, other = ([i for i in range(len(x.legs)) if i not in axes] for x, axes in ((a, ones), (b, twos)))
    legs = (*[a.legs[i] for i in free], *[b.legs[i] for i in other])
    out = layout(legs, len(free), a.symmetry.plus(a.total, b.total), a.symmetry)
    plan = Gemms(_products(one, two, out), (a.size, b.size, out.size), (one.turned, two.turned))
    first = one.move_from(a, (*free, *ones), kets_among(a.legs, ones))  # fermions meet from the inside outwards
    return Contraction(first, two.move_from(b, (*twos[::-1], *other)), plan, out)


def _require_joining(a: Layout, b: Layout, ones: tuple[int, ...], twos: tuple[int, ...]) -> None:
    if a.symmetry is not b.symmetry:
        raise ShapeError(f"tensordot: a tensor of symmetry {a.symmetry} and one of {b.symmetry} do not go together")
    for one, two in zip(ones, twos, strict=True):
        if not a.legs[one].joins(b.legs[two]):
            raise ShapeError(
                f"tensordot: axis {one} of the first tensor, {a.legs[one]!r}, does not join axis {two} of the second, "
                f"{b.legs[two]!r}: {why_not(a.legs[one], b.legs[two])}"
            )


def why_not(one: Leg, two: Leg) -> str:
    if one.flow == two.flow:
        return "flows have to be opposite: take .conj() of one of the tensors, or another leg"
    if one.dims == two.dims and one.charges == two.charges:
        return "they were fused from different legs, or in another order: unfuse them, or fuse both alike"
    if one.sectors == two.sectors:
        return "sectors have to stand in the same order: from_blocks(a.blocks(), legs) lays a tensor out by other legs"
    return "charges and dimensions have to be the same"


def _side(where: Layout, axes: tuple[int, ...], first: bool) -> _Side:
    """The operand with its contracted `axes`, in this order, on one side and the others on the other side."""
    free = tuple([axis for axis in range(len(where.legs)) if axis not in axes])
    plain, turned = ((*free, *axes), (*axes, *free)) if first else ((*axes, *free), (*free, *axes))
    cuts = (len(free), len(axes)) if first else (len(axes), len(free))
    whole = tuple(range(len(where.legs)))
    for order, cut, lies_turned in ((plain, cuts[0], False), (turned, cuts[1], True)):
        if order == whole and where.split == cut:
            return _Side(where, None, lies_turned)
    lies_turned = bool(whole) and turned[-1] == whole[-1]  # the last axis stays the last: it is copied in pieces
    order, cut = (turned, cuts[1]) if lies_turned else (plain, cuts[0])
    target = layout(tuple([where.legs[axis] for axis in order]), cut, where.total, where.symmetry)
    return _Side(target, order, lies_turned)


def _products(one: _Side, two: _Side, out: Layout) -> np.ndarray:
    """A row for each sector of the result that has a matrix of either operand."""
    (x, y), z = (one.layout, two.layout), out
    i, j, k = _triples(x.pairing, y.pairing, z.pairing, (one.turned, two.turned), x.total, y.total, out.symmetry)
    inner = (x.heights if one.turned else x.widths)[i]
    return np.stack([x.starts[i], y.starts[j], z.starts[k], z.heights[k], inner, z.widths[k]], axis=1)


@lru_cache(maxsize=4096)
def _triples(
    x: Pairing, y: Pairing, z: Pairing, turned: tuple[bool, bool], of_x: Charges, of_y: Charges, group: Symmetry
) -> np.ndarray:
    """Which sectors of the operands make which of the result: three rows of numbers."""
    minus = group.minus
    first = {minus(of_x, q) if turned[0] else q: i for i, q in enumerate(x.charges)}
    second = {minus(of_y, q) if turned[1] else q: j for j, q in enumerate(y.charges)}
    found = [(first.get(q), second.get(minus(q, of_x)), k) for k, q in enumerate(z.charges)]
    return np.array([row for row in found if None not in row], np.int64).reshape(-1, 3).T


def tensordot(a: SymTensor, b: SymTensor, axes: int | tuple[Axis, Axis] = 2) -> SymTensor | Scalar:
    """Contract two symmetric tensors over given axes, as `numpy.tensordot` does.

    Parameters
    ----------
    a, b : SymTensor
    axes : int or two sequences of int
        The number of last axes of `a` and first axes of `b`, or which axes of `a` and of `b`.

    Returns
    -------
    SymTensor or number
        The other legs of `a`, then those of `b`; its charge is the sum of both charges.  A number where no leg is left.

    Raises
    ------
    ShapeError
        Two legs do not join; the message shows both.
    ArgumentError
        `axes` does not name axes.

    Examples
    --------
    >>> import numpy as np, qad
    >>> left, right = qad.symmetric.Leg({0: 2, 1: 3}, flow=+1), qad.symmetric.Leg({0: 3, 1: 2}, flow=-1)
    >>> a = qad.symmetric.random((left, right), seed=0)
    >>> rho = qad.symmetric.tensordot(a, a.conj(), ([1], [1]))
    >>> np.allclose(rho.to_dense(), a.to_dense() @ a.to_dense().T)
    True
    """
    for x in (a, b):
        if type(x) is not SymTensor:
            raise ArgumentError(
                f"tensordot: a symmetric tensor and a {type(x).__name__} do not go together: write "
                "qad.symmetric.from_dense(array, legs), or .to_dense() of the other"
            )
        as_symmetric(x, "tensordot")
    how = contraction(a.layout, b.layout, *_axes(axes, a.ndim, b.ndim))
    return result_of(how.out, how.run(a.data, b.data))


def result_of(where: Layout, data: Array) -> SymTensor | Array:
    """A tensor, or a number where there is no leg."""
    return bare(where, data) if where.legs else data.sum()


def _axes(axes: Any, ndim_a: int, ndim_b: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes of both operands as numbers from 0."""
    try:
        if hasattr(axes, "__index__"):
            count = index(axes)
            ones, twos = tuple(range(ndim_a - count, ndim_a)), tuple(range(count))
            if not 0 <= count <= min(ndim_a, ndim_b):
                raise IndexError
        else:
            one, two = ((index(each),) if hasattr(each, "__index__") else tuple(map(index, each)) for each in axes)
            ones, twos = tuple([range(ndim_a)[i] for i in one]), tuple([range(ndim_b)[i] for i in two])
    except (TypeError, ValueError, IndexError) as error:
        raise ArgumentError(
            f"tensordot: axes={axes!r} name no axes of tensors with {ndim_a} and {ndim_b} legs: write a number of "
            "axes, or two sequences such as ([1, 2], [1, 0])"
        ) from error
    if len(ones) != len(twos) or len(set(ones)) < len(ones) or len(set(twos)) < len(twos):
        raise ArgumentError(f"tensordot: axes={axes!r} do not pair axes, each of them once")
    return ones, twos


def vdot(a: SymTensor, b: SymTensor) -> Scalar:
    """The inner product of two tensors of the same legs and charge, the first conjugated.

    Parameters
    ----------
    a, b : SymTensor

    Raises
    ------
    ShapeError
        If legs or charges differ.

    Examples
    --------
    >>> import qad
    >>> leg = qad.symmetric.Leg({0: 2, 1: 1}, flow=+1)
    >>> qad.symmetric.vdot(qad.symmetric.eye(leg), 2j * qad.symmetric.eye(leg))
    np.complex128(6j)
    """
    return np.vdot(as_symmetric(a, "vdot").data, aligned(a, as_symmetric(b, "vdot"), "vdot"))


def trace(a: SymTensor, axis1: int = 0, axis2: int = 1) -> SymTensor | Scalar:
    """The sum over two legs that join each other.

    Parameters
    ----------
    a : SymTensor
    axis1, axis2 : int

    Returns
    -------
    SymTensor or number
        With the other legs.

    Raises
    ------
    ShapeError
        If the legs do not join: the message shows both.

    Examples
    --------
    >>> import qad
    >>> qad.symmetric.trace(qad.symmetric.eye(qad.symmetric.Leg({0: 2, 1: 3}, flow=+1)))
    np.float64(5.0)
    """
    as_symmetric(a, "trace")
    try:
        one, two = range(a.ndim)[axis1], range(a.ndim)[axis2]
    except (IndexError, TypeError) as error:
        raise ArgumentError(f"trace: axes {axis1!r} and {axis2!r} are no axes of {a!r}") from error
    how, leg = closing(a.layout, one, two)
    return result_of(how.out, how.run(a.data, identity_beside(a.data, leg)))


def closing(where: Layout, one: int, two: int) -> tuple[Contraction, Leg]:
    """The trace over two legs as a contraction with the identity, and the leg of that (`identity_beside`).

    Fermions are exchanged until the leg of flow -1 stands in front of the other: a bra in front of its ket.
    """
    if one == two:
        raise ArgumentError(f"trace: axis {one} cannot be joined with itself")
    leg, other = where.legs[one], where.legs[two]
    if not leg.joins(other):
        raise ShapeError(f"trace: axis {one}, {leg!r}, does not join axis {two}, {other!r}: {why_not(leg, other)}")
    if leg.flow > 0:
        one, two, leg = two, one, other
    unit = layout((leg.conj(), leg), 2, leg.symmetry.neutral, leg.symmetry)
    return contraction(where, unit, (one, two), (0, 1)), leg


def identity_beside(x: Array, leg: Leg) -> Array:
    """The identity that closes a leg, beside the flat array `x`."""
    dtype = np.finfo(x.dtype).dtype if x.dtype.kind in "fc" else None  # real, of the same precision
    return like(x).asarray(identity(leg.conj(), 2), dtype=dtype)
