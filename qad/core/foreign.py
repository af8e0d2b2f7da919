"""Arrays of other libraries, such as CuPy's, which follow NumPy's protocols.

Such an array is combined only with arrays of the same library.  So every array that qad creates beside it is created by
`like`, in that library.  `docs/extending.md` lists the exceptions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy import ndarray

from qad.core.tape.operands import NUMBERS
from qad.core.tape.tensor import Tensor
from qad.core.vmap.batched import stack_of

# frequent kinds, no arrays of another library
HOST: frozenset[type] = NUMBERS | {ndarray, Tensor, bool, slice, type(None), type(...)}


def is_foreign(x: Any) -> bool:
    """Whether `x`, a bare array or number, is an array of another library.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.extend.is_foreign(np.ones(2)), qad.extend.is_foreign(1.0)
    (False, False)
    """
    if type(x) in HOST or not hasattr(kind := type(x), "__array_function__"):
        return False
    return not (isinstance(x, ndarray) or hasattr(kind, "__qad_step__"))


class Like:
    """NumPy's functions that create arrays, which create arrays of the kind of `model` here."""

    __slots__ = ("model",)

    def __init__(self, model: Any) -> None:
        self.model: Any = model

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return partial(getattr(np, name), like=self.model)


def like(*operands: Any) -> Any:
    """The functions `zeros`, `ones`, `eye`, `asarray`, ... that create arrays of the kind of `operands`.

    Parameters
    ----------
    *operands : arrays, Tensors, batches of `qad.vmap` and numbers
        The first that is an array of another library decides.

    Returns
    -------
    namespace
        NumPy itself, or what calls the same functions with ``like=``.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.extend.like(qad.tensor([1.0])).zeros(2)
    array([0., 0.])
    """
    for x in operands:
        if type(x) is not ndarray and is_foreign(array := stack_of(x)):
            return Like(array)
    return np


def as_array(x: Any) -> Any:
    """``np.asarray(x)``, which leaves what `qad.freeze` records, and an array of another library, what it is.

    Examples
    --------
    >>> import qad
    >>> qad.extend.as_array([1, 2])
    array([1, 2])
    """
    return x if type(x) is ndarray or hasattr(x, "__qad_step__") or is_foreign(x) else np.asarray(x)
