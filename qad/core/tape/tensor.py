"""The handle that users hold: a value, its node on the tape, and the level that recorded it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from qad.core.counterparts import cut_off
from qad.core.tape import entries
from qad.core.tape.dispatch import FUNCTIONS, UFUNCS, dispatch_ufunc, missing_rule
from qad.core.tape.entries import ArrayForm
from qad.core.tape.levels import Level, unrecorded
from qad.core.tape.node import LEAF, PRIMITIVE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from qad.core.tape.node import Primitive
    from qad.typing.attached import Attached
    from qad.typing.words import Answer, Index, Keywords, Value
else:
    Attached = object


class Constant(Level):
    """The level of Tensors that record nothing; below all others."""

    __slots__ = ()
    stops: bool = False

    copies: bool = True

    def apply(self, primitive: Primitive, operands: Sequence[Value], keywords: Keywords) -> Answer:
        return as_constant(primitive.fn(*map(unrecorded, operands), **keywords))

    def read(self, x: Tensor, index: Index) -> Tensor:
        return Tensor(entries.taken(x.value, index))

    def write(self, x: Tensor, index: Index, v: Value, add: bool) -> None:
        x.value = entries.placed(x.value, index, v.value if type(v) is Tensor else v, add)


CONSTANT = Constant(-1)
FIXED = "fixed"  # in the slot `buffer`, of what a transform was given: nobody writes into it; see `qad.core.tape.views`


class Tensor(Attached):
    """An array whose operations are recorded.

    A handle, not an ndarray: ``value`` is any array that speaks NumPy's protocols (or a Tensor of a
    lower level) and ``level`` says who handles its operations.  ``node`` is its place on the tape, None where nothing
    is recorded; ``tangent`` is what a level of forward mode pushes, None on others.  Make one with `qad.tensor`; the
    transforms make their own.  NumPy's functions, operators and ndarray's methods work on it; ``qad.rules`` attaches
    them.

    Examples
    --------
    >>> import numpy as np, qad
    >>> x = qad.tensor([3.0, 4.0], requires_grad=True)
    >>> y = np.linalg.norm(x)
    >>> y.backward()
    >>> x.grad
    array([0.6, 0.8])
    """

    __slots__ = ("value", "node", "level", "tangent", "buffer", "source", "__weakref__")

    def __init__(self, value: Any, node: Any = None, level: Any = CONSTANT, tangent: Any = None):
        self.value: Any = value
        self.node: Any = node
        self.level: Any = level
        self.tangent: Any = tangent
        self.buffer: Any = None  # a mark, if it shows the memory of another or is shown
        self.source: Any = None  # what a root was made of, see `remembered`; asked for more often than Tensors are made

    # -- what it is ------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.value.dtype

    @property
    def ndim(self) -> int:
        return self.value.ndim

    @property
    def size(self) -> int:
        return self.value.size

    @property
    def itemsize(self) -> int:
        return self.value.itemsize

    @property
    def nbytes(self) -> int:
        return self.value.nbytes

    @property
    def requires_grad(self) -> bool:
        """Whether operations on this Tensor are recorded."""
        level = self.level.now(self).level if type(self.value) is ArrayForm else self.level  # of a buffer
        return level is not CONSTANT

    @property
    def is_leaf(self) -> bool:
        """Whether this Tensor was made by the user (or a transform), not by an operation."""
        if self.node is None:
            return not self.requires_grad or self.buffer is FIXED
        return self.node[PRIMITIVE] is LEAF

    # -- ways out of the tape --------------------------------------------------------------------

    def numpy(self) -> NDArray[Any]:
        """The values as they are now, in a read-only array that later writes do not change; no gradient flows."""
        return read_only(value_of(self))

    def item(self, *index: Any) -> Any:
        """The single value (or that at `index`) of a constant Tensor as a Python number; recorded ones refuse."""
        self._refuse("a Python number", "x.detach().item()")
        return value_of(self).item(*index)

    def tolist(self) -> Any:
        """The values of a constant Tensor as nested lists of Python numbers; recorded ones refuse."""
        self._refuse("Python numbers", "x.detach().tolist()")
        return value_of(self).tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        self._refuse("a plain ndarray", "np.array(x.detach())")
        if copy is None or copy:  # what is written later into one of the two is not seen in the other
            return np.array(value_of(self), dtype=dtype)
        return read_only(np.array(value_of(self), dtype=dtype, copy=False))

    def __float__(self) -> float:
        self._refuse("a Python float", "float(x.detach())")
        return float(value_of(self))

    def __complex__(self) -> complex:
        self._refuse("a Python complex", "complex(x.detach())")
        return complex(value_of(self))

    def __int__(self) -> int:  # steps, whose derivative is zero; so is that of a branch, and text has none
        return int(value_of(self))

    def __bool__(self) -> bool:
        return bool(value_of(self))

    def __index__(self) -> int:
        return value_of(self).__index__()

    def __len__(self) -> int:
        return self.shape[0] if self.shape else len(value_of(self))  # which says what NumPy says

    def __iter__(self) -> Iterator[Tensor]:
        return (self[i] for i in range(len(self)))

    def _refuse(self, what: str, instead: str) -> None:
        if hasattr(value := value_of(self), "_refuse"):  # a batch, which cannot be one number in any case
            value._refuse()
        if self.requires_grad:
            raise cut_off(what, instead)

    # -- NumPy's protocols -----------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "__call__" and not kwargs:
            recorder = UFUNCS.get(ufunc)
            if recorder is not None:
                return recorder(*inputs)
        return dispatch_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        handler = FUNCTIONS.get(function)
        if handler is None:
            raise missing_rule(function)
        return handler(*args, **kwargs)

    # -- seeing ----------------------------------------------------------------------------------

    def __repr__(self) -> str:
        values = value_of(self)
        if isinstance(values, (np.ndarray, np.generic)):
            values = np.array2string(np.asarray(values), separator=", ", prefix="Tensor(")
        return f"Tensor({values}, shape={self.shape}, dtype={self.dtype}{self._origin()})"

    def _origin(self) -> str:
        if not self.requires_grad:
            return ""
        if self.node is None:
            return "" if self.tangent is None else ", tangent"
        primitive = self.node[PRIMITIVE]
        return ", requires_grad" if primitive is LEAF else f", op={primitive.name}"

    def _repr_html_(self) -> str:
        kind = f"shape {self.shape}, {self.dtype}{self._origin()}"
        values = np.array2string(np.asarray(value_of(self)), separator=", ", threshold=100)
        return f"<div><b>Tensor</b> <small>{escape(kind)}</small><pre>{escape(values)}</pre></div>"

    def __format__(self, spec: str) -> str:
        return format(value_of(self)[()] if self.ndim == 0 else repr(self), spec)


def argument(x: Tensor) -> Tensor:
    """Tensor `x`, marked as one that may not be written into."""
    x.buffer = FIXED
    return x


def handle_of(x: Tensor, value: Any = None) -> Tensor:
    """Another handle of what Tensor `x` holds now, or of the same derivative of another `value`."""
    return Tensor(x.value if value is None else value, x.node, x.level, x.tangent)


def settled(x: Any) -> Any:
    """`x` as operations take it: a Tensor of a buffer as what it holds, one of a structure as it is recorded."""
    while type(x) is Tensor and (now := x.level.now(x)) is not x:
        x = now
    return x


def held(x: Value) -> Value:
    """What `x` is now."""
    if type(x) is not Tensor:
        return x
    x = x.level.now(x) if type(x.value) is ArrayForm else x
    now = handle_of(x)
    now.source = x.source
    return now


def become(x: Tensor, y: Tensor) -> None:
    """Let the handle `x` hold what the Tensor `y` holds now."""
    x.value, x.node, x.level, x.tangent = y.value, y.node, y.level, y.tangent


def as_constant(ans: Answer) -> Answer:
    """`ans`, or each of a tuple of answers, as a constant Tensor."""
    if isinstance(ans, (tuple, list)):
        return rebuild(ans, map(as_constant, ans))
    return ans if type(ans) is Tensor else Tensor(ans)


def rebuild(template: Any, items: Iterable[Any]) -> Any:
    """`items` in the container type of `template`: list, tuple or named tuple."""
    return type(template)(*items) if hasattr(template, "_fields") else type(template)(items)


def value_of(x: Any) -> Any:
    """The bare array or number behind `x`, all levels removed; for decisions that carry no derivative.

    Examples
    --------
    >>> import qad
    >>> qad.extend.value_of(qad.tensor([1.0]))
    array([1.])
    """
    while type(x) is Tensor:
        value = x.value
        x = x.level.now(x) if type(value) is ArrayForm else value
    return x


def read_only(array: Value) -> Value:
    """A view of `array` that refuses to be written into (NumPy scalars are that already)."""
    if not isinstance(array, np.ndarray):
        return array
    view = array.view()
    view.flags.writeable = False
    return view
