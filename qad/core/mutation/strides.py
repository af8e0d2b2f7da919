"""Results that lie in memory as NumPy's do, where they were computed in another way than NumPy's.

Whether a reshape is a view, which shows what is written, depends on the order of the axes in memory; elementwise
functions hand that order on.  So what is composed of several operations is copied into NumPy's order where it has come
out in another one: NumPy's function itself, called with the bare arrays, tells.  Under `qad.vmap` the layout is not
known, see `qad.core.vmap.layouts`.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from qad.core.foreign import as_array, is_foreign
from qad.core.mutation.aliases import FIXED, Written, root_of, shadow
from qad.core.tape.tensor import Tensor, handle_of
from qad.core.vmap.batched import UNKNOWN, Batched
from qad.core.vmap.layouts import bottom, in_c_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from qad.core.words import Value
    from qad.typing import F, Function

__all__ = ["bare", "elementwise", "lies_as", "relaid", "reordered", "steps_of"]


def steps_of(array: Any) -> tuple[int, ...]:
    """The strides of the axes that are longer than 1, which alone mean anything, in entries; none of an empty array."""
    if not array.size:
        return ()
    return tuple([step / array.itemsize for step, n in zip(array.strides, array.shape, strict=True) if n > 1])


def relaid(x: Any, like: Any) -> Any:
    """`x`, an array or a Tensor with memory of its own, with the order of axes that array `like` has in memory."""
    array, axes = bottom(x)
    if axes or type(array) is not ndarray or getattr(x, "buffer", None) is not None or array.size < 2:
        return x
    if array.shape != like.shape or steps_of(array) == steps_of(like):
        return x
    order = sorted(range(like.ndim), key=lambda axis: (-abs(like.strides[axis]), axis))
    return reordered(x, tuple(order), tuple(np.argsort(order).tolist()))


def reordered(x: Any, order: Sequence[int], back: Sequence[int]) -> Any:
    """A copy of `x` with its axes in this `order`, from the slowest to the fastest; `back` is the inverse."""
    if type(x) is Tensor:
        return handle_of(x, reordered(x.value, order, back))
    return x.transpose(order).copy().transpose(back)


def unvouched(x: Value) -> Value:
    """Tensor `x` with memory of its own, and nothing known of how the examples of a batch lie."""
    if type(x) is Batched:
        return x if x.layout is UNKNOWN else Batched(x.array, x.level)
    return handle_of(x, unvouched(x.value)) if type(x) is Tensor else x


def _alone(x: Value, like: NDArray[Any]) -> Value:
    """`relaid`, and copied where it is a view: what nobody else sees, or an operand."""
    if type(x) is Tensor and type(x.buffer) is tuple:
        x = handle_of(x)
    return relaid(x, like)


def elementwise(*operands: Any) -> Any:
    """An array that lies in memory as the result of an elementwise function of these arrays and Tensors does."""
    arrays = [as_array(bare(x)) for x in operands]
    if any(map(is_foreign, arrays)) or any(bottom(x)[1] for x in operands if type(x) is Tensor):
        return None  # `relaid` leaves them as they are
    flags = [["readonly"]] * len(arrays) + [["writeonly", "allocate"]]
    return np.nditer([*arrays, None], ["zerosize_ok", "refs_ok"], flags).operands[-1]


def lies_as(reference: Function, always: bool = False) -> Callable[[F], F]:
    """Decorate the handler of a function: its results lie in memory as those of `reference` for the bare arrays do.

    Parameters
    ----------
    reference : callable
        Takes bare arrays and gives one, or several, that lie as NumPy's results do; their numbers are not used.
    always : bool
        Compare also where operands and results are in C order; by default NumPy's results are taken to be so, too.

    Returns
    -------
    callable
        The decorator.

    Examples
    --------
    >>> import numpy as np, qad
    >>> @qad.extend.lies_as(np.cbrt)
    ... def cube_root(x):
    ...     return (x.T ** (1 / 3)).T.copy()  # in C order, whatever that of x
    >>> x = qad.tensor(np.ones((2, 3), order="F"))
    >>> cube_root(x).numpy().flags.f_contiguous
    True
    """

    def decorate(handler):
        @wraps(handler)
        def laid(*args, **kwargs):
            out = handler(*args, **kwargs)
            parts = out if type(out) in (tuple, list) else (out,)
            if not any(type(x) is Tensor and x.size > 1 for x in parts):
                return out
            if any(bottom(x)[1] for x in parts):
                found = [unvouched(x) for x in parts]
                return type(out)(found) if parts is out else found[0]
            if not any(isinstance(bottom(x)[0], ndarray) for x in parts):
                return out
            if not always and all(map(in_c_order, (*parts, *arrays_in((args, kwargs))))):
                return out
            plain, named = as_numpys(args), {name: as_numpys(x) for name, x in kwargs.items()}
            with np.errstate(all="ignore"):  # what there is to warn of was said above
                like = reference(*plain, **named)
            likes = like if parts is out else (like,)
            found = [_alone(x, np.asarray(y)) for x, y in zip(parts, likes, strict=True)]
            return type(out)(found) if parts is out else found[0]

        return laid

    return decorate


def bare(x: Any) -> Any:
    """The array behind a Tensor, and behind those in tuples and lists."""
    if type(x) in (tuple, list):
        return type(x)([bare(y) for y in x])
    return bottom(x)[0] if type(x) is Tensor else x


def as_numpys(x: Any) -> Any:
    """`x` with arrays for Tensors, also in tuples and lists, whose entries lie as far apart as those of NumPy's do.

    Those of ours have gaps where they are the real parts of others, and none where a view was read again.
    """
    if type(x) in (tuple, list):
        return type(x)([as_numpys(y) for y in x])
    array = bare(x)
    if type(x) is not Tensor or type(array) is not ndarray or (array.flags.forc and type(x.buffer) is not tuple):
        return array
    root = root_of(x)
    if root.buffer is FIXED or (root.is_leaf and type(root.buffer) is not Written):
        return array  # what was given lies as it was given
    like = shadow(x)
    if array.shape != like.shape or array.strides == like.strides:
        return array
    if like.flags.writeable:
        like[...] = array
    return like  # zeros, where NumPy's is read-only, as diagonals are: where entries lie is what counts


def arrays_in(x: Any) -> Iterator[NDArray[Any]]:
    """The arrays in nested containers, and behind the Tensors in them."""
    if type(x) in (tuple, list, dict):
        for part in x.values() if type(x) is dict else x:
            yield from arrays_in(part)
    elif isinstance(array := bare(x), ndarray):
        yield array
