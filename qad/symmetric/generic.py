"""One set of functions for plain arrays and for symmetric tensors, on which algorithms of chains are written once.

Each looks at the type of its argument, which takes a microsecond.  A tensor is a map from its first legs to the others,
one matrix for each sector; of a plain array, which has no charges, there is one sector, of charge ``()``.  So a
decomposition is one of matrices, and of how they are put together again.  Arrays take neither NumPy's protocol for
classes, which costs more than a product of small matrices, nor a symmetry with a single charge.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from qad import linalg
from qad.extend import like, stack_of, value_of
from qad.linalg.support.drivers import singular_triples
from qad.linalg.support.lengths import length
from qad.symmetric import decompositions, maps, summing, truncation
from qad.symmetric.blocks.layout import Layout, layout
from qad.symmetric.contraction import contraction, result_of, tensordot
from qad.symmetric.create import eye, from_dense
from qad.symmetric.fusing import fuse
from qad.symmetric.legs import Leg
from qad.symmetric.maps import bond_leg, columns_of, in_order_of, joined, rows_of
from qad.symmetric.scaling import scale, twist
from qad.symmetric.tensor import SymTensor, aligned, as_symmetric, bare

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from qad.symmetric.groups import Charge
    from qad.typing import Array

    Pairs: TypeAlias = "tuple[tuple[int, ...], tuple[int, ...]]"

__all__ = [
    "aligned_numbers", "as_map", "bond_and_columns", "charges_of", "dense", "direct_sum", "fused", "halves_of", "join",
    "laid_out", "leg_sizes", "lq", "matrices_on_columns", "norm", "numbers", "of_map", "opposite_charges", "orders",
    "padded", "plain", "qr", "rows_and_bond", "scaled", "split", "stacked", "straight", "svd", "truncated_svd",
    "twisted", "unit", "with_numbers",
]  # fmt: skip


class MatrixShape(NamedTuple):
    """The shape of a plain array as a map: of its rows, and of its columns."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]


def join(a: Any, b: Any, axes: int | Pairs = 1) -> Any:
    """Contract the last axes of one tensor with the first of another, or those of two tuples: `tensordot`."""
    if type(a) is SymTensor:
        if type(axes) is int or type(b) is not SymTensor:
            return tensordot(a, b, axes)
        how = contraction(as_symmetric(a, "join").layout, as_symmetric(b, "join").layout, *axes)
        return result_of(how.out, how.run(a.data, b.data))
    first, second, count = orders(a.ndim, b.ndim, axes)
    a = a if first is None else a.transpose(first)
    b = b if second is None else b.transpose(second)
    rows, columns = a.shape[: a.ndim - count], b.shape[count:]
    inner = prod(b.shape[:count])
    return (a.reshape(prod(rows), inner) @ b.reshape(inner, prod(columns))).reshape((*rows, *columns))


@lru_cache(maxsize=1024)
def orders(
    one: int, two: int, axes: int | Pairs
) -> tuple[tuple[int, ...] | None, tuple[int, ...] | None, int]:  # fmt: skip
    """The orders in which both arrays are read as matrices, None where they lie so, and the number of joined axes."""
    if isinstance(axes, int):
        return None, None, axes
    first = (*[axis for axis in range(one) if axis not in axes[0]], *axes[0])
    second = (*axes[1], *[axis for axis in range(two) if axis not in axes[1]])
    found = [None if order == tuple(range(len(order))) else order for order in (first, second)]
    return found[0], found[1], len(axes[0])


def laid_out(x: Any, rows: int) -> Any:
    """The same tensor, its numbers in the order of matrices with so many legs as rows."""
    if type(x) is SymTensor:
        return x.resplit(rows)
    return like(x).ascontiguousarray(x) if stack_of(value_of(x)) is x else x  # recorded, it has no order of its own


def direct_sum(a: Any, b: Any, axes: Sequence[int]) -> Any:
    """Two tensors as blocks of one along one or two legs; along the others they lie over each other and are added."""
    if type(a) is SymTensor:
        return summing.direct_sum(a, b, axes)
    if len(axes) == 1:
        return np.concatenate([a, b], axis=axes[0])
    one, two = axes
    above, below = list(a.shape), list(b.shape)
    above[two], below[two] = b.shape[two], a.shape[two]
    upper = np.concatenate([a, like(a).zeros(above, a.dtype)], axis=two)
    lower = np.concatenate([like(b).zeros(below, b.dtype), b], axis=two)
    return np.concatenate([upper, lower], axis=one)


def stacked(x: Any, rows: np.ndarray) -> Any:
    """Tensors of the legs of `x`, one for each row of numbers, as one with a leg in front."""
    if type(x) is not SymTensor:
        return rows.reshape(-1, *x.shape)
    group = x.symmetry
    where = layout((Leg({group.neutral: len(rows)}, 1, group), *x.legs), 1, x.layout.total, group)
    return bare(where, np.concatenate([with_numbers(x, row).resplit(0).data for row in rows]))


def padded(x: Any, other: Any) -> Any:
    """The tensor with zeros along its last leg for the first leg of another."""
    if type(x) is not SymTensor:
        return np.concatenate([x, like(x).zeros((*x.shape[:-1], other.shape[0]), x.dtype)], axis=x.ndim - 1)
    last, where = x.ndim - 1, layout((*x.legs[:-1], other.legs[0].conj()), x.ndim - 1, x.layout.total, x.symmetry)
    return summing.direct_sum(laid_out(x, last), bare(where, like(x.data).zeros(where.size, x.dtype)), (last,))


def fused(x: Any, counts: Sequence[int], flows: Sequence[int]) -> Any:
    """Neighbouring legs fused, so many to each new one; those of symmetric tensors to legs of these flows."""
    if type(x) is not SymTensor:
        ends = np.cumsum(counts).tolist()
        return x.reshape([prod(x.shape[end - count : end]) for count, end in zip(counts, ends, strict=True)])
    for place, (count, flow) in enumerate(zip(counts, flows, strict=True)):
        x = x if count == 1 else fuse(x, range(place, place + count), flow)
    return x


def unit(like: Any, flows: Sequence[int]) -> Any:
    """The number 1 with legs of dimension 1, those of a symmetric tensor neutral and of these flows."""
    if type(like) is not SymTensor:
        return np.ones([1] * len(flows), like.dtype)
    group = like.symmetry
    return from_dense(np.ones([1] * len(flows), like.dtype), [Leg({group.neutral: 1}, q, group) for q in flows])


def straight(x: Any, axis: int) -> Any:
    """The identity that leads a leg of a tensor on: the leg that joins it, and one like it."""
    return eye(x.legs[axis].conj(), x.dtype) if type(x) is SymTensor else np.eye(x.shape[axis], dtype=x.dtype)


# -- numbers -----------------------------------------------------------------------------------------------------------


def numbers(x: Any) -> Array:
    """The numbers of a tensor as a vector."""
    return x.data if type(x) is SymTensor else x.reshape(-1)


def with_numbers(x: Any, values: Array) -> Any:
    """A tensor of the legs of `x` with other numbers."""
    return bare(x.layout, values) if type(x) is SymTensor else values.reshape(x.shape)


def aligned_numbers(x: Any, y: Any) -> Array:
    """The numbers of `y`, of the same legs, in the order of those of `x`."""
    return aligned(x, y, "join") if type(x) is SymTensor else y.reshape(-1)


def plain(x: Any) -> Any:
    """The tensor of what stands behind numbers that are recorded."""
    return with_numbers(x, value_of(x.data)) if type(x) is SymTensor else value_of(x)


def dense(x: Any) -> Array:
    """The array of a tensor."""
    return x.to_dense() if type(x) is SymTensor else x


def norm(x: Any) -> float:
    """The Frobenius norm of plain numbers."""
    return length(numbers(x))


# -- maps --------------------------------------------------------------------------------------------------------------


def as_map(x: Any, rows: int) -> tuple[Layout | MatrixShape, list[Array]]:
    """A tensor as a map from its first legs to the others: where its matrices stand, and the matrix of each sector."""
    if type(x) is SymTensor:
        x = x.resplit(rows)
        return x.layout, x.sectors()
    where = MatrixShape(x.shape[:rows], x.shape[rows:])
    return where, [x.reshape(prod(where.rows), -1)]


def of_map(where: Layout | MatrixShape, matrices: Sequence[Array]) -> Any:
    """The tensor of the matrices of all sectors of a map."""
    if type(where) is Layout:
        return bare(where, joined(matrices))
    return matrices[0].reshape(*where.rows, *where.columns)


def matrices_on_columns(where: Layout | MatrixShape, act: Callable[[Any], Any]) -> list[Array]:
    """The matrix of each sector by which the columns of a map are multiplied from the right, from what does so."""
    sizes = [sector.columns for sector in where.sectors] if type(where) is Layout else [prod(where.columns)]
    shape, found = as_map(act(bond_and_columns(where, [np.eye(size) for size in sizes])), 1)
    table = dict(zip(charges_of(shape), found, strict=True))
    return [table[charge] for charge in charges_of(where)]


def charges_of(where: Layout | MatrixShape) -> list[Charge]:
    """The charge of each sector of a map."""
    return [sector.charge for sector in where.sectors] if type(where) is Layout else [()]


def opposite_charges(where: Layout | MatrixShape) -> list[Charge]:
    """The opposite of the charge of each sector of a map."""
    return [where.symmetry.opposite(q) for q in charges_of(where)] if type(where) is Layout else [()]


def leg_sizes(x: Any, axis: int) -> dict[Charge, int]:
    """The dimension of each charge on a leg."""
    if type(x) is SymTensor:
        return dict(zip(x.legs[axis].charges, x.legs[axis].dims, strict=True))
    return {(): x.shape[axis]}


def rows_and_bond(where: Layout | MatrixShape, halves: Sequence[Array], owner: str = "a chain") -> Any:
    """The tensor of the rows of a map and a new bond, from a matrix for each sector, some of which have no columns."""
    if type(where) is Layout:
        bond = bond_leg(where, [half.shape[1] for half in halves], owner)
        return rows_of(where, bond, halves)
    return halves[0].reshape(*where.rows, -1)


def bond_and_columns(where: Layout | MatrixShape, halves: Sequence[Array], owner: str = "a chain") -> Any:
    """The tensor of a new bond and the columns of a map, from a matrix for each sector, some of which have no rows."""
    if type(where) is Layout:
        bond = bond_leg(where, [half.shape[0] for half in halves], owner)
        return columns_of(where, bond, in_order_of(bond, where, halves))
    return halves[0].reshape(-1, *where.columns)


def halves_of(
    where: Layout | MatrixShape, pairs: Sequence[tuple[Array, Array]], owner: str = "a chain"
) -> tuple[Any, Any]:
    """Both factors of a map, joined by a new bond, from a pair of matrices for each sector."""
    if type(where) is Layout:
        return maps.halves(where, pairs, owner)
    ((left, right),) = pairs
    return left.reshape(*where.rows, -1), right.reshape(-1, *where.columns)


# -- decompositions ----------------------------------------------------------------------------------------------------


def scaled(x: Any, factors: Array, axis: int) -> Any:
    """The tensor times a factor for each value of the index of a leg."""
    if type(x) is SymTensor:
        return scale(x, factors, axis)
    return x * factors.reshape(-1, *[1] * (x.ndim - 1 - axis))


def twisted(x: Any, axes: Sequence[int]) -> Any:
    """The tensor with the other sign of what is odd on some legs."""
    return twist(x, axes) if type(x) is SymTensor else x


def svd(x: Any, rows: int = 2) -> tuple[Any, Array, Any]:
    """``x = U diag(s) V``; the singular values in the order of the new bond, descending in each sector."""
    if type(x) is SymTensor:
        return decompositions.svd(x, rows)
    where, (matrix,) = as_map(x, rows)
    u, s, vh = singular_triples(matrix)
    return u.reshape(*where.rows, -1), s, vh.reshape(-1, *where.columns)


def truncated_svd(x: Any, rows: int, max_rank: int, cutoff: float) -> tuple[Any, Array, Any]:
    """The same of the largest values of all sectors together, above `cutoff` times the very largest."""
    if type(x) is SymTensor:
        return truncation.truncated_svd(x, max_rank, cutoff, split=rows, multiplets="cut")[:3]
    u, s, vh = svd(x, rows)
    rank = min(max_rank, int(np.count_nonzero(s > cutoff * s[0])))
    return u[..., :rank], s[:rank], vh[:rank]


def split(x: Any, rows: int, max_rank: int | None, cutoff: float | None, multiplets: str) -> tuple[Any, Any]:
    """Two halves of equal weight, with derivatives: `qad.linalg.split`, `qad.symmetric.split`."""
    if type(x) is SymTensor:
        return truncation.split(x, max_rank, cutoff, split=rows, multiplets=multiplets)
    where, (matrix,) = as_map(x, rows)
    low, high = linalg.split(matrix, max_rank, cutoff, multiplets=multiplets)
    return low.reshape(*where.rows, -1), high.reshape(-1, *where.columns)


def qr(x: Any, rows: int = 2, pair: Callable[[Array], tuple[Array, Array]] = np.linalg.qr) -> tuple[Any, Any]:
    """``x = Q R``: an isometry from the new bond to the first legs, and the rest; of a matrix by `pair`."""
    where, matrices = as_map(x, rows)
    return halves_of(where, [pair(matrix) for matrix in matrices])


def lq(x: Any, pair: Callable[[Array], tuple[Array, Array]] = np.linalg.qr) -> tuple[Any, Any]:
    """``x = L Q``: the rest on the first leg, and an isometry from the new bond to the other legs.

    Of fermions it is `qr` of the conjugate: transposed matrices of sectors would not be isometric where two of them are
    exchanged.
    """
    if type(x) is not SymTensor or not x.symmetry.fermionic:
        where, matrices = as_map(x, 1)
        pairs = [pair(matrix.T) for matrix in matrices]
        return halves_of(where, [(r.T.copy(), q.T.copy()) for q, r in pairs])
    last = x.ndim - 1
    isometry, rest = qr(x.conj().transpose(*range(1, last + 1), 0), last, pair)
    return rest.conj().transpose(1, 0), laid_out(isometry.conj().transpose(last, *range(last)), last)
