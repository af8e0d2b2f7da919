"""Structured cotangents: the identity that comes out of a trace, the zeros around an indexed entry."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from qad.extend import ARRAY_TYPES, Lazy, One, Tensor, is_foreign, like, primitive, rule, spread_out, value_of
from qad.extend.memory import buffer, is_buffer, moved

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.typing import Cotangent, DTypeLike, Index, Tangent, Value


class ScaledIdentity(Lazy):
    """The cotangent of a trace: ``scale`` times the identity on the last two axes.

    A product with it, on either side, is the product with its `factor`.

    Parameters
    ----------
    scale : array
        Of the batch shape ``shape[:-2]``.
    shape : tuple
        The last two axes are equal.
    """

    __slots__ = ("scale", "shape", "dtype", "factor")
    scale: Cotangent
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    factor: Cotangent

    def __init__(self, scale: Cotangent, shape: tuple[int, ...]):
        self.scale = scale
        self.shape = shape
        self.dtype = scale.dtype
        if type(scale) is One:
            self.factor = scale
        else:
            self.factor = scale[...] if len(shape) == 2 else scale[..., None, None]

    @property
    def real(self) -> ScaledIdentity:
        return ScaledIdentity(self.scale.real, self.shape)

    def dense(self) -> Value:
        if type(self.scale) is One:
            return np.eye(self.shape[-1], dtype=self.dtype)
        return self.factor * np.eye(self.shape[-1], dtype=bool, like=kin(value_of(self.factor)))

    def add(self, other: Cotangent) -> Cotangent:
        if type(other) is ScaledIdentity:
            return ScaledIdentity(self.scale + other.scale, self.shape)
        return self.dense() + (other.dense() if isinstance(other, Lazy) else other)


class Scatter(Lazy):
    """A sum of arrays, each standing at an index of a larger array of zeros: the cotangent of ``x[index]``.

    Two of them make one array, into which others are added; those that are recorded themselves gather in one list, and
    fill one array when it is needed.

    Parameters
    ----------
    shape, dtype : of the larger array
    parts : list of (index, array)
        Indices as NumPy takes them; the list is added to in place.
    """

    __slots__ = ("shape", "dtype", "parts", "waiting")
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    parts: list[tuple[Index, Value]]
    waiting: int

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], parts: list[tuple[Index, Value]]):
        self.shape = shape
        self.dtype = dtype
        self.parts = parts
        self.waiting = 0  # entries that have been added to the list

    @property
    def real(self) -> Scatter:
        return Scatter(self.shape, np.empty(0, self.dtype).real.dtype, [(i, part.real) for i, part in self.parts])

    def dense(self) -> Value:
        indices, parts = zip(*self.parts, strict=True)
        return scatter(*parts, indices=indices, shape=self.shape, dtype=self.dtype)

    def add(self, other: Cotangent) -> Cotangent:
        if type(other) is Scatter and len(self.parts) == 1 and type(self.parts[0][1]) in ARRAY_TYPES:
            return other.into(self.dense())
        if other.dtype is not self.dtype:
            self.dtype = np.result_type(self.dtype, other.dtype)  # a real node may be sent complex cotangents
        if type(other) is Scatter:
            self.parts += other.parts
            self.waiting += other.waiting
            for _, part in other.parts:
                self.waiting += part.size
        else:
            whole = other.dense() if isinstance(other, Lazy) else other
            self.parts.append((..., whole))
            self.waiting += whole.size
        if self.waiting > 1000 and self.waiting > 1000 + 4 * prod(
            self.shape
        ):  # together they never hold much more memory than their sum
            self.parts, self.waiting = [(..., self.dense())], 0
        return self

    def into(self, g: Cotangent) -> Cotangent:
        index, part = self.parts[0]
        plain = len(self.parts) == 1 and type(g) is np.ndarray and type(part) in ARRAY_TYPES
        if plain and part.dtype is g.dtype and (type(index) is int or not may_repeat(index)):
            g[index] += part
            return g
        if not self.shape or (type(g) is Tensor and not is_buffer(g)):
            return self.add(g)
        dtype = np.result_type(g.dtype, *{part.dtype for _, part in self.parts})
        if hasattr(g, "__qad_step__"):  # programs of `qad.freeze` write into nothing
            return Scatter(self.shape, dtype, [(..., g), *self.parts])
        if dtype != g.dtype:
            return self.add(g)
        for index, part in self.parts:
            if type(part) is Tensor and (type(g) is np.ndarray or is_foreign(g)):
                g = buffer(g)
            elif not isinstance(part, (np.ndarray, np.generic)) and type(g) is np.ndarray:
                g = moved(g, part)
            if type(g) is np.ndarray and not may_repeat(index):
                g[index] += part
            else:
                np.add.at(g, index, part)
        return g


@primitive(name="getitem")
def scatter(*parts: Value, indices: Sequence[Index], shape: tuple[int, ...], dtype: DTypeLike) -> Value:
    """Zeros of this shape, to which each of `parts` is added at its index; repeated entries add up."""
    out = np.zeros(shape, dtype, like=kin(parts[0]))
    places = None  # flat indices into `out`, once they are needed
    for index, part in zip(indices, parts, strict=True):
        if type(index) is int or not may_repeat(index):
            add_at(out, index, part)
            continue
        if out.ndim > 1 or type(index) is tuple:
            places = like(out).arange(out.size).reshape(shape) if places is None else places
            index = places[index]
        np.add.at(out.reshape(-1), index.reshape(-1), part.reshape(-1))  # flat: a fiftieth of the time
    return out


def add_at(array: Value, index: Index, part: Value) -> None:
    """Add `part` to ``array[index]``, none of whose entries is named twice."""
    there = array[index]
    if type(there) is np.ndarray and np.may_share_memory(there, array):
        there += part  # without writing it back, as ``array[index] += part`` does
    else:
        array[index] = there + part


def _gather(
    needed: Sequence[int], g: Cotangent, ans: Value, *parts: Value, indices: Sequence[Index], shape: tuple[int, ...],
    dtype: DTypeLike,
) -> list[Cotangent]:  # fmt: skip
    return [g[indices[i]] for i in needed]


def _scatter_forward(
    tangents: Sequence[Tangent | None], ans: Value, *parts: Value, indices: Sequence[Index], shape: tuple[int, ...],
    dtype: DTypeLike,
) -> Tangent:  # fmt: skip
    moving = [i for i, t in enumerate(tangents) if t is not None]
    indices = tuple([indices[i] for i in moving])
    return scatter(*[tangents[i] for i in moving], indices=indices, shape=shape, dtype=dtype)


def behind(index: Index) -> int:
    """The number of axes that NumPy puts before those of slices in ``x[index]``: not 0 where arrays stand apart."""
    parts = index if type(index) is tuple else (index,)
    if not any(isinstance(i, np.ndarray) for i in parts):
        return 0
    kinds = [np.ndim(i) if isinstance(i, (np.ndarray, np.generic, int)) else None for i in parts]
    arrays = [n for n, kind in enumerate(kinds) if kind is not None]
    if arrays[-1] - arrays[0] < len(arrays):
        return 0
    return max(1 if parts[n].dtype == bool else kinds[n] for n in arrays if isinstance(parts[n], np.ndarray))


def within(index: Index) -> tuple[Index, ...]:
    """`index` behind the axis of the batch."""
    return (slice(None), *index) if type(index) is tuple else (slice(None), index)


def _scatter_each(
    batched: Sequence[bool], *parts: Value, indices: Sequence[Index], shape: tuple[int, ...], dtype: DTypeLike
) -> Value:
    wholes = spread_out(batched, parts)
    shape = (len(wholes[0]), *shape)
    wholes = [np.moveaxis(p, 0, n) if (n := behind(i)) else p for p, i in zip(wholes, indices, strict=True)]
    return scatter(*wholes, indices=tuple(map(within, indices)), shape=shape, dtype=dtype)


rule(scatter, shared=_gather, forward_shared=_scatter_forward, batch=_scatter_each)


def may_repeat(index: Index) -> bool:
    """Whether `index` might name an entry twice: with an array of integers in it, or several arrays."""
    if type(index) is not tuple:
        return (isinstance(index, np.ndarray) or is_foreign(index)) and index.dtype != bool
    arrays = [i for i in index if isinstance(i, np.ndarray) or is_foreign(i)]
    return len(arrays) > 1 or (len(arrays) == 1 and arrays[0].dtype != bool)


def kin(x: Value) -> Value | None:
    """`x` where it can make arrays of its own kind (``like=``), None for NumPy's scalars."""
    return x if hasattr(x, "__array_function__") else None
