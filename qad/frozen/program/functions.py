"""What freezing knows about functions: which answer at once, which write, which shapes depend on values.

Every step holds a function.  NumPy's and the operator module's are themselves; methods and attributes of arrays are
`Method` and `Attribute`, so that they serve arrays, NumPy's scalars and Python's numbers alike.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.contract.network import network
from qad.contract.pair import contract
from qad.contract.trace import ring_trace, trace_product
from qad.contract.unary import reduce
from qad.rules.complex import square_of_size
from qad.rules.products import matrix_product, stack_product
from qad.rules.reduce import spread

if TYPE_CHECKING:
    from qad.frozen.program.program import Step, Var


class Named:
    """A function of arrays that is known by a name."""

    __slots__ = ("__name__",)

    def __init__(self, name: str):
        self.__name__: str = name

    def __repr__(self) -> str:
        return f"{type(self).__name__.lower()}({self.__name__!r})"


class Method(Named):
    """The method of this name, of whatever the first argument is."""

    __slots__ = ()

    def __call__(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(x, self.__name__)(*args, **kwargs)


class Attribute(Named):
    """The attribute of this name."""

    __slots__ = ()

    def __call__(self, x: Any) -> Any:
        return getattr(x, self.__name__)


class Reduction(Named):
    """A method of a ufunc, such as ``np.add.reduce``, by its names."""

    __slots__ = ("ufunc", "method")

    def __init__(self, ufunc: np.ufunc, method: str):
        super().__init__(f"{ufunc.__name__}.{method}")
        self.ufunc: np.ufunc = ufunc
        self.method: str = method

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.ufunc, self.method)(*args, **kwargs)


method: Callable[[str], Method] = lru_cache(maxsize=None)(Method)
attribute: Callable[[str], Attribute] = lru_cache(maxsize=None)(Attribute)
reduction: Callable[[np.ufunc, str], Reduction] = lru_cache(maxsize=None)(Reduction)

_UFUNC_OF = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.divide, "floordiv": np.floor_divide,
    "mod": np.remainder, "pow": np.power, "matmul": np.matmul, "and_": np.bitwise_and, "or_": np.bitwise_or,
    "xor": np.bitwise_xor, "lshift": np.left_shift, "rshift": np.right_shift, "eq": np.equal, "ne": np.not_equal,
    "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "neg": np.negative,
    "pos": np.positive, "invert": np.invert,
}  # fmt: skip
OPERATORS: dict[str, Callable[..., Any]] = {name: getattr(operator, name) for name in _UFUNC_OF}
UFUNCS: dict[Callable[..., Any], np.ufunc] = {OPERATORS[name]: ufunc for name, ufunc in _UFUNC_OF.items()}

# Questions about shapes and kinds, which a signature settles, and pictures: answered while recording, never recorded.
ANSWERED: frozenset[Callable[..., Any]] = frozenset((
    np.shape, np.ndim, np.size, np.iscomplexobj, np.isrealobj, np.result_type, np.can_cast, np.min_scalar_type,
    np.common_type, np.array_repr, np.array_str, np.array2string, np.shares_memory, np.may_share_memory,
))  # fmt: skip

# Functions that write into their first argument.
MUTATING: frozenset[Callable[..., Any]] = frozenset((
    np.copyto, np.put, np.place, np.putmask, np.fill_diagonal, np.put_along_axis,
    *map(method, ("fill", "sort", "partition", "put", "itemset")), operator.setitem,
))  # fmt: skip

# Primitives that are NumPy's calls on arrays and nothing else: their insides are recorded, and can be improved.
TRANSPARENT: frozenset[Callable[..., Any]] = frozenset((
    network, contract, reduce, matrix_product, stack_product, trace_product, ring_trace, spread, square_of_size,
))  # fmt: skip

TRANSPOSE, RESHAPE = method("transpose"), method("reshape")  # of axes and of a shape, once `canonical` has run
DIAGONAL, REAL, IMAG, SUM = method("diagonal"), attribute("real"), attribute("imag"), reduction(np.add, "reduce")

# Functions that change the order of axes.
PERMUTING: frozenset[Callable[..., Any]] = frozenset((
    TRANSPOSE, method("swapaxes"), np.transpose, np.swapaxes, np.moveaxis, np.rollaxis,
))  # fmt: skip

REARRANGING: frozenset[Callable[..., Any]] = PERMUTING | {RESHAPE, np.reshape}  # of axes and sizes

# Functions whose result may show the memory of their argument, and does where its layout allows.
VIEWS: frozenset[Callable[..., Any]] = frozenset((
    TRANSPOSE, RESHAPE, DIAGONAL, REAL, IMAG, *map(method, ("swapaxes", "squeeze", "ravel")), operator.getitem,
    np.moveaxis, np.swapaxes, np.squeeze, np.expand_dims, np.diagonal, np.broadcast_to, np.transpose, np.reshape,
    np.atleast_1d, np.atleast_2d,
))  # fmt: skip


def wants_numbers(fn: Callable[..., Any]) -> bool:
    """Whether integers among the further arguments are shapes, axes and the like, which a program is made for."""
    if fn in _VALUED or fn in _CALCULATING:
        return False
    return fn in _OF_OPERANDS or type(fn) is Reduction or (type(fn) is Method and fn.__name__ in SETTLED_METHODS)


# Rooms of ours in which shapes may depend on values: on clusters of a spectrum, on a rank, on how many differ.
_BY_VALUES = ("qad.linalg.", "qad.mps.", "qad.rules.sets")


def keeps_shape(fn: Callable[..., Any], args: Sequence[Any]) -> bool:
    """Whether the shape and dtype of the result follow from those of the arguments, so that nothing need be checked."""
    if isinstance(fn, np.ufunc) or type(fn) is Attribute or fn in _OF_OPERANDS:
        return True
    if fn is np.where:
        return len(args) == 3
    if fn is operator.getitem:
        index = args[1] if type(args[1]) is tuple else (args[1],)
        return all(type(i) in (int, type(None), type(...)) or _integers(i) or _is_fixed(i) for i in index)
    if type(fn) is Method:
        return fn.__name__ in SETTLED_METHODS
    if type(fn) is Reduction:
        return fn.method in ("reduce", "accumulate", "outer")
    module = getattr(fn, "__module__", None) or ""
    return module.startswith("qad.") and not module.startswith(_BY_VALUES)  # shapes of ours follow from the operands


def _integers(i):
    dtype = getattr(i, "dtype", None)
    return dtype is not None and dtype.kind in "iu"


def _is_fixed(i):
    """Whether an index is a slice between plain numbers; of others the length depends on values."""
    return type(i) is slice and all(x is None or isinstance(x, (int, np.integer)) for x in (i.start, i.stop, i.step))


# Functions whose results have shapes and dtypes that follow from those of the arguments, and that raise for no values.
SETTLED: frozenset[Callable[..., Any]] = frozenset((
    np.dot, np.vdot, np.inner, np.outer, np.matmul, np.tensordot, np.kron, np.einsum, np.sum, np.mean, np.prod, np.max,
    np.min, np.std, np.var, np.argmax, np.argmin, np.argsort, np.sort, np.stack, np.concatenate, np.transpose,
    np.moveaxis, np.swapaxes, np.reshape, np.ravel, np.squeeze, np.expand_dims, np.broadcast_to, np.zeros_like,
    np.ones_like, np.full_like, np.empty_like, np.diagonal, np.trace, np.cumsum, np.cumprod, np.clip, np.flip, np.roll,
    np.tril, np.triu, np.copy, np.diff, np.zeros, np.ones, np.eye, np.empty, np.angle, np.real, np.imag, np.any, np.all,
    np.isclose, np.nan_to_num, np.fft.fft, np.fft.ifft,
))  # fmt: skip
SETTLED_METHODS: frozenset[str] = frozenset((
    "reshape", "transpose", "swapaxes", "conj", "conjugate", "dot", "sum", "mean", "prod", "max", "min", "std", "var",
    "copy", "astype", "ravel", "flatten", "squeeze", "diagonal", "trace", "cumsum", "cumprod", "clip", "round",
    "argmax", "argmin", "argsort", "any", "all", "view", "take",
))  # fmt: skip
_CALCULATING = frozenset((abs, *OPERATORS.values(), *TRANSPARENT))
_OF_OPERANDS = SETTLED | _CALCULATING | frozenset((
    np.take, np.take_along_axis, *(getattr(np.linalg, name) for name in np.linalg.__all__ if name != "LinAlgError"),
)) - frozenset((np.linalg.lstsq,))  # fmt: skip
_VALUED = frozenset((
    np.take, np.take_along_axis, np.clip, np.roll, np.isclose, np.dot, np.vdot, np.inner, np.outer, np.kron, np.matmul,
    np.einsum, method("take"), method("clip"), method("dot"),
))  # fmt: skip
_POWERS = frozenset((np.power, operator.pow, operator.ipow))  # which raise for integers and negative exponents
_SAFE = ("numpy", "_operator", "operator", "builtins", "qad.core.", "qad.rules.", "qad.special.", "qad.contract.",
         "qad.frozen.")  # fmt: skip


def may_raise(step: Step) -> bool:
    """Whether a step may raise for some values: what decomposes a matrix does, and what a user wrote.

    An error is part of what a function does, so that such a step is made even where nobody reads its result.
    """
    module = getattr(step.fn, "__module__", None) or "numpy"
    return "linalg" in module or not module.startswith(_SAFE)


def is_settled(error: Exception, fn: Callable[..., Any]) -> bool:
    """Whether a function of NumPy's complains of shapes and dtypes, which every call of the signature has."""
    known = isinstance(fn, np.ufunc) or fn in SETTLED or fn in _CALCULATING or type(fn) in (Method, Attribute)
    return known and fn not in _POWERS and type(error) in (TypeError, ValueError)


# -- results in given arrays -----------------------------------------------------------------------------------------

ALLOCATING: frozenset[Callable[..., Any]] = frozenset((np.dot, np.concatenate, np.array))


def allocates(step: Step) -> bool:
    """Whether the function of a step gives an array of its own, with axes, whatever it is called with."""
    fn = step.fn
    return (isinstance(fn, np.ufunc) or fn in ALLOCATING) and step.out.shape != ()


def writes(step: Step, out: Var) -> bool:
    """Whether the function of a step can write into an array of the shape and dtype of `out`."""
    fn, args, kwargs = step.fn, step.args, step.kwargs
    if isinstance(fn, np.ufunc):
        return fn.nout == 1 and not kwargs and len(args) == fn.nin
    if fn is np.dot:
        return len(args) == 2 and not kwargs and _one_kind(step, out)
    if type(fn) is Reduction:
        return fn.method == "reduce" and _reduction(step) is not None
    return fn is np.concatenate and set(kwargs) <= {"axis"} and out.kind == "array"


def written(step: Step, arrays: tuple[Any, ...], out: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The call that writes: a function and its arguments, `arrays` standing for the step's.

    Parameters
    ----------
    step : Step
    arrays : tuple
        The step's arguments with arrays in the places of Vars.
    out : array
    """
    fn = step.fn
    if isinstance(fn, np.ufunc):
        return (partial(fn, out=out), arrays) if fn in KEYWORD else (fn, (*arrays, out))
    if fn is np.dot:
        return (fn, (*arrays, out)) if not isinstance(arrays[0], np.ndarray) else (arrays[0].dot, (arrays[1], out))
    if type(fn) is Reduction:
        axis, dtype, keepdims = _reduction(step)
        return getattr(fn.ufunc, fn.method), (arrays[0], axis, dtype, out, keepdims)
    axis = step.kwargs.get("axis", 0) if len(arrays) == 1 else arrays[1]
    return np.concatenate, (arrays[0], axis, out)


KEYWORD = frozenset((np.maximum, np.minimum))  # which take their result by keyword alone


def _one_kind(step, out):
    """Whether both factors have the dtype of the product: `dot` would convert them behind the scenes."""
    return all(getattr(x, "dtype", None) == out.dtype and x.shape for x in step.args)


def _reduction(step):
    """The arguments (axis, dtype, keepdims) of a reduction, None where there are others."""
    names = ("axis", "dtype", "out", "keepdims")
    given = dict(zip(names, step.args[1:], strict=False)) | step.kwargs
    if set(given) - set(names) or given.get("out") is not None:
        return None
    return given.get("axis", 0), given.get("dtype"), given.get("keepdims", False)
