"""Captured arrays: plain arrays from closures and globals are constants of a program.

Those that met a traced array, and those that the function or a static argument can reach by name, are watched.
Before every run the ones that still exist are compared with what they were: up to 32 KiB byte by byte, larger ones by
sums over rows and columns of their bits, which see any change of one entry and any exchange of two in different rows or
columns.  Where one has changed the function is recorded anew.  A view exists as long as the memory that it shows.
"""

import weakref
from contextlib import contextmanager

import numpy as np

from qad.core.errors import ArgumentError

__all__ = ["Watch", "untouched"]

SMALL = 1 << 15  # bytes, of which a copy is made and compared in less time than sums take


class Watch:
    """The captured arrays of one program."""

    __slots__ = ("small", "large")

    def __init__(self, captured):
        self.small, self.large = [], []
        known = {id(array) for array in captured}
        for array in {_entries(array): array for array in sorted(captured, key=_is_flat)}.values():
            if id(array.base) in known:
                continue  # a view of what is watched anyway
            alive = _finder(array)
            if array.nbytes <= SMALL:
                self.small.append((alive, array.tobytes()))
            else:
                self.large.append((alive, _sums(array)))

    def changed(self):
        """Whether any array differs from what it was."""
        return self._differ("small", np.ndarray.tobytes) or self._differ("large", _sums)

    def _differ(self, kind, look):
        """Whether any of these looks other than it did; those that are gone are not asked for again."""
        held, gone = getattr(self, kind), False
        for alive, content in held:
            array = alive()
            if array is None:
                gone = True
            elif look(array) != content:
                return True
        if gone:
            setattr(self, kind, [entry for entry in held if entry[0]() is not None])
        return False


def _is_flat(array):
    return array.flags.c_contiguous


def _entries(array):
    """Which entries of which memory an array shows: the same for an array and its transpose."""
    axes = sorted([(n, step) for n, step in zip(array.shape, array.strides, strict=True) if n != 1])
    return array.__array_interface__["data"][0], array.dtype, tuple(axes)


def _finder(array):
    """A function that returns `array` as long as its memory exists; afterwards nobody can change it, and it is None.

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


@contextmanager
def untouched(arrays):
    """Raise where what happens inside changes one of these."""
    before = Watch(arrays)
    yield
    if before.changed():
        raise ArgumentError(
            "qad.freeze: the function writes into an array from outside of it (a global, a closure's, an attribute's), "
            "which a replay would not repeat: return the result instead, or write into a copy"
        )


def _sums(array):
    """Sums of the bits along both axes of a matrix, as bytes."""
    bits = np.frombuffer(np.ascontiguousarray(array).reshape(-1).view(np.uint8), np.uint8)
    words = bits[: bits.size // 8 * 8].view(np.int64)
    width = max(1, int(len(words) ** 0.5))
    body = words[: len(words) // width * width].reshape(-1, width)
    rows, columns = np.add.reduce(body, 1), np.add.reduce(body, 0)
    return rows.tobytes() + columns.tobytes() + words[body.size :].tobytes() + bits[words.nbytes :].tobytes()
