"""Arrays to be written into: `zeros`, `ones`, `empty` and `full` give Tensors that take recorded values.

NumPy's ``zeros_like``, ``ones_like``, ``empty_like`` and ``full_like`` of a Tensor give such Tensors too, so that NumPy
code which fills an array with results is differentiable as it stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import Tensor, implements, like
from qad.extend.batching import outline
from qad.extend.memory import buffer, in_c_order

if TYPE_CHECKING:
    from qad.typing import ArrayLike, DTypeLike, Function, Number, Shape, Value

__all__ = ["empty", "empty_like", "full", "full_like", "ones", "ones_like", "zeros", "zeros_like"]


def zeros(shape: Shape, dtype: DTypeLike | None = float, *, device: str | None = None) -> Tensor:
    """Zeros, in a Tensor that may be written into: ``x[index] = y`` and ``x += y`` are recorded.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : dtype
        Complex where complex values will be written.
    device : str, optional
        As the array-API standard has it, for which there is one: the memory of the processor.

    Examples
    --------
    >>> import numpy as np, qad
    >>> def f(x):
    ...     squares = qad.zeros(3)
    ...     for i in range(3):
    ...         squares[i] = x[i] ** 2
    ...     return np.sum(squares)
    >>> qad.grad(f)(np.array([1.0, 2.0, 3.0]))
    array([2., 4., 6.])
    """
    return buffer(np.zeros(shape, dtype))


def ones(shape: Shape, dtype: DTypeLike | None = float, *, device: str | None = None) -> Tensor:
    """Ones, in a Tensor that may be written into; see `zeros`.

    Examples
    --------
    >>> import qad
    >>> x = qad.ones(2)
    >>> x[0] = 5.0
    >>> x
    Tensor([5., 1.], shape=(2,), dtype=float64)
    """
    return buffer(np.ones(shape, dtype))


def empty(shape: Shape, dtype: DTypeLike | None = float, *, device: str | None = None) -> Tensor:
    """A Tensor of arbitrary content that is to be written into; see `zeros`.

    Examples
    --------
    >>> import qad
    >>> qad.empty((2, 3)).shape
    (2, 3)
    """
    return buffer(np.empty(shape, dtype))


def full(shape: Shape, fill_value: Number, dtype: DTypeLike | None = None, *, device: str | None = None) -> Tensor:
    """A Tensor full of `fill_value`, a number or a Tensor, that may be written into; see `zeros`.

    Examples
    --------
    >>> import qad
    >>> qad.full(2, 1j)
    Tensor([0.+1.j, 0.+1.j], shape=(2,), dtype=complex128)
    """
    if isinstance(fill_value, (np.ndarray, np.generic, float, complex, int)):
        return buffer(np.full(shape, fill_value, dtype))
    out = zeros(shape, dtype or fill_value.dtype)
    out[...] = fill_value
    return out


def _like(function: Function, a: Value, dtype: DTypeLike | None, order: str, shape: Shape | None) -> Tensor:
    """``function(a)`` in a Tensor that may be written into; under `qad.vmap` it is that of one example."""
    create, ordered = like(a), order == "C" or (order in "KA" and in_c_order(a))
    if type(a) is Tensor:
        a = outline(a) if create is np else create.zeros(a.shape, a.dtype)
    return buffer(function(a, dtype, "C", shape=shape), ordered)


def zeros_like(
    a: ArrayLike,
    dtype: DTypeLike | None = None,
    order: str = "K",
    subok: bool = True,
    shape: Shape | None = None,
    *,
    device: str | None = None,
) -> Tensor:
    """Zeros of the shape and dtype of `a`, in a Tensor that may be written into; see `zeros`.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.zeros_like(np.ones(2))
    Tensor([0., 0.], shape=(2,), dtype=float64)
    """
    return _like(np.zeros_like, a, dtype, order, shape)


def ones_like(
    a: ArrayLike,
    dtype: DTypeLike | None = None,
    order: str = "K",
    subok: bool = True,
    shape: Shape | None = None,
    *,
    device: str | None = None,
) -> Tensor:
    """Ones of the shape and dtype of `a`, in a Tensor that may be written into; see `zeros`.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.ones_like(np.ones(2)).dtype
    dtype('float64')
    """
    return _like(np.ones_like, a, dtype, order, shape)


def empty_like(
    prototype: ArrayLike,
    dtype: DTypeLike | None = None,
    order: str = "K",
    subok: bool = True,
    shape: Shape | None = None,
    *,
    device: str | None = None,
) -> Tensor:
    """A Tensor of the shape and dtype of `prototype` that is to be written into; see `zeros`.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.empty_like(np.ones(2)).shape
    (2,)
    """
    return _like(np.empty_like, prototype, dtype, order, shape)


def full_like(
    a: ArrayLike,
    fill_value: Number,
    dtype: DTypeLike | None = None,
    order: str = "K",
    subok: bool = True,
    shape: Shape | None = None,
    *,
    device: str | None = None,
) -> Tensor:
    """A Tensor of the shape and dtype of `a`, full of `fill_value`, that may be written into; see `zeros`.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.full_like(np.ones(2), 3.0)
    Tensor([3., 3.], shape=(2,), dtype=float64)
    """
    out = empty_like(a, dtype, order, shape=shape)
    out[...] = fill_value
    return out


for _function in (zeros_like, ones_like, empty_like, full_like):
    implements(getattr(np, _function.__name__))(_function)
