"""What freezing knows about functions: which answer at once, which write, which shapes depend on values.

Every step holds a function.  NumPy's and the operator module's are themselves; methods and attributes of arrays are
`NamedMethod` and `Attribute`, so that they serve arrays, NumPy's scalars and Python's numbers alike.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.contract.notation.trace import ring_trace, trace_product
from qad.contract.plan.unary import reduce
from qad.contract.run.network import network
from qad.contract.run.pair import contract
from qad.rules.elementwise.complex import square_of_size
from qad.rules.products.products import matrix_product, stack_product
from qad.rules.reductions.reduce import spread

if TYPE_CHECKING:
    from qad.frozen.program.program import Step


class NamedMethod:
    """The method of this name, of whatever the first argument is."""

    __slots__ = ("__name__",)

    def __init__(self, name: str):
        self.__name__: str = name

    def __call__(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(x, self.__name__)(*args, **kwargs)


class Attribute(NamedMethod):
    """The attribute of this name."""

    __slots__ = ()

    def __call__(self, x: Any) -> Any:
        return getattr(x, self.__name__)


method: Callable[[str], NamedMethod] = lru_cache(maxsize=None)(NamedMethod)
attribute: Callable[[str], Attribute] = lru_cache(maxsize=None)(Attribute)

_UFUNC_OF = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.divide, "floordiv": np.floor_divide,
    "mod": np.remainder, "pow": np.power, "matmul": np.matmul, "and_": np.bitwise_and, "or_": np.bitwise_or,
    "xor": np.bitwise_xor, "lshift": np.left_shift, "rshift": np.right_shift, "eq": np.equal, "ne": np.not_equal,
    "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "neg": np.negative,
    "pos": np.positive, "invert": np.invert,
}  # fmt: skip
OPERATORS: dict[str, Callable[..., Any]] = {name: getattr(operator, name) for name in _UFUNC_OF}
UFUNCS: dict[Callable[..., Any], np.ufunc] = {OPERATORS[name]: ufunc for name, ufunc in _UFUNC_OF.items()}
UFUNCS |= {abs: np.absolute, method("conj"): np.conjugate, method("conjugate"): np.conjugate}

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
DIAGONAL, REAL, IMAG, SUM = method("diagonal"), attribute("real"), attribute("imag"), np.add.reduce

# Functions that change the order of axes.
PERMUTING: frozenset[Callable[..., Any]] = frozenset((
    TRANSPOSE, method("swapaxes"), np.transpose, np.swapaxes, np.moveaxis, np.rollaxis,
))  # fmt: skip

# Functions whose result may show the memory of their argument, and does where its layout allows.
VIEWS: frozenset[Callable[..., Any]] = frozenset((
    TRANSPOSE, RESHAPE, DIAGONAL, REAL, IMAG, *map(method, ("swapaxes", "squeeze", "ravel")), operator.getitem,
    np.moveaxis, np.swapaxes, np.squeeze, np.expand_dims, np.diagonal, np.broadcast_to, np.transpose, np.reshape,
    np.atleast_1d, np.atleast_2d,
))  # fmt: skip


# Rooms in which shapes and dtypes depend on values: on clusters of a spectrum, on a rank, on how many entries differ.
_BY_VALUES = ("qad.linalg.", "qad.mps.", "qad.rules.reductions.sets", "numpy.lib.scimath")
# Names of functions and methods of NumPy's that do so too.
_DENIED = frozenset((
    "apply_along_axis", "apply_over_axes", "argwhere", "array_split", "bincount", "compress", "delete", "dsplit", "eig",
    "eigvals", "extract", "flatnonzero", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd", "hsplit",
    "insert", "intersect1d", "ix_", "lstsq", "nonzero", "pad", "poly", "polyadd", "polyder", "polydiv", "polyfit",
    "polyint", "polymul", "polysub", "real_if_close", "repeat", "resize", "roots", "setdiff1d", "setxor1d", "split",
    "tile", "trim_zeros", "union1d", "unique", "unique_all", "unique_counts", "unique_inverse", "unique_values",
    "vsplit",
))  # fmt: skip
# Functions of NumPy's whose further integers are operands, not shapes, axes and the like.
_VALUED = frozenset((
    "clip", "copyto", "dot", "einsum", "fill", "inner", "isclose", "kron", "outer", "place", "put", "putmask", "roll",
    "take", "take_along_axis", "vdot", "where",
))  # fmt: skip


def wants_numbers(fn: Callable[..., Any]) -> bool:
    """Whether integers among the further arguments are shapes, axes and the like, which a program is made for."""
    known = type(fn) is NamedMethod or module_of(fn).startswith("numpy")
    return known and not isinstance(fn, np.ufunc) and fn.__name__ not in _VALUED


def module_of(fn: Callable[..., Any]) -> str:
    """The module of a function; methods of ufuncs have none."""
    return getattr(fn, "__module__", None) or "numpy"


def keeps_shape(fn: Callable[..., Any], args: Sequence[Any]) -> bool:
    """Whether the shape and dtype of the result follow from those of the arguments, so that nothing need be checked."""
    if fn is operator.getitem:
        index = args[1] if type(args[1]) is tuple else (args[1],)
        return all(type(i) in (int, type(None), type(...)) or _is_fixed(i) for i in index)
    module = "numpy" if type(fn) is NamedMethod else module_of(fn)
    known = module == "numpy" or (module.startswith(_KNOWN) and not module.startswith(_BY_VALUES))
    return known and fn.__name__ not in _DENIED and (fn is not np.where or len(args) == 3)


def _is_fixed(i):
    """Whether an index is of integers, or a slice between plain numbers; of others the length depends on values."""
    if type(i) is not slice:
        return getattr(i, "dtype", np.dtype(bool)).kind in "iu"
    return all(x is None or isinstance(x, (int, np.integer)) for x in (i.start, i.stop, i.step))


_KNOWN = ("numpy", "_operator", "builtins", "qad.")
_SAFE = ("numpy", "_operator", "operator", "builtins", "qad.core.", "qad.rules.", "qad.special.", "qad.contract.",
         "qad.frozen.")  # fmt: skip


def may_raise(step: Step) -> bool:
    """Whether a step may raise for some values: what decomposes a matrix does, and what a user wrote.

    An error is part of what a function does, so that such a step is made even where nobody reads its result.
    """
    module = module_of(step.fn)
    return "linalg" in module or not module.startswith(_SAFE)


def is_of_shapes(error: Exception, fn: Callable[..., Any]) -> bool:
    """Whether an operator complains of shapes and dtypes, which every call of the signature has."""
    known = (isinstance(fn, np.ufunc) or fn in UFUNCS) and fn not in (np.power, operator.pow)
    return known and type(error) in (TypeError, ValueError)


def writes(step: Step) -> bool:
    """Whether the function of a step takes an array for its result as one more argument, as here products do."""
    return step.fn is np.dot and len(step.args) == 2 and not step.kwargs


def allocates(step: Step) -> bool:
    """Whether the function of a step gives an array of its own, with axes, whatever it is called with."""
    return (isinstance(step.fn, np.ufunc) or step.fn in (np.dot, np.concatenate, np.array)) and step.out.shape != ()
