"""Captured arrays: plain arrays from closures and globals are constants of a program.

Those that met a traced array, and those that the function or a static argument can reach by name, are watched.
Before every run the ones that still exist are compared with what they were: up to 4 KiB byte by byte, larger ones by
sums over rows and columns of their bits, which see any change of one entry and any exchange of two in different rows or
columns.  Where one has changed the function is recorded anew.
"""

import weakref
from contextlib import contextmanager

import numpy as np

from qad.core.errors import ArgumentError

__all__ = ["Watch", "untouched"]

SMALL = 4096  # bytes


class Watch:
    """The captured arrays of one program."""

    __slots__ = ("small", "large")

    def __init__(self, captured):
        self.small, self.large = [], []
        for array in {id(array): array for array in captured}.values():
            # a view keeps what it shows alive; an array of its own may go, and then nobody can change it
            alive = (lambda array=array: array) if array.base is not None else weakref.ref(array)
            if array.nbytes <= SMALL:
                self.small.append((alive, array.tobytes()))
            else:
                self.large.append((alive, _sums(array)))

    def changed(self):
        """Whether any array differs from what it was."""
        for alive, content in self.small:
            array = alive()
            if array is not None and array.tobytes() != content:
                return True
        for alive, content in self.large:
            array = alive()
            if array is not None and _sums(array) != content:
                return True
        return False


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
