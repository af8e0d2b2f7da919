"""Symmetric tensors from nothing, from dense arrays, and from blocks."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from qad.contract.notation.operands import as_operand
from qad.core.errors import ArgumentError, ShapeError
from qad.extend import like, stack_of, value_of
from qad.symmetric.blocks.layout import Layout, checked, layout
from qad.symmetric.blocks.moves import gathering, move, packing, unpacking
from qad.symmetric.groups import symmetry as symmetry_of
from qad.symmetric.legs import Leg
from qad.symmetric.scaling import twist
from qad.symmetric.tensor import SymTensor, bare

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from qad.symmetric.groups import Charge, SymmetryLike
    from qad.typing import ArrayLike, DTypeLike, Seed

__all__ = ["layout_for", "eye", "from_blocks", "from_dense", "random", "zeros"]


def layout_for(
    legs: Leg | Sequence[Leg], charge: Charge | None, split: int | None, symmetry: SymmetryLike | None, owner: str
) -> Layout:
    """The layout that a function of this file was asked for; the neutral charge where None is given."""
    group = None if symmetry is None else symmetry_of(symmetry)
    return checked(legs, charge, split, group, owner)


def zeros(
    legs: Leg | Sequence[Leg],
    charge: Charge | None = None,
    dtype: DTypeLike = float,
    *,
    split: int | None = None,
    symmetry: SymmetryLike | None = None,
) -> SymTensor:
    """A symmetric tensor of zeros.

    Parameters
    ----------
    legs : sequence of Leg
    charge : int or tuple of int, optional
        The total charge; by default neutral.
    dtype : dtype
    split : int, optional
        How many legs are rows of the matrices in which the blocks lie; it changes no result.
    symmetry : str or sequence of str, optional
        For a tensor without legs; otherwise it is that of the legs.

    Raises
    ------
    ArgumentError
        If no block has this total charge.
    ShapeError
        If the legs have different symmetries.

    Examples
    --------
    >>> import qad
    >>> leg = qad.symmetric.Leg({0: 1, 1: 2}, flow=+1)
    >>> qad.symmetric.zeros((leg, leg), charge=2)
    SymTensor(shape (3, 3), charge 2, 1 sectors, size 4 of 9, float64)
    """
    where = layout_for(legs, charge, split, symmetry, "zeros")
    return SymTensor(where, np.zeros(where.size, dtype))


def random(
    legs: Leg | Sequence[Leg],
    charge: Charge | None = None,
    dtype: DTypeLike = float,
    *,
    seed: Seed = 0,
    split: int | None = None,
    symmetry: SymmetryLike | None = None,
) -> SymTensor:
    """A symmetric tensor whose elements are normally distributed, of variance 1; real and imaginary parts likewise.

    Parameters
    ----------
    legs, charge, dtype, split, symmetry
        As in `zeros`.
    seed : int or Generator

    Raises
    ------
    ArgumentError, ShapeError
        As in `zeros`.

    Examples
    --------
    >>> import qad
    >>> left, phys = qad.symmetric.Leg({-1: 3, 1: 3}, flow=+1), qad.symmetric.Leg({1: 1, -1: 1}, flow=+1)
    >>> right = qad.symmetric.Leg({-2: 2, 0: 4, 2: 2}, flow=-1)
    >>> qad.symmetric.random((left, phys, right), charge=0, seed=0)
    SymTensor(shape (6, 2, 8), charge 0, 3 sectors, size 36 of 96, float64)
    """
    where = layout_for(legs, charge, split, symmetry, "random")
    rng, dtype = np.random.default_rng(seed), np.dtype(dtype)
    if dtype.kind not in "fc":
        raise ArgumentError(f"random: dtype {dtype} is neither real nor complex: write float or complex")
    data = rng.standard_normal(where.size)
    return SymTensor(where, (data + 1j * rng.standard_normal(where.size) if dtype.kind == "c" else data).astype(dtype))


def eye(leg: Leg, dtype: DTypeLike = float) -> SymTensor:
    """The identity, with legs ``(leg, leg.conj())``: contracted with a leg it changes nothing.

    Parameters
    ----------
    leg : Leg
        Of fermions and of flow -1, odd entries are -1: they have to be exchanged before they are closed.
    dtype : dtype

    Examples
    --------
    >>> import qad
    >>> leg = qad.symmetric.Leg({0: 2, 1: 1}, flow=+1)
    >>> qad.symmetric.trace(qad.symmetric.eye(leg))
    np.float64(3.0)
    """
    where = layout_for((leg, leg.conj()), None, 1, None, "eye")
    plain = SymTensor(where, identity(leg, 1).astype(dtype))
    return plain if leg.flow > 0 else twist(plain, 0)


@lru_cache(maxsize=64)
def identity(leg: Leg, split: int) -> np.ndarray:
    """The flat array of ``eye(leg)`` with `split` legs as rows; not to be written into."""
    where = layout((leg, leg.conj()), split, leg.symmetry.neutral, leg.symmetry)
    whole = np.concatenate([np.eye(dim).ravel() for dim in leg.dims])
    diagonal = where.pairing.find(np.repeat(np.arange(len(leg.dims)), 2).reshape(-1, 2))
    found = move(whole, table=gathering(where, tuple(diagonal.tolist())))
    found.flags.writeable = False
    return found


def from_dense(
    array: ArrayLike,
    legs: Leg | Sequence[Leg],
    charge: Charge | None = None,
    *,
    split: int | None = None,
    symmetry: SymmetryLike | None = None,
    tol: float | None = None,
) -> SymTensor:
    """The symmetric tensor of a dense array whose elements off the blocks are zero.

    Parameters
    ----------
    array : array
        Of one axis per leg, its entries sorted by sectors in the order of the leg.
    legs, charge, split, symmetry
        As in `zeros`.
    tol : float, optional
        How large an element off the blocks may be, which is left out then; by default rounding,
        ``16 eps`` times the largest element.

    Raises
    ------
    ArgumentError
        If an element off the blocks is larger: the message names it and its charges.
    ShapeError
        If the shape is not that of the legs.

    Examples
    --------
    >>> import numpy as np, qad
    >>> spin = qad.symmetric.Leg({1: 1, -1: 1}, flow=+1)
    >>> raising = np.array([[0.0, 1.0], [0.0, 0.0]])
    >>> qad.symmetric.from_dense(raising, (spin, spin.conj()), charge=2).blocks()
    {(1, -1): array([[1.]])}
    """
    if type(array) is SymTensor:
        raise ArgumentError("from_dense: the array is a symmetric tensor already; from_blocks takes a.blocks()")
    where, array = layout_for(legs, charge, split, symmetry, "from_dense"), as_operand(array)
    if tuple(array.shape) != where.shape:
        raise ShapeError(f"from_dense: the legs have shape {where.shape}, but the array has {tuple(array.shape)}")
    _require_symmetric(stack_of(value_of(array)), where, tol)
    return bare(where, move(array.reshape(-1), table=packing(where)))


def _require_symmetric(array, where, tol):
    """Raise where an element off the blocks is not zero; each array of a batch has its own rounding."""
    array = array.reshape(-1, *where.shape)
    every = tuple(range(1, array.ndim))
    inside = move(np.ones(where.size), table=unpacking(where)).reshape(where.shape) == 1
    inside = like(array).asarray(inside)
    off = np.where(inside, 0, np.abs(array))
    finite = np.where(inside & np.isfinite(array), np.abs(array), 0)  # infinity has no rounding
    largest = finite.max(axis=every, keepdims=True, initial=0.0) if every else finite
    allowed = 16 * np.finfo(array.dtype if array.dtype.kind in "fc" else float).eps * largest if tol is None else tol
    if (fits := off <= allowed).all():
        return
    place = tuple(map(int, np.unravel_index(int(np.argmax(np.where(fits, 0, off))), off.shape)))
    numbers = [
        max(i for i, start in enumerate(leg.starts) if start <= at)
        for leg, at in zip(where.legs, place[1:], strict=True)
    ]
    charges = [where.symmetry.shown(leg.charges[i]) for leg, i in zip(where.legs, numbers, strict=True)]
    raise ArgumentError(
        f"from_dense: element {place[1:]} is {array[place]:.6g}, but its block of charges {tuple(charges)} is not "
        f"allowed with flows {tuple(leg.flow for leg in where.legs)} and total charge {where.charge}: give another "
        f"charge, other legs, or tol={off[place]:.1g} where it is noise"
    )


def from_blocks(
    blocks: Mapping[Any, ArrayLike],
    legs: Leg | Sequence[Leg],
    charge: Charge | None = None,
    *,
    split: int | None = None,
    symmetry: SymmetryLike | None = None,
) -> SymTensor:
    """The symmetric tensor with the given blocks; those that are not given are zero.

    Parameters
    ----------
    blocks : dict of tuple to array
        Keys are the charges of the legs, as in `SymTensor.blocks`.
    legs, charge, split, symmetry
        As in `zeros`.

    Raises
    ------
    ArgumentError
        If a block is not allowed, is given twice, or none is given.
    ShapeError
        If a block has not the shape that its sectors have.

    Examples
    --------
    >>> import numpy as np, qad
    >>> spin = qad.symmetric.Leg({1: 1, -1: 1}, flow=+1)
    >>> sz = qad.symmetric.from_blocks({(1, 1): [[0.5]], (-1, -1): [[-0.5]]}, (spin, spin.conj()))
    >>> sz.to_dense()
    array([[ 0.5,  0. ],
           [ 0. , -0.5]])
    """
    where, arrays, given = layout_for(legs, charge, split, symmetry, "from_blocks"), [], []
    allowed, shapes = {key: number for number, key in enumerate(where.charges)}, where.arrays.shapes.tolist()
    for key, array in blocks.items():
        key = tuple(
            [where.symmetry.shown(where.symmetry.charge(q)) for q in (key if isinstance(key, tuple) else (key,))]
        )
        if key not in allowed:
            raise ArgumentError(
                f"from_blocks: no block of charges {key} is allowed with legs {where.legs} and charge {where.charge}"
            )
        array, number = as_operand(array), allowed[key]
        if number in given:
            raise ArgumentError(f"from_blocks: the block of charges {key} is given twice")
        if list(array.shape) != shapes[number]:
            raise ShapeError(
                f"from_blocks: the block of charges {key} has shape {tuple(shapes[number])}, not {tuple(array.shape)}"
            )
        arrays.append(array.reshape(-1))
        given.append(number)
    if not arrays:
        raise ArgumentError("from_blocks: no block is given: write qad.symmetric.zeros for a tensor of zeros")
    return bare(where, move(np.concatenate(arrays), table=gathering(where, tuple(given))))
