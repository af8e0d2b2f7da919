"""The array that a function sees while it is recorded: a value, and its place in the program.

It has NumPy's protocols and ndarray's operators, methods and attributes, all of which compute and are recorded.
It stands below the tape: the Tensors of `qad.grad` hold it as their value, so that the backward pass
is recorded like the function itself.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np

from qad.core.tape.tensor import Tensor, value_of
from qad.frozen.program.functions import OPERATORS, UFUNCS, attribute, method
from qad.frozen.program.program import outcome
from qad.frozen.record.code import asked_by_us, is_ours, whereabouts
from qad.rules.shapes.flat import Flat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qad.frozen.program.program import Var


class Traced:
    """An array (or number) whose every use is recorded.

    Attributes
    ----------
    value : array or number
        What it is in this run.
    symbol : Var
    recorder : Recorder
    """

    __slots__ = ("value", "symbol", "recorder", "__weakref__")

    def __init__(self, value: Any, symbol: Var, recorder: Any):
        self.value: Any = value
        self.symbol: Var = symbol
        self.recorder: Any = recorder  # the `Recorder` of this run

    # -- what a signature settles ----------------------------------------------------------------

    shape: property = property(lambda self: self.symbol.shape)
    dtype: property = property(lambda self: self.symbol.dtype)
    ndim: property = property(lambda self: len(self.symbol.shape))
    size: property = property(lambda self: self.symbol.size)
    itemsize: property = property(lambda self: self.symbol.dtype.itemsize)
    nbytes: property = property(lambda self: self.symbol.nbytes)
    __hash__: ClassVar[None] = None  # type: ignore - arrays have no hash, which checkers take for an override

    flags: property = property(lambda self: self.value.flags)

    def __getattr__(self, name: str) -> NoReturn:
        missing(self, name)

    @property
    def __class__(self) -> type:
        """What ``isinstance`` sees in a user's code, so that it takes the branch that it takes for plain arrays."""
        return Traced if asked_by_us() else type(self.value)

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise TypeError("iteration over an array without axes")
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return shown(self, repr)

    def __str__(self) -> str:
        return shown(self, str)

    def __format__(self, spec: str) -> str:
        return shown(self, lambda value: format(value, spec))

    # -- decisions -------------------------------------------------------------------------------

    def __bool__(self) -> bool:
        return decide(self, "bool")

    def __int__(self) -> int:
        return decide(self, "int")

    def __index__(self) -> int:
        operator.index(self.value)  # refuses what is no integer
        return decide(self, "int")

    def __float__(self) -> float:
        return decide(self, "float").real

    def __complex__(self) -> complex:
        return decide(self, "float")

    def item(self, *index: Any) -> Any:
        """The value as a Python number, which from then on is a constant of the program."""
        x = self[np.unravel_index(index[0], self.shape) if len(index) == 1 else index] if index else self
        x = x[(0,) * x.ndim] if x.shape and x.size == 1 else x
        value = x.value.item() if hasattr(x.value, "item") else x.value
        if type(value) in (bool, int):
            return type(value)(decide(x, type(value).__name__))
        return type(value)(x)

    def tolist(self) -> Any:
        """The values as nested lists of Python numbers."""
        return [x.tolist() for x in self] if self.shape else self.item()

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return forced(self)

    # -- NumPy's protocols -----------------------------------------------------------------------

    def __array_namespace__(self, api_version: Any = None) -> Any:
        return np

    def __array_ufunc__(self, ufunc: np.ufunc, called: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(type(x) is Tensor for x in inputs):
            return NotImplemented
        fn = getattr(ufunc, called) if called != "__call__" else ufunc
        out = kwargs.get("out")
        if called == "at":
            return self.recorder.step(fn, inputs, kwargs, mutates=inputs[0])
        if out is None or not any(x is not None for x in out):
            return self.recorder.step(fn, inputs, kwargs)
        if len(out) > 1:
            self.recorder.refuse(
                f"np.{ufunc.__name__} has several results, which are not recorded with out=: write "
                f"a[...], b[...] = np.{ufunc.__name__}(...)"
            )
        (target,) = out
        self.recorder.step(fn, inputs, {**kwargs, "out": target}, mutates=target)
        return target

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        if Tensor in types:
            return NotImplemented
        return self.recorder.function(function, args, kwargs)

    def __qad_step__(self, call: Callable[..., Any], fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """A primitive with this among its operands; see `qad.core.freeze_hook`."""
        return self.recorder.primitive(call, fn, args, kwargs)

    def __qad_array__(self) -> Any:
        """The array that this is while it is recorded; see `qad.core.tape.views`."""
        return self.value

    def __qad_number__(self) -> Any:
        """A scalar of NumPy's where this is a number of Python's; see `qad.core.transforms.leaves`."""
        return self.recorder.step(np.array, (self,), {})[()] if self.symbol.kind == "number" else self

    def __qad_like__(self, g: Any) -> Any:
        """`g` as an array without axes where this is one, as a scalar where this is a number."""
        g = self.recorder.constant(g) if isinstance(g, np.ndarray) else g
        is_array = type(g) is Traced and g.symbol.kind == "array"
        if self.shape or is_array == (self.symbol.kind == "array") or not isinstance(g, (Traced, np.generic)):
            return g
        return g[()] if is_array else self.recorder.step(np.array, (g,), {})

    # -- entries ---------------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Any:
        return self.recorder.step(operator.getitem, (self, _bare(index)), {})

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    def __setitem__(self, index: Any, value: Any) -> None:
        self.recorder.step(operator.setitem, (self, _bare(index), value), {}, mutates=self)


def _bare(index):
    """An index whose Tensors are replaced by their values: no derivative goes through an index."""
    return tuple([value_of(i) for i in index]) if type(index) is tuple else value_of(index)


def _operator(fn):
    def forward(self, *others):
        if others and (type(others[0]) is Tensor or getattr(others[0], "__array_ufunc__", fn) is None):
            return NotImplemented  # None is NumPy's sign that the operator is the other's
        return self.recorder.step(fn, (self, *others), {})

    def reflected(self, other):
        return self.recorder.step(fn, (other, self), {})

    def inplace(self, other):
        if type(other) is Tensor:
            return NotImplemented
        if self.symbol.kind != "array":
            return forward(self, other)
        self.recorder.step(UFUNCS[fn], (self, other), {"out": self}, mutates=self)
        return self

    return forward, reflected, inplace


for _name, _fn in OPERATORS.items():
    _forward, _reflected, _inplace = _operator(_fn)
    _plain = _name.rstrip("_")
    setattr(Traced, f"__{_plain}__", _forward)
    if hasattr(operator, f"i{_plain}"):
        setattr(Traced, f"__r{_plain}__", _reflected)
        setattr(Traced, f"__i{_plain}__", _inplace)
Traced.__copy__ = lambda self: self.copy()
Traced.__deepcopy__ = lambda self, memo: self.copy()
Traced.__abs__ = lambda self: self.recorder.step(abs, (self,), {})
Traced.__divmod__ = lambda self, other: (self // other, self % other)
Traced.__rdivmod__ = lambda self, other: (other // self, other % self)
Traced.__round__ = lambda self, *digits: self.recorder.step(round, (self, *digits), {})


def _method(name):
    fn = method(name)

    def call(self, *args, **kwargs):
        if any(type(x) is Tensor for x in args):
            return getattr(np, name)(self, *args, **kwargs)
        return self.recorder.method(fn, (self, *args), kwargs)

    call.__name__ = name
    return call


def _attribute(fn):
    return property(lambda self: self.recorder.step(fn, (self,), {}), lambda self, y: fn(self).__setitem__(..., y))


for _name in (
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "choose", "clip", "compress", "conj",
    "conjugate", "copy", "cumprod", "cumsum", "diagonal", "dot", "fill", "flatten", "max", "mean", "min", "nonzero",
    "partition", "prod", "put", "ravel", "repeat", "reshape", "round", "searchsorted", "sort", "squeeze", "std",
    "sum", "swapaxes", "take", "trace", "transpose", "var", "view",
):  # fmt: skip
    setattr(Traced, _name, _method(_name))
for _name in ("T", "mT", "real", "imag"):
    setattr(Traced, _name, _attribute(attribute(_name)))
Traced.flat = property(Flat, lambda self, value: self.flat.__setitem__(slice(None), value))


# -- decisions: what Python asks of a traced array, which replays check, or which is refused ---------------------------


def decide(x: Traced, kind: str) -> Any:
    """The outcome of a decision on `x`, as a Python value; replays check it."""
    try:
        found = outcome(x.value, kind)
    except (ValueError, OverflowError) as error:  # it has none, such as the integer of NaN
        if x.size == 1:
            x.recorder.failure = f"{kind}() of a traced value raised {type(error).__name__}, and the function caught it"
        raise
    if x.recorder.running:
        x.recorder.guard(x.symbol, found)
    return complex(x.value) if kind == "float" else found[1]


def shown(x: Traced, show: Callable[[Any], str]) -> str:
    """The text of a traced array, for messages of ours; a program made from a user's would always be the same."""
    if x.recorder.running and not is_ours():
        x.recorder.refuse(
            f"text was made of a traced value, at {whereabouts()}, and a replay would not make it anew: leave the "
            "printing out, or return the value and print it outside"
        )
    return show(x.value)


def missing(x: Traced, name: str) -> NoReturn:
    """Raise for an attribute that a traced value has not; where the plain one has it, the function may not go on."""
    message = (
        f"a traced array has no {name!r}: use NumPy's functions, or wrap what needs it in qad.extend.primitive, so "
        "that it becomes one step"
    )
    if not name.startswith("__") and hasattr(type(x.value), name) and x.recorder.running and not is_ours():
        x.recorder.refuse(message, AttributeError)
    raise AttributeError(f"qad.freeze: {message}")


def forced(x: Traced) -> np.ndarray:
    """A traced array that something wants as a plain one: integers and truths become a guard, others are refused."""
    if x.dtype.kind not in "biu" or not x.recorder.running:
        x.recorder.refuse(
            "a traced array was forced into a plain one, and what is computed from that would be lost "
            "to the program: use NumPy's functions (np.stack for a list of arrays, np.take for table[i], "
            "np.zeros_like for an array to write into), and wrap SciPy's routines and the like in "
            "qad.extend.primitive or qad.extend.opaque, so that they become one step. Iterations until convergence "
            "(fixed_point, dominant_eig, lowest_eig, linear_solve) cannot be frozen, for their length depends on "
            "values: freeze the function that they call, or make one step of them with qad.extend.opaque"
        )
    x.recorder.guard(x.symbol, outcome(x.value, "array"))
    return np.array(x.value)
