"""Legs fused to one, and parted again; those of fermions may change a sign."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.symmetric.blocks.combinations import fusion
from qad.symmetric.blocks.layout import Layout, layout
from qad.symmetric.blocks.moves import Move, move
from qad.symmetric.legs import Leg
from qad.symmetric.maps import axes_of
from qad.symmetric.signs import dual_signs, reordered
from qad.symmetric.tensor import SymTensor, as_symmetric, bare

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["fuse", "fused_leg", "unfuse"]


@lru_cache(maxsize=2048)
def fused_leg(legs: tuple[Leg, ...], flow: int) -> Leg:
    """The leg whose index runs over the combinations of the indices of `legs`, sorted by their charge."""
    group = legs[0].symmetry
    dims = fusion(legs, group).dims
    charges = tuple([q if flow > 0 else group.opposite(q) for q in dims])
    return Leg._made(group, charges, tuple(dims.values()), flow, legs)


def fuse(a: SymTensor, axes: Sequence[int], flow: int | None = None) -> SymTensor:
    """Fuse legs to one, whose sectors are the combinations of theirs; `unfuse` parts it again.

    Parameters
    ----------
    a : SymTensor
    axes : sequence of int
        The legs, in the order in which their indices run, the last one fastest.
    flow : +1 or -1, optional
        Of the new leg; by default that of the first of them.

    Returns
    -------
    SymTensor
        The new leg stands where the first of `axes` stood, counted without the others.

    Raises
    ------
    ArgumentError
        If `axes` names no leg, or one twice.

    Examples
    --------
    >>> import qad
    >>> bond, spin = qad.symmetric.Leg({-1: 2, 1: 2}, flow=+1), qad.symmetric.Leg({1: 1, -1: 1}, flow=+1)
    >>> theta = qad.symmetric.random((bond, spin, spin), charge=1, seed=0)
    >>> pair = qad.symmetric.fuse(theta, (1, 2))
    >>> pair.legs[1]
    Leg({2: 1, 0: 2, -2: 1}, flow=+1, fused from 2)
    >>> (qad.symmetric.unfuse(pair, 1) - theta).norm()
    np.float64(0.0)
    """
    as_symmetric(a, "fuse")
    chosen = axes_of(a, axes, "fuse")
    if not chosen:
        raise ArgumentError(f"fuse: axes={axes!r} must name axes of the {a.ndim}")
    if flow not in (None, 1, -1):
        raise ArgumentError(f"fuse: flow={flow!r} must be +1 or -1")
    others = [axis for axis in range(a.ndim) if axis not in chosen]
    place = sum(axis < chosen[0] for axis in others)
    order = (*others[:place], *chosen, *others[place:])
    leg = fused_leg(tuple([a.legs[axis] for axis in chosen]), a.legs[chosen[0]].flow if flow is None else flow)
    legs = (*[a.legs[i] for i in others[:place]], leg, *[a.legs[i] for i in others[place:]])
    ahead = [axis for axis in order if axis < a.layout.split]  # the rows stay rows where that can be
    split = sum(axis in ahead for axis in others) + (chosen[0] in ahead)
    target = layout(legs, split, a.layout.total, a.symmetry)
    return bare(target, move(a.data, table=fusing(a.layout, target, order, place)))


def unfuse(a: SymTensor, axis: int) -> SymTensor:
    """Part a fused leg into the legs that `fuse` made it of.

    Parameters
    ----------
    a : SymTensor
    axis : int

    Raises
    ------
    ArgumentError
        If the leg was not made by `fuse`.

    Examples
    --------
    >>> import qad
    >>> spin = qad.symmetric.Leg({1: 1, -1: 1}, flow=+1)
    >>> pair = qad.symmetric.fuse(qad.symmetric.random((spin, spin), charge=0, seed=0), (0, 1))
    >>> qad.symmetric.unfuse(pair, 0).legs == (spin, spin)
    True
    """
    as_symmetric(a, "unfuse")
    (place,) = axes_of(a, axis, "unfuse")
    parts = a.legs[place].parts
    if not parts:
        raise ArgumentError(f"unfuse: axis {axis}, {a.legs[place]!r}, was not fused: see qad.symmetric.fuse")
    legs = (*a.legs[:place], *parts, *a.legs[place + 1 :])
    split = a.layout.split + (len(parts) - 1 if place < a.layout.split else 0)
    target = layout(legs, split, a.layout.total, a.symmetry)
    return bare(target, move(a.data, table=fusing(target, a.layout, tuple(range(len(legs))), place).inverse))


@lru_cache(maxsize=1024)
def fusing(source: Layout, target: Layout, order: tuple[int, ...], place: int) -> Move:
    """The move to a layout whose leg `place` is fused; `order` are the axes of the source with those side by side."""
    parts, here, there = fusion(target.legs[place].parts, source.symmetry), source.arrays, target.arrays
    numbers, end, axes = source.pairing.numbers[:, list(order)], place + parts.shapes.shape[1], list(order)
    which = parts.combinations.find(numbers[:, place:end])
    whole = np.column_stack([numbers[:, :place], parts.combinations.groups[which], numbers[:, end:]])
    block = target.pairing.find(whole)
    steps = there.strides[block]
    along = steps[:, place : place + 1]
    starts = there.starts[block] + along[:, 0] * parts.starts[which]
    writes = steps[:, :place], along * parts.strides[which], steps[:, place + 1 :]
    table = np.column_stack([here.starts, starts, here.shapes[:, axes], here.strides[:, axes], *writes])
    signs = _signs(source, target, order, place) if source.symmetry.fermionic else None
    return Move(source.size, target.size, table, (fusing, (source, target, order, place)), signs)


def _signs(source, target, order, place):
    """Which blocks of fermions change their sign: legs are exchanged, and those fused to a bra are parts of it."""
    moved = layout(tuple([source.legs[axis] for axis in order]), source.split, source.total, source.symmetry)
    parts = range(place, place + len(target.legs[place].parts))
    exchanged, inner = reordered(source, order), dual_signs(moved, parts) if target.legs[place].flow < 0 else None
    found = np.zeros(len(source.pairing.numbers), bool) if exchanged is None else exchanged
    return found if inner is None else found ^ inner[moved.pairing.find(source.pairing.numbers[:, list(order)])]
