"""``x.flat``: all entries of an array in their order, to be read and written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qad.typing import Index, Value


def unraveled(numbers: Value, shape: tuple[int, ...]) -> Index:
    """The index of entries with these numbers in an array of this shape; also of one without axes."""
    return np.unravel_index(numbers, shape) if shape else ...


class Flat:
    """What ndarray's attribute `flat` is, for a Tensor or an array that is recorded by `qad.freeze`."""

    __slots__ = ("base",)
    base: Value

    def __init__(self, base: Value):
        self.base = base

    def _index(self, index: Index) -> tuple[Index, int]:
        """The index of the array itself for one of its flat order, and the number of entries that it names."""
        numbers = np.arange(self.base.size)[index]
        return unraveled(numbers, self.base.shape), np.size(numbers)

    def __len__(self) -> int:
        return self.base.size

    def __iter__(self) -> Iterator[Value]:
        return iter(self.copy())

    def __getitem__(self, index: Index) -> Value:
        return self.base.flatten()[index]

    def __setitem__(self, index: Index, value: Value) -> None:
        """Write `value`, whose entries are taken in their order, and again from the first where they are too few."""
        place, count = self._index(index)
        if not count:
            return
        if np.ndim(value):
            value = np.ravel(value)[np.arange(count) % np.size(value)]
            value = value if place is not ... and np.ndim(place[0]) else value[0]
        self.base[place] = value

    def copy(self) -> Value:
        """All entries, in an array of one axis."""
        return self.base.flatten()
