"""Traces: of a matrix, of a product of matrices that is never formed, and over factors of a tensor product."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from qad.contract.notation.contractors import contractor_of
from qad.contract.notation.operands import as_operand, recorded
from qad.contract.plan.planner import find_plan
from qad.core.errors import ArgumentError, ShapeError
from qad.extend import One, Tensor, core, primitive, quick, quick_product, rule
from qad.rules.protocol.structured_cotangents import ScaledIdentity
from qad.rules.shapes.diagonal import matrix_trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Array, ArrayLike

__all__ = ["tr", "partial_trace"]


def tr(*factors: ArrayLike) -> Array:
    r"""The trace of a matrix or of a product of matrices.

    Parameters
    ----------
    *factors : array, shape (..., m, n)
        One or more; leading axes broadcast.  The columns of each are as many as the rows of the next, those of the last
        as many as the rows of the first.

    Returns
    -------
    scalar or array, shape (...)

    Raises
    ------
    ShapeError
        The ring of factors does not close.

    Notes
    -----
    :math:`\operatorname{tr}(AB) = \sum_{ij} A_{ij} B_{ji}`, with derivative :math:`\partial/\partial A = B^T`: neither
    forms the product.  More factors are multiplied in the cheapest order for value and gradient, of all that the
    cyclic symmetry allows, and the last product is never formed.

    Examples
    --------
    >>> import numpy as np, qad
    >>> float(qad.tr(np.diag([1.0, 2.0]), np.ones((2, 2))))
    3.0
    >>> qad.grad(lambda x: qad.tr(x, x))(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[2., 6.],
           [4., 8.]])
    """
    count = len(factors)
    if count == 1 and type(factors[0]) is Tensor:  # the common case, quickly
        return _quick_trace(factors[0])
    if count == 2:
        return _quick_product(factors[0], factors[1])
    if (kind := contractor_of(factors)) is not None:
        return _of_kind(kind, factors)
    if count == 1:
        return _quick_trace(as_operand(factors[0]))
    return _ring(list(map(as_operand, factors)))


@primitive
def ring_trace(a: Array) -> Array:
    """The trace of a square matrix, or of each of a stack of them."""
    shape = a.shape
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise _open_ring((a,))
    return matrix_trace(a)


rule(ring_trace, lambda g, ans, a: ScaledIdentity(g, a.shape), linear=True, batch=core(2), fresh=True, lazy=(One,))


@primitive
def trace_product(a: Array, b: Array) -> Array:
    """The trace of a product of two matrices, which is not formed."""
    turned = b.T
    if turned.shape != a.shape:
        raise _open_ring((a, b))
    return a.ravel().dot(turned.ravel())


rule(
    trace_product,
    lambda g, ans, a, b: g * b.T,
    lambda g, ans, a, b: g * a.T,
    linear=True,
    batch=lambda batched, a, b: _ring([a, b]),
    fresh=True,
    lazy=(One,),
)


def _of_kind(kind, factors):
    """The trace of a product of tensors of another kind."""
    return kind.network(factors, tuple([(i, (i + 1) % len(factors)) for i in range(len(factors))]), ())


def _any_two(a, b):
    if (kind := contractor_of((a, b))) is not None:
        return _of_kind(kind, (a, b))
    a, b = as_operand(a), as_operand(b)
    return trace_product(a, b) if a.ndim == b.ndim == 2 else _ring([a, b])


_quick_trace = quick(ring_trace)
_quick_product = quick_product(trace_product, trace_product.__wrapped__, _any_two)


def _ring(factors):
    shapes = tuple([factor.shape for factor in factors])
    wanted = recorded(factors)
    return _ring_plan(shapes, wanted).execute(list(factors), wanted)


@lru_cache(maxsize=1024)
def _ring_plan(shapes, variables):
    count = len(shapes)
    if (
        not count
        or min(map(len, shapes)) < 2
        or any(shapes[place - 1][-1] != shapes[place][-2] for place in range(count))
    ):
        raise _open_ring(shapes)
    terms = tuple((Ellipsis, place, (place + 1) % count) for place in range(count))
    return find_plan(terms, (Ellipsis,), shapes, variables)


def _open_ring(factors):
    shapes = [factor if type(factor) is tuple else factor.shape for factor in factors]
    return ShapeError(
        f"tr: factors of shapes {shapes} do not close a ring: the last axis of each must be as long as the "
        "last but one of the next, and of the last as that of the first; write qad.tr(A, B.mT) to transpose one"
    )


def partial_trace(rho: ArrayLike, dims: Sequence[int], keep: int | Sequence[int]) -> Array:
    """Trace a matrix on a tensor product of spaces over some of the spaces.

    Parameters
    ----------
    rho : array, shape (..., D, D)
        D is the product of `dims`; leading axes are a batch.
    dims : sequence of int
        The dimensions of the spaces, the first one most significant, as `numpy.kron` orders them.
    keep : int or sequence of int
        The spaces that remain, in the order in which they are wanted; negative ones count from the end.

    Returns
    -------
    array, shape (..., d, d)
        d is the product of the kept dimensions.

    Raises
    ------
    ShapeError
        The matrix is not D by D.
    ArgumentError
        `keep` names a space twice, or one that does not exist.

    Examples
    --------
    >>> import numpy as np, qad
    >>> bell = np.array([1.0, 0, 0, 1.0]) / np.sqrt(2)
    >>> qad.partial_trace(np.outer(bell, bell), (2, 2), keep=0)
    array([[0.5, 0. ],
           [0. , 0.5]])
    """
    rho = as_operand(rho)
    dims = tuple(map(int, dims))
    keep = (int(keep),) if np.ndim(keep) == 0 else tuple(map(int, keep))
    if rho.shape[-2:] != (prod(dims),) * 2:
        raise ShapeError(
            f"partial_trace: a matrix on spaces of dimensions {dims} has shape (..., {prod(dims)}, "
            f"{prod(dims)}), not {rho.shape}"
        )
    count = len(dims)
    if len({space % count for space in keep if -count <= space < count}) < len(keep):
        raise ArgumentError(f"partial_trace: keep={keep} must name different spaces among 0 to {count - 1}")
    keep = [space % count for space in keep]
    batch = rho.shape[:-2]
    columns = [count + space if space in keep else space for space in range(count)]
    size = prod(dims[space] for space in keep)
    term = (Ellipsis, *range(count), *columns)
    output = (Ellipsis, *keep, *(count + space for space in keep))
    rho = rho.reshape((*batch, *dims, *dims))
    wanted = recorded([rho])
    found = find_plan((term,), output, (rho.shape,), wanted).execute([rho], wanted)
    return found.reshape((*batch, size, size))
