"""The namespace of the array-API standard (2024.12): ``xp = x.__array_namespace__()`` of a Tensor.

NumPy's functions have the standard's signatures; here they give Tensors whatever they are given, so that a program
written for the standard stays in one kind of array. What an operand recorded is recorded on; the rest are constants.

Its ``special`` is `qad.special`, where SciPy looks for it (``SCIPY_ARRAY_API=1``); the standard has no such extension.
"""

from importlib import import_module
from types import ModuleType

from numpy import (
    bool,
    complex64,
    complex128,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    isdtype,
    uint8,
    uint16,
    uint32,
    uint64,
)  # fmt: skip

from qad.array_api import fft, functions, linalg
from qad.array_api.creation import (
    arange,
    asarray,
    empty,
    empty_like,
    eye,
    from_dlpack,
    full,
    full_like,
    linspace,
    meshgrid,
    ones,
    ones_like,
    tril,
    triu,
    zeros,
    zeros_like,
)  # fmt: skip
from qad.array_api.dtypes import astype, can_cast, finfo, iinfo, result_type
from qad.array_api.functions import *
from qad.array_api.info import __array_namespace_info__
from qad.array_api.sorting import argsort, sort
from qad.rules.protocol.array_protocol import VERSIONS

__array_api_version__ = VERSIONS[-1]

__all__ = [
    "arange", "argsort", "asarray", "astype", "bool", "can_cast", "complex128", "complex64", "empty",
    "empty_like", "eye", "fft", "finfo", "float32", "float64", "from_dlpack", "full", "full_like", "iinfo",
    "int16", "int32", "int64", "int8", "isdtype", "linalg", "linspace", "meshgrid", "ones", "ones_like",
    "result_type", "sort", "tril", "triu", "uint16", "uint32", "uint64", "uint8", "zeros", "zeros_like",
    *functions.__all__,
]  # fmt: skip


def __getattr__(name: str) -> ModuleType:
    if name != "special":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module("qad.special")  # which takes a tenth of a second to load
