"""Buffers and views of them.

A `Store` owns one flat vector in C order, plain or recorded.  A Tensor that shows all of it, or a part, has the level
`Stored`: that holds the store and `places`, the numbers of the entries that it shows.  They are a view of
``arange(n).reshape(shape)``, made by NumPy's own view functions, so that NumPy decides what is a view and which entries
it shows.  The value of such a Tensor is an `ArrayForm`; operations read what the store holds at their call.

Reading copies.  Only whole reads lend the memory, and the next write then copies once; every other write costs the
same, however large the buffer is.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from qad.core.buffers.checks import check_kind, check_shape, read_only, unsure
from qad.core.buffers.indices import covers, flat, is_basic, one_each
from qad.core.buffers.parts import with_part
from qad.core.buffers.store import Store, constant
from qad.core.tape.entries import ArrayForm
from qad.core.tape.levels import Level, barrier, fresh, mode, stopped, unrecorded
from qad.core.tape.node import GETITEM
from qad.core.tape.tensor import CONSTANT, Tensor, held, settled
from qad.core.tape.writing import has_tensors

if TYPE_CHECKING:
    from qad.typing.words import Index, Keywords, Value

PARTS = ("real", "imag")


class Stored(Level):
    """What a Tensor shows of a store.

    Attributes
    ----------
    store : Store
    places : array of int, or under `qad.vmap` a Tensor of them
        The numbers of its entries there, in its own shape.
    part : str
        "real" or "imag" where it shows that part of complex numbers, else empty.
    cut : int
        What levels with lower numbers record is read as a constant.
    version : int or None
        That of the store at which it was taken, if it may not be used any more once that has changed.
    """

    __slots__ = ("store", "places", "part", "cut", "version", "_index")
    number: Any = inf  # above all levels that record, so that they find what was read
    open = True
    quick = False

    def __init__(self, store: Store, places: Any, part: str = "", cut: int = 0, version: int | None = None) -> None:
        self.store: Store = store
        self.places: Any = places
        self.part: str = part
        self.cut: int = cut
        self.version: int | None = version
        self._index: Any = None

    def tensor(self) -> Tensor:
        """A Tensor of this level."""
        dtype = self.store.content.dtype
        return Tensor(ArrayForm(self.places.shape, _REAL[dtype.char] if self.part else dtype), None, self)

    def index(self) -> Index:
        """Where its entries stand in the store; None for all of it."""
        if self._index is None:
            self._index = (self._flat(self.places),)
        return self._index[0]

    def _flat(self, places: Any) -> Index:
        """The index of these of its places, whose strides tell where they stand if they are surely no copy."""
        return flat(places.copy() if type(places) is ndarray and self.version is not None else places)

    def is_whole(self) -> bool:
        places = self.places
        if type(places) is not ndarray or self.version is not None:  # then they may be a copy, in another order
            return False
        return places.flags.c_contiguous and places.size == self.store.content.size

    def is_dense(self) -> bool:
        """Whether its entries follow one another in memory."""
        return not self.part and type(self.places) is ndarray and self.places.flags.c_contiguous

    # -- reading -------------------------------------------------------------------------------------------------------

    def now(self, x: Any) -> Tensor:
        """What `x` shows at this moment."""
        self._check()
        if self.is_whole():
            return self._own_part(self.store.lend(self.places.shape))
        return self._own_part(self.store.read(self.index()))

    def read(self, x: Any, index: Index) -> Any:
        """``x[index]``: a view where NumPy's is one, else a copy."""
        places = self.places
        if has_tensors(index):
            found = (Tensor(places) if type(places) is ndarray else places)[index]
            if all(one_each(i) or is_basic(i) for i in (index if type(index) is tuple else (index,))) and found.ndim:
                return self.view(found)
        else:
            found = places[index]
            if type(found) is Tensor:
                if is_basic(index) and found.ndim:
                    return self.view(settled(found))
            elif type(found) is ndarray and is_basic(index):
                return self.view(found)
        self._check()
        return self._own_part(self.store.read(self._flat(found)))

    def _own_part(self, out: Tensor) -> Tensor:
        if self.part:
            out = held(getattr(out, self.part))
        return constant(out) if out.level.stops and out.level.number < self.cut else out

    def _check(self) -> None:
        if self.version is not None and self.version != self.store.version:
            raise unsure()

    def without(self, x: Any) -> Value:
        return unrecorded(self.now(x))

    # -- views ---------------------------------------------------------------------------------------------------------

    def apply(self, p: Any, args: Any, kwargs: Keywords) -> Any:
        """A view, or what the primitive makes of what is shown now."""
        first = args[0]
        if p.shows and type(first) is Tensor and type(first.level) is Stored:
            if p is GETITEM:
                return first.level.read(first, args[1])
            out = first.level._shown(p, args[1:], kwargs)
            if out is not None:
                return out
        return p.fn(*map(settled, args), **kwargs)

    def _shown(self, p: Any, metadata: Any, kwargs: Keywords) -> Tensor | None:
        """The view that `p` takes, or None where NumPy's is none."""
        places, part = self.places, self.part
        if p.shows in PARTS:
            return self.view(places, part or p.shows)
        if type(places) is not ndarray:
            raise unsure()
        found = p.fn(places, *metadata, **kwargs)
        if type(found) is ndarray and not self.store.ordered and _merges(p, places, metadata, kwargs):
            return None if _never_merges(places, found) else self.unsure_view(found)
        if type(found) is not ndarray or not (found.size == 0 or np.may_share_memory(found, places)):
            return None
        return self.view(found, part)

    def unsure_view(self, places: ndarray) -> Tensor:
        """These places, which NumPy's array shows or copied, until one is written."""
        version = self.store.version if self.version is None else self.version
        return Stored(self.store, places, self.part, self.cut, version).tensor()

    def raveled(self, y: Tensor, order: str) -> Tensor:
        """What ``np.ravel`` makes of this one, whose reshape is `y`: a copy where the entries do not lie in a row."""
        places = self.places.T if order == "F" else self.places
        if not self.store.ordered and places.size > 1:
            return self.unsure_view(places.reshape(-1))
        return y if places.flags.c_contiguous and (not self.part or places.size < 2) else held(y)  # one is in a row

    def view(self, places: Any, part: str | None = None) -> Tensor:
        """A view of this one, with these of its places."""
        part = self.part if part is None else part
        cut = self.cut if mode() is None else max(self.cut, barrier())
        return Stored(self.store, places, part, cut, self.version).tensor()

    def detached(self) -> Tensor:
        """The same, whose values are constants for all levels that are open."""
        places = self.places
        if type(places) is ndarray:
            places = places.view()
            places.flags.writeable = False
        return Stored(self.store, places, self.part, fresh(), self.version).tensor()

    def shows_at(self, index: Index, other: Stored) -> bool:
        """Whether `other` is what this one shows at an index."""
        if other.store is not self.store or other.part != self.part:
            return False
        if has_tensors(index) or type(self.places) is not ndarray or type(other.places) is not ndarray:
            return False
        found, places = np.asarray(self.places[index]), other.places
        here = found.__array_interface__["data"] == places.__array_interface__["data"]
        return here and found.shape == places.shape and found.strides == places.strides

    # -- writing -------------------------------------------------------------------------------------------------------

    def write(self, x: Any, index: Index, v: Value, add: bool) -> None:
        """``x[index] = v``, or ``x[index] += v`` with `add`, each of the entries once for every time it is named."""
        places = self.places
        if self.version is not None:
            raise unsure()
        if type(places) is ndarray and not places.flags.writeable:
            raise read_only()
        check_kind(x, v)
        v = held(v)
        if type(v) is Tensor and (v.level is CONSTANT or stopped(v.level)):
            v = unrecorded(v)
        if covers(index):
            if not (add or self.part) and self.is_whole():
                check_shape(self.places.shape, v, x)
                self.store.replace(v, self.places.shape)
                return
            found = places
        elif has_tensors(index):
            found = (Tensor(places) if type(places) is ndarray else places)[index]
        else:
            found = places[index]
        check_shape(found.shape, v, x)
        index = flat(settled(found))
        if self.part:
            v = with_part(self.store, index, v, self.part, add)
        self.store.write(index, v, add)


_REAL: dict[str, np.dtype[Any]] = {"F": np.dtype("f"), "D": np.dtype("d"), "G": np.dtype("g")}


def _merges(p: Any, places: ndarray, metadata: Any, kwargs: Keywords) -> bool:
    """Whether it depends on the order in which the array lies whether NumPy's result is a view or a copy."""
    arrays = np.zeros(places.shape, np.int8), np.zeros(places.shape, np.int8, order="F")
    return places.size > 0 and not all(np.may_share_memory(p.fn(a, *metadata, **kwargs), a) for a in arrays)


def _never_merges(places: ndarray, found: ndarray) -> bool:
    """Whether all axes become one in `found`, but run in opposite directions: a copy, whatever their order."""
    signs = {np.sign(step) for step, n in zip(places.strides, places.shape, strict=True) if n > 1}
    return found.ndim == 1 and len(signs) > 1


def is_buffer(x: Any) -> bool:
    """Whether `x` is a Tensor that shows a store."""
    return type(x) is Tensor and type(x.value) is ArrayForm


def buffer(array: Any, ordered: bool = True) -> Tensor:
    """A Tensor that may be written into and owns `array`, or holds a copy of the Tensor `array`.

    It is said whether NumPy's array would lie in C order, as ours does; else reshapes that merge axes are no views.
    """
    recorded = type(array) is Tensor
    array = settled(held(array))  # whose views are not views of what the caller has
    content = array.reshape(-1) if array.ndim != 1 else array
    store = Store(settled(content) if recorded else Tensor(content), recorded, ordered or array.ndim < 2)
    return Stored(store, np.arange(array.size).reshape(array.shape)).tensor()
