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

from qad.array_api import creation, fft, functions, linalg
from qad.array_api.creation import *
from qad.array_api.dtypes import astype, can_cast, finfo, iinfo, result_type
from qad.array_api.functions import *
from qad.array_api.info import KINDS, __array_namespace_info__
from qad.array_api.sorting import argsort, sort
from qad.rules.protocol.array_protocol import VERSIONS

globals().update({name: getattr(np, name) for name in KINDS["bool"] + KINDS["numeric"]})

__array_api_version__ = VERSIONS[-1]

__all__ = [
    "argsort", "astype", "bool", "can_cast", "complex128", "complex64", "e", "fft", "finfo", "float32", "float64",
    "iinfo", "inf", "int16", "int32", "int64", "int8", "isdtype", "linalg", "nan", "newaxis", "pi", "result_type",
    "sort", "uint16", "uint32", "uint64", "uint8", *creation.__all__, *functions.__all__,
]  # fmt: skip


def __getattr__(name: str) -> ModuleType:
    if name != "special":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module("qad.special")  # which takes a tenth of a second to load
