"""Types of the signatures: arrays, numbers and trees, for your own annotations too.

Shapes and dtypes are not part of the types; docstrings state them.

>>> import numpy as np
>>> from qad.typing import Array, Real
>>> def energy(theta: Array) -> Real:
...     return np.sum(np.cos(theta))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, NamedTuple, ParamSpec, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from qad.core.tape.tensor import Tensor
from qad.typing.words import Cotangent as Cotangent  # what rules and handlers speak of
from qad.typing.words import Index as Index
from qad.typing.words import Rule as Rule
from qad.typing.words import Tangent as Tangent
from qad.typing.words import Value as Value

__all__ = [
    "Array", "ArrayLike", "Axis", "DTypeLike", "EigResult", "FilePath", "Function", "LinearMap", "Number", "Progress",
    "QRResult", "Real", "RealNumber", "SVDResult", "Scalar", "Seed", "Shape", "SlogdetResult", "Tree",
]  # fmt: skip

Array: TypeAlias = npt.NDArray[Any] | Tensor
"""An array, plain or recorded; a number of NumPy where the shape is ().

Functions give Tensors where they were given one.
"""

ArrayLike: TypeAlias = npt.ArrayLike | Tensor
"""What becomes an array: an array, a Tensor, a number, nested lists of numbers."""

Number: TypeAlias = complex | np.number[Any] | Array
"""A number, or an array of shape ()."""

RealNumber: TypeAlias = float | np.floating[Any] | np.integer[Any] | Array
"""A real number, or a real array of shape ()."""

Scalar: TypeAlias = np.floating[Any] | np.complexfloating[Any, Any] | Tensor
"""The result of shape () of a function: NumPy's number, or a recorded one."""

Real: TypeAlias = np.floating[Any] | Tensor
"""The result of shape () of a function that is real: NumPy's number, or a recorded one."""

DTypeLike: TypeAlias = npt.DTypeLike
"""What becomes a dtype: ``float``, ``np.complex64``, "complex128"."""

Shape: TypeAlias = int | Sequence[int]
"""A shape; a number stands for a single axis."""

Axis: TypeAlias = int | Sequence[int]
"""An axis, or several."""

Seed: TypeAlias = int | np.random.Generator
"""Where random numbers come from: the seed of a new generator, or a generator, which moves on."""

FilePath: TypeAlias = str | PathLike[str]
"""The name of a file."""

Tree: TypeAlias = Any
"""A pytree: an array or a number, or containers of pytrees, such as lists, tuples, dicts, dataclasses, chains."""

Function: TypeAlias = Callable[..., Any]
"""Any function."""

LinearMap: TypeAlias = Callable[[Tree], Tree] | ArrayLike
"""A linear operator: a function of a pytree that returns the same structure, or a matrix."""

Progress: TypeAlias = Any
"""None for a progress bar after two seconds, True for one at once, False for none, or a bar of tqdm's kind."""

Vector: TypeAlias = npt.NDArray[np.float64]
"""A vector of real numbers in double precision, such as the unknowns of an optimiser."""

Axes: TypeAlias = int | tuple[int, ...] | None
"""The axes that a reduction runs over: one, several, or all (None)."""

P = ParamSpec("P")  # what a function takes
R = TypeVar("R")  # what it returns
F = TypeVar("F", bound=Function)
T = TypeVar("T")


class SVDResult(NamedTuple):
    """Singular values, and their vectors; NumPy's own kind of tuple."""

    U: Array
    S: Array
    Vh: Array


class EigResult(NamedTuple):
    """Eigenvalues, and eigenvectors in columns; NumPy's own kind of tuple."""

    eigenvalues: Array
    eigenvectors: Array


class QRResult(NamedTuple):
    """A matrix of orthonormal columns and a triangular one; NumPy's own kind of tuple."""

    Q: Array
    R: Array


class SlogdetResult(NamedTuple):
    """The sign or phase of a determinant, and the logarithm of its absolute value; NumPy's own kind of tuple."""

    sign: Array
    logabsdet: Array
