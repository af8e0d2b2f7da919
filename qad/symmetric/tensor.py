"""Symmetric tensors: the blocks that conservation of charges allows, in one flat array."""

from __future__ import annotations

from math import prod
from operator import index
from types import NoneType
from typing import TYPE_CHECKING

import numpy as np

from qad.contract.notation.operands import as_operand
from qad.core.errors import ArgumentError, ShapeError
from qad.core.trees import register
from qad.linalg.functions.norm import norm
from qad.linalg.support.lengths import length
from qad.symmetric.blocks.layout import Layout, in_range, layout, named
from qad.symmetric.blocks.moves import between, move, unpacking
from qad.symmetric.legs import same_legs
from qad.symmetric.operators import Refusals, refused

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

    from qad.symmetric.groups import Charge, Symmetry
    from qad.symmetric.legs import Leg
    from qad.typing import Array, ArrayLike, DTypeLike, Number, Real

__all__ = ["SymTensor", "aligned", "as_symmetric", "bare", "moved"]


class SymTensor(Refusals):
    """A tensor that conserves charges: only blocks whose charges add up to its total charge are kept.

    Made by `qad.symmetric.random`, `zeros`, `eye`, `from_dense`, `from_blocks`.  Immutable, and a pytree whose only
    leaf is the flat array of its blocks: transforms, optimisers and `qad.freeze` take it as an argument, and a gradient
    is a SymTensor of the same legs.

    Parameters
    ----------
    layout : Layout
        The legs, the total charge, and where the blocks lie.
    data : array (layout.size,)

    Attributes
    ----------
    legs : tuple of Leg
    charge : int, or tuple of int
        The total charge: of every block the sum of the charges of its legs, each times its flow.
    data : array (size,)
        All blocks (`Layout`).
    layout : Layout
    symmetry : Symmetry
    shape, ndim, dtype
        Of the dense tensor.
    size : int
        The number of elements that are kept.

    Examples
    --------
    >>> import numpy as np, qad
    >>> left, right = qad.symmetric.Leg({0: 1, 1: 2}, flow=+1), qad.symmetric.Leg({0: 2, 1: 1}, flow=-1)
    >>> a = qad.symmetric.random((left, right), charge=0, seed=0)
    >>> a
    SymTensor(shape (3, 3), charge 0, 2 sectors, size 4 of 9, float64)
    >>> qad.grad(lambda a: qad.symmetric.norm(a) ** 2)(a).data / a.data
    array([2., 2., 2., 2.])
    """

    __slots__ = ("layout", "data")
    layout: Layout
    data: Any

    def __init__(self, layout: Layout, data: ArrayLike):
        if type(layout) is not Layout:
            raise ArgumentError(
                "SymTensor takes a layout and its data: make tensors by qad.symmetric.random, from_dense"
            )
        data = as_operand(data)
        if data.shape != (layout.size,):
            raise ShapeError(f"SymTensor: data of shape {data.shape} do not fill {layout!r}")
        self.layout, self.data = layout, data

    @property
    def legs(self) -> tuple[Leg, ...]:
        """The legs, in the order of the axes."""
        return self.layout.legs

    @property
    def charge(self) -> Charge:
        """The total charge."""
        return self.layout.charge

    @property
    def symmetry(self) -> Symmetry:
        """The symmetry, of which `str` gives the name."""
        return self.layout.symmetry

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the dense tensor."""
        return self.layout.shape

    @property
    def ndim(self) -> int:
        """The number of legs."""
        return len(self.layout.legs)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the elements."""
        return self.data.dtype

    @property
    def size(self) -> int:
        """The number of elements that are kept."""
        return self.layout.size

    # -- what it holds -------------------------------------------------------------------------------------------------

    def blocks(self) -> dict[tuple[Charge, ...], Array]:
        """Each block, shape (dimension of its sector on each leg), by the charges of its legs; views where possible."""
        where, matrices, found = self.layout, self.sectors(), {}
        places = where.pairing.sectors.tolist(), where.arrays.starts.tolist(), where.arrays.shapes.tolist()
        for charges, number, start, shape in zip(where.charges, *places, strict=True):
            sector, rows = where.sectors[number], prod(shape[: where.split])
            row, column = divmod(start - sector.start, sector.columns)
            own = matrices[number][row : row + rows, column : column + prod(shape[where.split :])]
            found[charges] = own.reshape(shape)
        return found

    def sectors(self) -> list[Array]:
        """The matrix of each sector of the layout, legs before its split against those behind."""
        data = as_symmetric(self, "sectors").data
        return [data[s.start : s.start + s.rows * s.columns].reshape(s.rows, s.columns) for s in self.layout.sectors]

    def to_dense(self) -> Array:
        """The dense array, zero off the blocks; sectors lie along each axis in the order of the leg.

        Examples
        --------
        >>> import qad
        >>> qad.symmetric.eye(qad.symmetric.Leg({0: 1, 1: 1}, flow=+1)).to_dense()
        array([[1., 0.],
               [0., 1.]])
        """
        return move(as_symmetric(self, "to_dense").data, table=unpacking(self.layout)).reshape(self.shape)

    def item(self) -> Number:
        """The number that a tensor without legs is; 0 where its charge is not neutral."""
        if self.ndim:
            raise ShapeError(f"item: {self!r} is no number: it has {self.ndim} legs")
        return as_symmetric(self, "item").data.sum()

    # -- legs ----------------------------------------------------------------------------------------------------------

    def transpose(self, *axes: Any) -> SymTensor:
        """The same tensor with its legs in another order; reversed where none is given.

        Parameters
        ----------
        *axes : int, or one sequence of int

        Examples
        --------
        >>> import qad
        >>> left, right = qad.symmetric.Leg({0: 1, 1: 2}, flow=+1), qad.symmetric.Leg({0: 2, 1: 1}, flow=-1)
        >>> qad.symmetric.random((left, right), seed=0).transpose(1, 0).legs
        (Leg({0: 2, 1: 1}, flow=-1), Leg({0: 1, 1: 2}, flow=+1))
        """
        axes = axes[0] if len(axes) == 1 and not hasattr(axes[0], "__index__") else axes
        order = tuple(range(self.ndim))[::-1] if not axes else permutation(axes, self.ndim)
        split = self.layout.split
        return moved(self, order, split if set(order[:split]) == set(range(split)) else self.ndim - split)

    @property
    def T(self) -> SymTensor:
        """The legs in reversed order."""
        return self.transpose()

    def conj(self) -> SymTensor:
        """The complex conjugate: the flows of all legs and the total charge change their sign.

        Of fermions it is the adjoint, whose legs stand in reversed order, with its legs in the order of this tensor:
        ``tensordot(a, b, 1).conj()`` is ``tensordot(b.conj(), a.conj(), ...)``.
        """
        data, whole = self.data, tuple(range(self.ndim))
        signs = between(self.layout, self.layout, whole, whole[::-1])
        data = data if signs is None else move(data, table=signs)
        return bare(self.layout.conj, data.conj() if data.dtype.kind == "c" else data)

    def resplit(self, split: int) -> SymTensor:
        """The same tensor, its data laid out as matrices with the first `split` legs as rows."""
        return moved(self, tuple(range(self.ndim)), in_range(split, self.ndim, "resplit"))

    # -- numbers -------------------------------------------------------------------------------------------------------

    def astype(self, dtype: DTypeLike) -> SymTensor:
        """The same tensor in another dtype."""
        return bare(self.layout, self.data.astype(dtype))

    def norm(self) -> Real:
        """The Frobenius norm."""
        data = as_symmetric(self, "norm").data
        return np.finfo(data.dtype).dtype.type(length(data)) if type(data) is np.ndarray else norm(data)

    def __add__(self, other: SymTensor) -> SymTensor:
        return bare(self.layout, self.data + aligned(self, other, "+"))

    def __radd__(self, other: Any) -> SymTensor:
        return self if type(other) is int and other == 0 else refused("+", other)  # sum(tensors) begins with 0

    def __sub__(self, other: SymTensor) -> SymTensor:
        return bare(self.layout, self.data - aligned(self, other, "-"))

    def __rsub__(self, other: Any) -> NoReturn:
        refused("-", other)

    def __neg__(self) -> SymTensor:
        return bare(self.layout, -self.data)

    def __pos__(self) -> SymTensor:
        return self

    def __mul__(self, factor: Number) -> SymTensor:
        return bare(self.layout, self.data * factor) if _is_number(factor) else refused("*", factor)

    __rmul__ = __mul__
    __array_ufunc__ = None  # NumPy's numbers and Tensors leave the product to us

    def __truediv__(self, divisor: Number) -> SymTensor:
        return bare(self.layout, self.data / divisor) if _is_number(divisor) else refused("/", divisor)

    def __float__(self) -> float:
        return float(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
        raise ArgumentError("a symmetric tensor is no array: write a.to_dense(), or take a.data or a.blocks()")

    def __repr__(self) -> str:
        whole, stack = int(np.prod(self.shape)), getattr(self.data, "shape", ())[:-1]
        return (
            f"SymTensor({f'stack {stack} of ' * bool(stack)}shape {self.shape}, charge {self.charge}, "
            f"{len(self.layout.sectors)} sectors, size {self.size} of {whole}, {self.dtype})"
        )


def _is_number(x):
    return type(x) not in (SymTensor, str, NoneType) and np.ndim(x) == 0


def bare(where: Layout, data: Any) -> SymTensor:
    """A tensor of whatever stands in a pytree's place, unchecked."""
    tensor = object.__new__(SymTensor)
    tensor.layout, tensor.data = where, data
    return tensor


register(SymTensor, lambda tensor: ((tensor.data,), tensor.layout), lambda where, subtrees: bare(where, subtrees[0]))


def as_symmetric(a: Any, owner: str) -> SymTensor:
    """The argument of a function for symmetric tensors; raises where it is another one, or a stack of them."""
    if type(a) is not SymTensor:
        raise ArgumentError(f"{owner}: takes a symmetric tensor, not {type(a).__name__}: see qad.symmetric.from_dense")
    if a.data.shape != (a.layout.size,):
        raise ShapeError(
            f"{owner}: these are stacked data of shape {a.data.shape}, as of qad.vmap or qad.jacobian, and no tensor: "
            "write qad.vmap over them, or SymTensor(a.layout, a.data[i])"
        )
    return a


def moved(tensor: SymTensor, axes: tuple[int, ...], split: int) -> SymTensor:
    """The tensor with leg ``axes[i]`` in place i, laid out with the first `split` legs as rows."""
    source = tensor.layout
    target = layout(tuple([source.legs[axis] for axis in axes]), split, source.total, source.symmetry)
    table = between(source, target, axes)
    return bare(target, tensor.data if table is None else move(tensor.data, table=table))


def aligned(one: SymTensor, two: SymTensor, owner: str) -> Array:
    """The data of the second tensor in the layout of the first; raises where their legs or charges differ."""
    if type(two) is not SymTensor:
        refused(owner, two)
    if two.layout is one.layout:
        return two.data
    if one.symmetry is not two.symmetry or not same_legs(one.legs, two.legs):
        raise ShapeError(f"{owner}: tensors of different legs: {named(one.legs)} and {named(two.legs)}")
    if one.layout.total != two.layout.total:
        raise ShapeError(f"{owner}: tensors of total charges {one.charge} and {two.charge} are never of one kind")
    return moved(two, tuple(range(two.ndim)), one.layout.split).data


def permutation(axes: Sequence[int], ndim: int) -> tuple[int, ...]:
    """Axes as numbers from 0; raises unless each stands there once."""
    try:
        order = tuple([index(axis) + ndim * (index(axis) < 0) for axis in axes])
    except TypeError:
        order = ()
    if sorted(order) != list(range(ndim)):
        raise ArgumentError(f"transpose: axes {axes!r} are no order of the {ndim} axes: name each once")
    return order
