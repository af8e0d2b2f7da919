"""Lists of arrays as one vector, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import like

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from qad.typing import DTypeLike


class Packing:
    """The bijection between lists of arrays like `leaves` and vectors, linear over the real numbers.

    The vector is complex where all arrays are and `real` is not asked for.  Otherwise it is real, and holds a complex
    entry as the pair (real part, imaginary part): then the inner product of two vectors is ``Re <a, b>``.

    Parameters
    ----------
    leaves : list of float or complex arrays or NumPy scalars
    real : bool
        Whether the vector is real also where all arrays are complex.
    dtype : dtype, optional
        Of the vector; by default the one that holds all arrays without loss.

    Examples
    --------
    >>> import numpy as np
    >>> packing = Packing([np.array([1 + 2j]), np.float64(3.0)])
    >>> packing.pack([np.array([1 + 2j]), 3.0])
    array([1., 2., 3.])
    >>> packing.unpack(np.array([5.0, 6.0, 7.0]))
    [array([5.+6.j]), np.float64(7.0)]
    """

    like: list[Any]
    complex: list[bool]
    real: bool
    dtype: np.dtype[Any]
    ends: np.ndarray

    def __init__(self, leaves: Iterable[Any], real: bool = False, dtype: DTypeLike | None = None):
        self.like = list(leaves)
        self.complex = [x.dtype.kind == "c" for x in self.like]
        self.real = real or not all(self.complex)
        wide = np.empty(0, np.result_type(*(x.dtype for x in self.like)) if dtype is None else dtype)
        self.dtype = wide.real.dtype if self.real else wide.dtype
        self.ends = np.cumsum(
            [x.size * (2 if self.real and c else 1) for x, c in zip(self.like, self.complex, strict=True)]
        )

    def pack(self, leaves: Iterable[Any]) -> np.ndarray:
        """The vector that holds `leaves`, in memory of its own."""
        parts = [x if c else np.real(x) for x, c in zip(leaves, self.complex, strict=True)]
        if self.real:
            parts = [as_reals(x, self.dtype) for x in parts]
        return np.concatenate([np.ravel(x) for x in parts], dtype=self.dtype)

    def unpack(self, vector: np.ndarray) -> list[Any]:
        """The arrays that `vector` holds, in memory of their own."""
        ends = self.ends.tolist()
        parts = [vector[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]
        return [as_leaf(part, like) for part, like in zip(parts, self.like, strict=True)]


def as_reals(leaf: Any, dtype: DTypeLike = np.float64) -> np.ndarray:
    """The entries of a float or complex array as a vector of floats."""
    if isinstance(leaf, np.ndarray) and leaf.dtype == dtype:
        return leaf.reshape(-1)
    wide = like(leaf).ascontiguousarray(leaf, np.result_type(dtype, np.complex64) if np.iscomplexobj(leaf) else dtype)
    return wide.reshape(-1).view(dtype)


def as_leaf(part: np.ndarray, like: Any) -> Any:
    """The entries in the vector `part` as an array like `like`, or a NumPy scalar."""
    if like.dtype.kind == "c" != part.dtype.kind:
        part = part.view(np.result_type(part, np.complex64))
    array = part.astype(like.dtype).reshape(like.shape)
    return array[()] if isinstance(like, np.generic) else array
