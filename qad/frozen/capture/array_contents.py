"""What arrays hold, compared whole before every run, at the speed of memory; see `qad.frozen.capture.bindings`."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import numpy as np

from qad.core.tape.constants import Private, copy_of, holds
from qad.frozen.capture.bindings import ARRAYS, Layout

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qad.frozen.capture.bindings import Binding

SMALL = 1 << 15  # bytes of an array that is copied to be compared


def contents(arrays: Iterable[np.ndarray]) -> list[Binding]:
    """Bindings that hold as long as no entry of these arrays changes."""
    arrays = list(arrays)
    known = {id(array) for array in arrays}
    different = {_entries(array): array for array in sorted(arrays, key=_is_flat)}.values()
    return [_binding(array) for array in different if id(array.base) not in known]  # bases are compared whole


def layouts(arrays: Iterable[np.ndarray], compared: Iterable[Binding]) -> list[Binding]:
    """Bindings of the layouts of those arrays that are not compared themselves, but others with their entries."""
    done = {id(owner) for _, owner, _, _ in compared}
    return [("layout", x, Layout.of(x), None) for x in arrays if id(x) not in done]


def while_they_live(arrays: Iterable[np.ndarray]) -> list[Binding]:
    """The same for arrays that the bindings do not keep alive: an array that is gone, or read-only, cannot change."""
    bindings, done = [], set()
    for array in arrays:
        owner = array.base if type(array.base) is np.ndarray and array.base.nbytes <= SMALL else array
        if id(owner) in done or _is_read_only(array):
            continue
        done.add(id(owner))
        small = owner.base is None and owner.nbytes <= SMALL
        test = _Short(owner) if small else _Lasting(_finder(_dense(array)), _dense(array))
        bindings.append(("test", None, f"an array of shape {array.shape}", test))
    return bindings


def _is_read_only(array):
    """Whether no code of the user's can write into the memory of an array: it is read-only, or a copy of the tape's."""
    while type(array.base) is np.ndarray:
        array = array.base
    return type(array.base) is Private or (array.base is None and not array.flags.writeable)


def _dense(array):
    """A view with every entry of memory once: without what `broadcast_to` repeats."""
    repeats = [n > 1 and not step for n, step in zip(array.shape, array.strides, strict=True)]
    return array[tuple([slice(1) if repeated else slice(None) for repeated in repeats])] if any(repeats) else array


def _binding(array):
    if array.nbytes <= SMALL:
        return _small(array)
    array = _dense(array)
    return "test", array, f"an array of shape {array.shape}", _Lasting(lambda: array, array)


def _small(array):
    """The binding that compares a small array."""
    form, numbers = "array", array.dtype.kind in "biufc"  # others do not show their memory
    if numbers and array.flags.forc:
        form = "memory" if array.flags.c_contiguous else "turned"
    return form, array, Layout.of(array), bytearray(array.T.tobytes() if form == "turned" else array.tobytes())


class _Short:
    """Whether a small array that may be gone holds what it did."""

    def __init__(self, array):
        self.alive = weakref.ref(array)
        form, _, self.layout, self.kept = _small(array)
        self.compared = ARRAYS[form]

    def __call__(self):
        array = self.alive()
        return array is None or (self.layout.fits(array) and bool(self.kept == self.compared(array)))


class _Lasting:
    """Whether an array that may be gone holds what it did."""

    def __init__(self, alive, array):
        self.alive, self.layout, self.copy = alive, Layout.of(array), copy_of(array)

    def __call__(self):
        array = self.alive()
        return array is None or (self.layout.fits(array) and holds(self.copy, array))


def _is_flat(array):
    return array.flags.c_contiguous


def _entries(array):
    """Which entries of memory an array consists of: the same for an array and its transpose."""
    axes = sorted([(n, step) for n, step in zip(array.shape, array.strides, strict=True) if n != 1])
    return array.__array_interface__["data"][0], array.dtype, tuple(axes)


def _finder(array):
    """A function that returns `array` as long as its memory exists, and None afterwards.

    A view would keep that memory alive, so it is made again; unless that cannot be, and then it is kept.
    """
    owner = array.base
    if owner is None:
        return weakref.ref(array)
    if type(owner) is not np.ndarray or not owner.flags.owndata or not owner.flags.forc:
        return lambda: array
    memory = weakref.ref(owner)
    form = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0], array.strides
    shape, dtype = array.shape, array.dtype

    def view():
        owner = memory()
        return None if owner is None else np.ndarray(shape, dtype, owner.reshape(-1, order="A"), *form)

    return view
