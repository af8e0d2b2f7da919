"""Where in its root a view lies: what to write there, at which index, for a write into the view."""

from __future__ import annotations

import math
from operator import getitem
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.define import primitive, rule, unbroadcast
from qad.core.errors import ArgumentError
from qad.core.families import ENTRIES
from qad.core.foreign import like
from qad.core.mutation.aliases import lies_in, root_of, shadow, unsure
from qad.core.mutation.indices import composed, has_tensors
from qad.core.mutation.writing import get
from qad.core.tape.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from qad.core.words import Index, Tangent, Value

NOTHING = np.False_  # the index that names no entry of an array without axes


def spot(x: Tensor, index: Any, v: Any, add: bool) -> Any:
    """The index and the value to be written into the root of view `x`, for `v` at `index` of `x`."""
    place = place_of(x, index)
    if place is not None:
        return place, v
    root, whole, part = root_of(x), *shadows(x)
    if not part.flags.writeable:
        raise ArgumentError(
            "NumPy makes this view read-only (np.broadcast_to and np.diagonal do): write into the whole, with "
            "b[i, i] = value or into np.einsum('ii->i', b) for a diagonal, or take a copy first: x = x.copy()"
        )
    if not lies_in(part, whole):
        unsure(x)
    place, offset = entries(whole if root.ndim else whole.reshape(1), part, index)
    if root.ndim == 0:
        place, v = _of_the_only_entry(np.shape(place[0]), v, add)
    if part.dtype != root.dtype:
        if root.dtype.kind != "c" or part.dtype != whole.real.dtype:
            raise ArgumentError("a view of another dtype cannot be written into: take a copy first, x = x.copy()")
        v = _as_complex(root, place, v, offset > 0, add)
    return place, v


def place_of(x: Tensor, index: Index) -> Index:
    """The index into the root of view `x` that names ``x[index]``, if a basic one does; else None."""
    while type(x.buffer) is tuple:
        x, again, metadata, _ = x.buffer
        if again is not getitem:
            return None
        index = metadata[0] if index is ... else composed(metadata[0], index, x.shape)
        if index is None:
            return None
    return index


def shadows(x: Tensor) -> tuple[NDArray[Any], NDArray[Any]]:
    """Arrays that lie in memory as NumPy's would in the places of the root of `x`, and of `x`."""
    if type(x.buffer) is not tuple:
        whole = shadow(x)
        return whole, whole
    base, again, metadata, _ = x.buffer
    whole, part = shadows(base)
    return whole, again(part, *metadata)


def entries(whole: NDArray[Any], part: NDArray[Any], index: Index) -> tuple[Index, int]:
    """The index of entries of `whole`, an array with memory of its own, that names what ``part[index]`` shows.

    `part` is a view of `whole`; also returned is by how many bytes its entries begin after those of `whole`.
    """
    offsets = np.full(part.shape, _address(part) - _address(whole), np.intp)
    for axis, (n, stride) in enumerate(zip(part.shape, part.strides, strict=True)):
        offsets += (np.arange(n) * stride).reshape((n,) + (1,) * (part.ndim - axis - 1))
    numbers, rest = np.divmod(offsets, whole.itemsize)
    place = [numbers * 0] * whole.ndim
    for axis in sorted(range(whole.ndim), key=lambda axis: -whole.strides[axis]):
        if whole.shape[axis] > 1:
            place[axis], numbers = np.divmod(numbers, whole.strides[axis] // whole.itemsize)
    place = [(Tensor(i) if has_tensors(index) else i)[index] for i in place]
    return tuple(place), np.max(rest, initial=0)


def _of_the_only_entry(named: tuple[int, ...], v: Any, add: bool) -> tuple[Index, Any]:
    """Where and what to write into an array without axes for `v`, at an index that names it in the shape `named`.

    The index may name the entry once, several times, of which the last one stays, or not at all.
    """
    if 0 in named:
        return NOTHING, 0.0
    if math.prod(named) > 1:
        v = np.broadcast_to(np.reshape(v, np.shape(v)[-len(named) :]), named)
        v = np.sum(v) if add else np.reshape(v, -1)[-1]
    return ..., np.reshape(v, ())


def _address(array: NDArray[Any]) -> int:
    return array.__array_interface__["data"][0]


# -- the real part of a complex array, or the imaginary one ------------------------------------------------------------


def _as_complex(root: Tensor, place: Index, v: Value, imag: bool, add: bool) -> Value:
    """What to write at `place` of a complex array for real `v` in the one part of it; the other part stays."""
    if add:
        return v * 1j if imag else v
    return exchanged(get(root, place), v, imag=imag)


@primitive
def exchanged(z: Value, y: Value, *, imag: bool) -> Value:
    """A copy of `z` with `y` in the place of its real part, or of its imaginary part."""
    out = like(z, y).array(np.broadcast_to(z, np.broadcast_shapes(np.shape(z), np.shape(y))))
    out = out if out.dtype.kind == "c" else like(z, y).asarray(out + 0j)  # a tangent may be real
    if imag:
        out.imag = y
    else:
        out.real = y
    return out[()]


def _exchanged_forward(tangents: Sequence[Tangent], ans: Value, z: Value, y: Value, *, imag: bool) -> Tangent:
    t, s = tangents
    t = like(ans).zeros(ans.shape, ans.dtype) if t is None else t
    return exchanged(t, 0.0 if s is None else s, imag=imag)


rule(
    exchanged,
    lambda g, ans, z, y, *, imag: unbroadcast(g.real + 0j if imag else g.imag * 1j, np.shape(z)),
    lambda g, ans, z, y, *, imag: unbroadcast(-g.imag if imag else g.real, np.shape(y)),
    forward_shared=_exchanged_forward,
    batch=ENTRIES,
)
