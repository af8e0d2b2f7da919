"""Powers and chains of products: recorded product by product."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import implements, like, value_of
from qad.linalg.support.check import square

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from qad.typing import Array, ArrayLike


def matrix_power(a: ArrayLike, n: int) -> Array:
    """Integer power of square matrices, by repeated squaring; negative powers by the inverse.

    Parameters
    ----------
    a : array (..., k, k)
    n : int

    Returns
    -------
    array (..., k, k)

    Raises
    ------
    ShapeError
        If the matrices are not square.
    ArgumentError
        If `n` is not an integer, or an entry of `a` is not finite.
    LinAlgError
        For negative powers of a singular matrix.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(lambda a: np.trace(qad.linalg.matrix_power(a, 3)))(2.0 * np.eye(2))
    array([[12.,  0.],
           [ 0., 12.]])
    """
    a = square(a, "matrix_power")
    if not isinstance(n, (int, np.integer)):
        raise ArgumentError(f"matrix_power: the exponent {n!r} is not an integer; see qad.linalg.funm_herm for others")
    if value_of(a) is a:
        return np.linalg.matrix_power(a, n)
    if n == 0:
        return a * 0.0 + like(a).eye(a.shape[-1], dtype=a.dtype)
    base, n = (np.linalg.inv(a), -n) if n < 0 else (a, n)
    result = None
    while n:
        if n & 1:
            result = base if result is None else result @ base
        n >>= 1
        if n:
            base = base @ base
    return result


def multi_dot(arrays: Sequence[ArrayLike], *, out: NDArray[Any] | None = None) -> Array:
    """Product of two or more matrices in the order that costs least; the first and last may be vectors.

    Parameters
    ----------
    arrays : sequence of arrays (k_i, k_i+1)
    out : array, optional
        As in NumPy; not for Tensors.

    Returns
    -------
    array, a scalar if both ends are vectors

    Raises
    ------
    ArgumentError
        For fewer than two arrays, or axes that do not fit a chain; for `out` with Tensors.

    Examples
    --------
    >>> import numpy as np, qad
    >>> x, a = np.array([1.0, 2.0]), np.eye(2)
    >>> qad.grad(lambda x: qad.linalg.multi_dot([x, a, x]))(x)
    array([2., 4.])
    """
    if all(value_of(x) is x for x in arrays):
        return np.linalg.multi_dot(arrays, out=out)
    if out is not None:
        raise ArgumentError("multi_dot(..., out=...) would write a recorded value into an array: leave `out` away")
    if len(arrays) < 2 or any(x.ndim > 2 for x in arrays) or any(x.ndim != 2 for x in arrays[1:-1]):
        raise ArgumentError("multi_dot takes two or more matrices, of which the first and the last may be vectors")
    axes = [[i, i + 1] for i in range(len(arrays))]
    axes[0], axes[-1] = axes[0][-arrays[0].ndim :], axes[-1][: arrays[-1].ndim]
    ends = [axes[0][0]] * (arrays[0].ndim == 2) + [axes[-1][-1]] * (arrays[-1].ndim == 2)
    return np.einsum(*(part for pair in zip(arrays, axes, strict=True) for part in pair), ends, optimize=True)


implements(np.linalg.matrix_power)(matrix_power)
implements(np.linalg.multi_dot)(multi_dot)
implements(np.linalg.tensordot)(lambda x1, x2, /, *, axes=2: np.tensordot(x1, x2, axes))
