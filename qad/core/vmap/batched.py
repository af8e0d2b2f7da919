"""What `qad.vmap` gives a function: one example's shape, the values of all examples.

A Tensor of a BATCH level has a `Batched` as its value.  Its shape and dtype are those of one example, and NumPy's
functions on it are applied to every example; so rules and programs need not know of it.  What only one example
can answer (a branch, a Python number) raises.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from qad.core.errors import BatchError
from qad.core.tape.tensor import Tensor, value_of

if TYPE_CHECKING:
    from qad.core.tape.levels import Level
    from qad.typing import Function
    from qad.typing.words import Index, Value


class Batched(np.lib.mixins.NDArrayOperatorsMixin):
    """An array per example, stacked along the first axis of `array` (which may be a Tensor of a lower level)."""

    __slots__ = ("array", "level")
    __array_function__: Any  # what is said of NumPy's functions in `qad.core.vmap.rules`
    __array_ufunc__: Any

    def __init__(self, array: Value, level: Level) -> None:
        self.array: Value = array
        self.level: Level = level

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape[1:]

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.array.dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return outline(self).size

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.array.nbytes

    @property
    def real(self) -> Tensor:
        return enclosed(self.array.real, self.level)

    @property
    def imag(self) -> Tensor:
        return enclosed(self.array.imag, self.level)

    def tensor(self) -> Tensor:
        """The handle of this value."""
        return Tensor(self, None, self.level)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tensor(), name)

    def __getitem__(self, index: Index) -> Any:
        return self.tensor()[index]

    def __len__(self) -> int:
        return len(outline(self))

    def __repr__(self) -> str:
        return f"{value_of(self.array)!r}, a batch"

    def __bool__(self) -> NoReturn:
        raise BatchError(
            "under qad.vmap a condition differs from example to example, so that no branch fits all: write "
            "qad.where(condition, a, b) instead of if, max, min, and, or"
        )

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise BatchError(
            "under qad.vmap a Tensor holds a number per example and cannot be made one plain number or array: keep it "
            "a Tensor (NumPy's functions take it; an array made by qad.zeros can be written into; as an index of a "
            "plain array a write qad.tensor(a)[i]), or return it from the function"
        )

    __int__ = _refuse
    __float__ = _refuse
    __complex__ = _refuse
    __index__ = _refuse
    __array__ = _refuse
    item = _refuse
    tolist = _refuse


def outline(x: Any) -> Any:
    """An array of the shape and dtype of `x`, or of one example of it, whose entries mean nothing and cost nothing."""
    return np.broadcast_to(np.zeros((), x.dtype), x.shape)


def enclosed(ans: Any, level: Any) -> Any:
    """Stacked answers, or each of a tuple of them, as Tensors of `level`."""
    if isinstance(ans, (tuple, list)):
        parts = [enclosed(a, level) for a in ans]
        return type(ans)(*parts) if hasattr(ans, "_fields") else type(ans)(parts)
    return Tensor(Batched(ans, level), None, level)


def on_stack(fn: Function, x: Any) -> Any:
    """``fn`` of the bare array behind `x`: for functions of stacks that are not NumPy's, and without derivative.

    Examples
    --------
    >>> import scipy.linalg, qad
    >>> qad.extend.on_stack(scipy.linalg.expm, qad.tensor([[0.0]]))
    array([[1.]])
    """
    x = value_of(x)
    return enclosed(on_stack(fn, x.array), x.level) if type(x) is Batched else fn(x)


def stack_of(x: Any) -> Any:
    """The bare array behind `x`, with the axes of `qad.vmap` in front: for decisions about all examples at once.

    Examples
    --------
    >>> import qad
    >>> qad.extend.stack_of(qad.tensor([1.0]))
    array([1.])
    """
    while type(x) is Tensor or type(x) is Batched:
        x = value_of(x) if type(x) is Tensor else x.array
    return x


def is_batched(x: Any) -> bool:
    """Whether the value behind `x` holds one for each example of `qad.vmap`."""
    return type(value_of(x)) is Batched


def examples(arrays: Any) -> Any:
    """The bare `arrays` themselves, or those of every example of `qad.vmap` in turn."""
    level = max((x.level for x in arrays if type(x) is Batched), default=None, key=attrgetter("number"))
    if level is None:
        yield arrays
        return
    batched = [type(x) is Batched and x.level is level for x in arrays]
    stacks = [value_of(x.array) if own else x for own, x in zip(batched, arrays, strict=True)]
    for i in range(len(stacks[batched.index(True)])):
        yield from examples([value_of(x[i]) if own else x for own, x in zip(batched, stacks, strict=True)])
