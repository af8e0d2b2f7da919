"""The namespace of the array-API standard (2024.12): ``xp = x.__array_namespace__()`` of a Tensor.

NumPy's functions have the standard's signatures; here they give Tensors whatever they are given, so that a program
written for the standard stays in one kind of array. What an operand recorded is recorded on; the rest are constants.

Its ``special`` is `qad.special`, where SciPy looks for it (``SCIPY_ARRAY_API=1``); the standard has no such extension.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy import e, inf, isdtype, nan, newaxis, pi

if TYPE_CHECKING:
    from numpy import *  # of which the standard has these dtypes

    from qad.array_api.signatures import *

from qad.array_api import creation, fft, linalg
from qad.array_api.creation import *
from qad.array_api.dtypes import astype, can_cast, finfo, iinfo, result_type
from qad.array_api.functions import argsort, clip, cumulative_prod, cumulative_sum, reshape, sort, unstack, vecdot
from qad.array_api.info import KINDS, __array_namespace_info__
from qad.array_api.wrap import names_of
from qad.rules.protocol.array_protocol import VERSIONS

__array_api_version__ = VERSIONS[-1]

__all__ = [
    "bool", "complex128", "complex64", "e", "fft", "finfo", "float32", "float64", "iinfo", "inf", "int16", "int32",
    "int64", "int8", "isdtype", "linalg", "nan", "newaxis", "pi", "uint16", "uint32", "uint64", "uint8", "astype",
    "can_cast", "result_type", "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and",
    "bitwise_left_shift", "bitwise_invert", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "ceil", "conj",
    "copysign", "cos", "cosh", "divide", "equal", "exp", "expm1", "floor", "floor_divide", "greater", "greater_equal",
    "hypot", "imag", "isfinite", "isinf", "isnan", "less", "less_equal", "log", "log1p", "log2", "log10", "logaddexp",
    "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "multiply", "negative",
    "nextafter", "not_equal", "positive", "pow", "real", "reciprocal", "remainder", "round", "sign", "signbit", "sin",
    "sinh", "square", "sqrt", "subtract", "tan", "tanh", "trunc", "all", "any", "argmax", "argmin", "count_nonzero",
    "diff", "max", "mean", "min", "prod", "std", "sum", "var", "matmul", "matrix_transpose", "tensordot", "isin",
    "nonzero", "searchsorted", "take", "take_along_axis", "unique_all", "unique_counts", "unique_inverse",
    "unique_values", "where", "broadcast_arrays", "broadcast_shapes", "broadcast_to", "concat", "expand_dims", "flip",
    "moveaxis", "permute_dims", "repeat", "roll", "squeeze", "stack", "tile", "clip", "cumulative_prod",
    "cumulative_sum", "reshape", "unstack", "vecdot", "sort", "argsort", *creation.__all__,
]  # fmt: skip

globals().update({name: getattr(np, name) for name in KINDS["bool"] + KINDS["numeric"]})
globals().update(names_of(np, [name for name in __all__ if name not in globals()]))


def __getattr__(name: str) -> ModuleType:
    if name != "special":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module("qad.special")  # which takes a tenth of a second to load
