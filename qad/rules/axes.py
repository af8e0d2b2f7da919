"""The axes that a reduction runs over."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qad.typing import Axes


def axes_of(axis: Axes, ndim: int) -> tuple[int, ...]:
    """`axis` as NumPy's reductions take it, as a tuple of non-negative numbers."""
    if axis is None:
        return tuple(range(ndim))
    return tuple(a + ndim if a < 0 else a for a in (axis if isinstance(axis, tuple) else (axis,)))


def count(shape: tuple[int, ...], axis: Axes) -> int:
    """How many entries are reduced to one."""
    n = 1
    for a in axes_of(axis, len(shape)):
        n *= shape[a]
    return n
