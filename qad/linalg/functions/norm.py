"""Norms of vectors and matrices.

Where a norm has a kink (at zero, for the Euclidean ones) the gradient is the subgradient zero; a largest
singular value that is degenerate shares its gradient equally among its multiplet.

Singular values are known to ``10 n eps`` of the largest, and those that are closer to each other count as equal.
Vectors are known to ``eps / gap``.  Between that gap and the gap at which vectors have four digits left, the derivative
cannot be attributed to one value or to several, and is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from qad.core.errors import ArgumentError
from qad.extend import AXIS, core, implements, primitive, rule, stack_of, unrecorded
from qad.linalg.decompositions.svd import factored
from qad.linalg.support import tolerances
from qad.linalg.support.check import batch_entry, finite
from qad.rules.elementwise.complex import abs2
from qad.rules.reductions.scales import length_along, over

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike, Axis


@implements(np.linalg.norm)
def norm(x: ArrayLike, ord: float | str | None = None, axis: Axis | None = None, keepdims: bool = False) -> Array:
    """Norm of vectors or matrices, with NumPy's signature.

    Parameters
    ----------
    x : array
    ord : None, a number, inf, -inf, "fro" or "nuc"
        As in `numpy.linalg.norm`; ``ord=0`` counts nonzero entries and has no derivative.
    axis : int, pair of int or None
        One axis: vectors. Two: matrices. None: all of `x`.
    keepdims : bool
        Whether the axes stay, with size one.

    Returns
    -------
    real array
        The shape of `x` without `axis`.

    Raises
    ------
    ArgumentError
        For an order that does not exist. For the second derivative of a Euclidean norm at zero, which does not exist:
        its square is ``np.sum(x.real**2 + x.imag**2)``. For the derivative of a singular value that is
        nearly zero, and not zero to rounding, where the subgradient is zero; for the second derivative of singular
        values where they are degenerate or zero.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(qad.linalg.norm)(np.array([3.0, 4.0]))
    array([0.6, 0.8])
    >>> qad.grad(qad.linalg.norm)(np.zeros(2))
    array([0., 0.])
    """
    if stack_of(x) is x or not x.size:
        return np.linalg.norm(_bare(x), ord, axis, keepdims)
    axes = _axes(x, axis)
    if axis is None and ord is None:
        return _finish(_length(x, axis=axes), axes, keepdims)
    if len(axes) == 1:
        return _finish(_vector(x, 2 if ord is None else ord, axes), axes, keepdims)
    if len(axes) == 2:
        return _finish(_matrix(x, "fro" if ord is None else ord, axes), axes, keepdims)
    raise ArgumentError(
        f"norm: {len(axes)} axes with ord={ord!r}; give one axis (vectors), two (matrices), or ord=None"
    )


def _bare(x):
    """A plain array, or one as empty as `x`."""
    return x if stack_of(x) is x else np.zeros_like(stack_of(x), shape=x.shape)


@implements(np.linalg.vector_norm)
def vector_norm(x: ArrayLike, /, *, axis: Axis | None = None, keepdims: bool = False, ord: float = 2) -> Array:
    """Norm of vectors: `norm`, but ``axis=None`` flattens `x` and several axes count as one vector.

    Parameters
    ----------
    x : array
    axis : int, tuple of int or None
        The axes of the vectors; None: all.
    keepdims : bool
        Whether the axes stay, with size one.
    ord : number, inf or -inf
        As in `norm`.

    Returns
    -------
    real array

    Raises
    ------
    ArgumentError
        For an order or an axis that does not exist; for second derivatives as in `norm`.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(qad.linalg.vector_norm)(np.array([[3.0], [4.0]]))
    array([[0.6],
           [0.8]])
    """
    if stack_of(x) is x or not x.size:
        return np.linalg.vector_norm(_bare(x), axis=axis, keepdims=keepdims, ord=ord)
    axes = _axes(x, axis)
    return _finish(_vector(x, ord, axes), axes, keepdims)


@implements(np.linalg.matrix_norm)
def matrix_norm(x: ArrayLike, /, *, keepdims: bool = False, ord: float | str = "fro") -> Array:
    """Norm of matrices over the last two axes: `norm` with ``axis=(-2, -1)``.

    Parameters
    ----------
    x : array (..., m, n)
    keepdims : bool
        Whether the axes stay, with size one.
    ord : "fro", "nuc", 1, -1, 2, -2, inf or -inf

    Returns
    -------
    real array (...)

    Raises
    ------
    ArgumentError
        For an order that does not exist; for second derivatives as in `norm`.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(qad.linalg.matrix_norm)(np.array([[3.0], [4.0]]))
    array([[0.6],
           [0.8]])
    """
    return norm(x, ord, (-2, -1), keepdims)


def _axes(x, axis):
    """The axes as a tuple of non-negative ints."""
    if axis is None:
        return tuple(range(x.ndim))
    try:
        return normalize_axis_tuple(axis, x.ndim)
    except ValueError:
        raise ArgumentError(f"norm: axis {axis} does not fit an array of {x.ndim} axes") from None


def _finish(n, axes, keepdims):
    """Drop the axes, which are kept as ones until here."""
    return n if keepdims else np.squeeze(n, axes)


def _vector(x, p, axes):
    """Vector norm of order `p` along `axes`, kept."""
    if isinstance(p, str):
        raise ArgumentError(f"norm: vectors have no norm {p!r}; give a number, or two axes")
    if p == 2:
        return _length(x, axis=axes)
    if p == 0:
        return np.sum(unrecorded(x) != 0, axis=axes, keepdims=True).astype(x.real.dtype)
    size = np.abs(x)
    if p == np.inf:
        return np.max(size, axis=axes, keepdims=True)
    if p == -np.inf:
        return np.min(size, axis=axes, keepdims=True)
    return np.sum(size, axis=axes, keepdims=True) if p == 1 else _p_norm(x, p, axes)


def _matrix(x, p, axes):
    """Matrix norm of order `p` over two `axes`, kept."""
    rows, columns = axes
    if p in ("fro", "f"):
        return _length(x, axis=axes)
    if p in (1, -1, np.inf, -np.inf):
        first, second = (rows, columns) if abs(p) == 1 else (columns, rows)
        extreme = np.max if p > 0 else np.min
        return extreme(np.sum(np.abs(x), axis=first, keepdims=True), axis=second, keepdims=True)
    if p not in ("nuc", 2, -2):
        raise ArgumentError(f"norm: matrices have no norm {p!r}; there are 'fro', 'nuc', 1, -1, 2, -2, inf and -inf")
    finite(stack_of(x), "norm")
    s = factored(np.moveaxis(x, axes, (-2, -1)), kinks=False, vectors=False)[1]
    n = np.sum(s, axis=-1) if p == "nuc" else _extreme(s, index=0 if p == 2 else -1)
    return n.reshape(tuple(1 if i in axes else size for i, size in enumerate(x.shape)))


@primitive(name="norm")
def _extreme(s, *, index):
    """The largest (index 0) or smallest (-1) of descending values (..., k)."""
    return s[..., index].copy()


def shares(s: Array, index: int) -> Array:
    """Weights (..., k), of sum one, of the descending singular values `s` in the derivative of number `index`.

    Raises
    ------
    ArgumentError
        If others are so close to it, and not equal, that their vectors are not known.
    """
    _require_known(stack_of(s), index)
    s = unrecorded(s)
    members = np.abs(s - s[..., index][..., None]) <= tolerances.zero(s.dtype, s.shape[-1]) * s[..., :1]
    return members / members.sum(axis=-1, keepdims=True)


def _require_known(s, index):
    largest, one = s[..., :1], s[..., index][..., None]
    gap, least = np.abs(s - one), tolerances.zero(s.dtype, s.shape[-1]) * largest
    near = (gap > least) & (gap < tolerances.lost(s.dtype) * largest)
    near &= one > least  # the norm at a value that is zero has subgradient zero
    bad = np.argwhere(near)
    if len(bad):
        *batch, i = bad[0]
        at = tuple(batch)
        raise ArgumentError(
            f"norm{batch_entry(batch)}: the {'smallest' if index else 'largest'} singular value {one[at][0]:.17g} and "
            f"{s[at][i]:.17g} (number {i}) are not equal, but so close that their vectors, which its derivative needs, "
            "are known to less than four digits. Keep the values apart, or use a smooth function of all "
            "of them"
        )


rule(
    _extreme,
    lambda g, ans, s, *, index: g[..., None] * shares(s, index),
    forward=lambda t, ans, s, *, index: (t * shares(s, index)).sum(-1),
    batch=core(1),
    fresh=True,
)


@primitive(name="norm")
def _length(x, *, axis):
    """Euclidean length along `axis`, kept; where squares overflow or lose digits the entries are scaled before."""
    return length_along(x, axis)


@primitive(name="norm")
def _direction(x, n):
    """``conj(x) / n``, zero where n is."""
    if type(n) is np.ndarray and np.count_nonzero(n) == n.size:  # the usual case
        return over(x.conj(), n)
    return over(x.conj(), np.where(n == 0, np.inf, n))


def _direction_x(g, ans, x, n):
    if (stack_of(n) == 0).any():
        raise ArgumentError(
            "norm: at zero a Euclidean norm has no second derivative. Differentiate its square, "
            "np.sum(x.real**2 + x.imag**2), or keep away from zero"
        )
    return (g / n).conj()


def _direction_n(g, ans, x, n):
    axes = tuple(i for i, size in enumerate(n.shape) if size == 1)
    return -(g * ans).real.sum(axis=axes, keepdims=True) / n


rule(
    _length,
    lambda g, n, x, *, axis: g * _direction(x, n),
    forward=lambda t, n, x, *, axis: (_direction(x, n) * t).real.sum(axis=axis, keepdims=True),
    batch=AXIS,
    fresh=True,
    root=lambda x, *, axis: np.sum(abs2(x), axis=axis, keepdims=True),
)
rule(
    _direction,
    _direction_x,
    _direction_n,
    forward=(_direction_x, lambda t, ans, x, n: -ans * (t / n)),
    batch=core(0, 0),
)


def _p_norm(x, p, axes):
    """``(sum |x|^p)^(1/p)`` along `axes`, kept; scaled, so that no power overflows; zeros have no derivative."""
    zero, size = unrecorded(x) == 0, np.abs(x)
    largest = np.max(unrecorded(size), axis=axes, keepdims=True, initial=0.0)
    largest = np.where(largest == 0, 1.0, largest)
    powers = np.where(zero, np.inf if p < 0 else 0.0, np.where(zero, 1.0, size / largest) ** p)
    total = np.sum(powers, axis=axes, keepdims=True)
    empty = (unrecorded(total) == 0) | np.isinf(unrecorded(total))
    return np.where(empty, 0.0, largest * np.where(empty, 1.0, total) ** (1 / p))
