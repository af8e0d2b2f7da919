"""Structured cotangents: the identity that comes out of a trace, the zeros around an indexed entry."""

from math import prod

import numpy as np

from qad.extend import Lazy, defvjp, primitive, value_of


class ScaledIdentity(Lazy):
    """The cotangent of a trace: ``scale`` times the identity on the last two axes.

    Products take it as a factor without forming it, see `times` and `after`.

    Parameters
    ----------
    scale : array
        Of the batch shape ``shape[:-2]``.
    shape : tuple
        The last two axes need not be equal.
    """

    __slots__ = ("scale", "shape", "dtype")

    def __init__(self, scale, shape):
        self.scale = scale
        self.shape = shape
        self.dtype = scale.dtype

    @property
    def real(self):
        return ScaledIdentity(self.scale.real, self.shape)

    def dense(self):
        identity = np.eye(*self.shape[-2:], dtype=bool, like=kin(value_of(self.scale)))
        return self.scale[..., None, None] * identity

    def times(self, matrix):
        """``self @ matrix``, newly allocated."""
        rows, columns = self.shape[-2:]
        if rows != columns:
            return self.dense() @ matrix
        return self.scale * matrix if len(self.shape) == 2 else self.scale[..., None, None] * matrix

    def after(self, matrix):
        """``matrix @ self``, newly allocated."""
        return self.times(matrix) if self.shape[-2] == self.shape[-1] else matrix @ self.dense()

    def add(self, other):
        if type(other) is ScaledIdentity:
            return ScaledIdentity(self.scale + other.scale, self.shape)
        return self.dense() + (other.dense() if isinstance(other, Lazy) else other)


class Scatter(Lazy):
    """A sum of arrays, each standing at an index of a larger array of zeros: the cotangent of ``x[index]``.

    Cotangents of many ``x[i]`` gather in one list, and fill one array when they are needed.

    Parameters
    ----------
    shape, dtype : of the larger array
    parts : list of (index, array)
        Indices as NumPy takes them; the list is added to in place.
    """

    __slots__ = ("shape", "dtype", "parts", "waiting")

    def __init__(self, shape, dtype, parts):
        self.shape = shape
        self.dtype = dtype
        self.parts = parts
        self.waiting = 0  # numbers that have been added to the list

    @property
    def real(self):
        return Scatter(self.shape, np.empty(0, self.dtype).real.dtype, [(i, part.real) for i, part in self.parts])

    def dense(self):
        indices, parts = zip(*self.parts, strict=True)
        return scatter(*parts, indices=indices, shape=self.shape, dtype=self.dtype)

    def add(self, other):
        self.dtype = np.result_type(self.dtype, other.dtype)  # a real node may be sent complex cotangents
        if type(other) is Scatter:
            self.parts += other.parts
            self.waiting += other.waiting + sum([part.size for _, part in other.parts])
        else:
            whole = other.dense() if isinstance(other, Lazy) else other
            self.parts.append((..., whole))
            self.waiting += whole.size
        if self.waiting > 1000 + 4 * prod(self.shape):  # together they never hold much more memory than their sum
            self.parts, self.waiting = [(..., self.dense())], 0
        return self


@primitive
def scatter(*parts, indices, shape, dtype):
    """Zeros of this shape, to which each of `parts` is added at its index; repeated entries add up."""
    out = np.zeros(shape, dtype, like=kin(parts[0]))
    places = None
    for index, part in zip(indices, parts, strict=True):
        if may_repeat(index):
            if places is None:
                places = np.arange(out.size).reshape(shape)
            np.add.at(out.reshape(-1), places[index].reshape(-1), part.reshape(-1))  # 50 times quicker flat
        else:
            out[index] += part
    return out


def _gather(needed, g, ans, *parts, indices, shape, dtype):
    return [g[indices[i]] for i in needed]


defvjp(scatter, shared=_gather)


def may_repeat(index) -> bool:
    """Whether `index` might name an entry twice: with an array of integers in it, or several arrays."""
    if type(index) is not tuple:
        return isinstance(index, np.ndarray) and index.dtype != bool
    arrays = [i for i in index if isinstance(i, np.ndarray)]
    return len(arrays) > 1 or (len(arrays) == 1 and arrays[0].dtype != bool)


def kin(x):
    """`x` where it can make arrays of its own kind (``like=``), None for NumPy's scalars."""
    return x if hasattr(x, "__array_function__") else None
