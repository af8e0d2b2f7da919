"""Arrays built from nested lists of Tensors and numbers: `array`, `r_` and `c_`, which NumPy cannot give Tensors to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import Tensor, any_traced, as_array, operand
from qad.rules.shapes.join import stacked

if TYPE_CHECKING:
    from typing import Any

    from qad.typing import Array, ArrayLike, DTypeLike, Value

__all__ = ["array", "c_", "r_"]
NUMBERS = (bool, int, float, complex)  # Python's, which follow the precision of arrays


def array(object: ArrayLike, dtype: DTypeLike | None = None) -> Array:
    """An array of nested lists or tuples, whose entries may be Tensors: `numpy.array` for recorded values.

    Parameters
    ----------
    object : nested lists or tuples of numbers, arrays and Tensors
        Entries that are arrays add their axes after those of the lists, as in NumPy.
    dtype : dtype, optional
        By default the one to which all entries can be cast.

    Returns
    -------
    Tensor or ndarray
        A Tensor if there is one among the entries, newly allocated in any case.

    Raises
    ------
    ShapeError
        If the lists, or the entries, differ in length.

    Examples
    --------
    >>> import numpy as np, qad
    >>> def rotated(t, x):
    ...     return qad.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]]) @ x
    >>> qad.jacobian(rotated)(0.0, np.array([1.0, 2.0]))
    array([-2.,  1.])
    """
    entries, shape = _spread(object)
    if not any(type(x) is Tensor for x in entries) and not any_traced(*entries):
        return np.array(object, dtype)
    out = _joined(entries, shape) if isinstance(object, (list, tuple)) else np.copy(object)
    return out if dtype is None else out.astype(dtype)


def _spread(x: Value) -> tuple[list[Value], tuple[int, ...]]:
    """The entries of nested lists in a row, and the shape of the lists without them."""
    if not isinstance(x, (list, tuple)):
        return [x], ()
    parts = [_spread(entry) for entry in x]
    if len({shape for _, shape in parts}) > 1:  # lists beside arrays
        parts = [([_joined(*part)], ()) for part in parts]
    inner = parts[0][1] if parts else ()
    return [entry for entries, _ in parts for entry in entries], (len(parts), *inner)


def _joined(entries: list[Value], shape: tuple[int, ...]) -> Value:
    """The array of `entries`, arrays of one shape, in lists of this `shape`."""
    if not shape:
        return entries[0]
    entries = [_entry(x) for x in entries]
    if not entries:
        return np.zeros(shape)
    shapes = sorted({x.shape for x in entries})
    if len(shapes) > 1:
        raise ShapeError(
            f"qad.array: the entries have shapes {' and '.join(map(str, shapes))}, but the lists of an array are all "
            "equally long: pad the shorter ones, or join them with np.concatenate"
        )
    row = stacked(*entries, axis=0)
    return row if len(shape) == 1 else row.reshape(shape + shapes[0]).copy()  # no view, so that it may be written into


def _entry(x: Value) -> Value:
    x = operand(x)
    return x if type(x) is Tensor else as_array(x)


class _Joiner:
    """What `numpy.r_` and `numpy.c_` do, of entries that may be Tensors."""

    __name__: str

    def __init__(self, name: str, like: Any, axis: int, ndmin: int, place: int, doc: str):
        self.__name__, self.__doc__, self._like = name, doc, like
        self._defaults = axis, ndmin, place

    def __repr__(self) -> str:
        return f"qad.{self.__name__}"

    def __getitem__(self, key: Any) -> Array:
        items = key if isinstance(key, tuple) else (key,)
        parts = [each for x in items for each in ((x.start, x.stop, x.step) if isinstance(x, slice) else (x,))]
        if not any(type(x) is Tensor for x in parts) and not any_traced(*parts):
            return self._like[key]
        axis, ndmin, place = self._defaults
        if isinstance(items[0], str):
            (axis, ndmin, place), items = self._told(items[0]), items[1:]
        items = [x if type(x) in NUMBERS else self._item(x) for x in items]
        kind = np.result_type(*[x if type(x) in NUMBERS else x.dtype for x in items])  # numbers follow arrays
        arrays = [np.asarray(x, kind) if type(x) in NUMBERS else x for x in items]
        return np.concatenate([_raised(x, ndmin, place) for x in arrays], axis)

    def _told(self, directive: str) -> tuple[int, ...]:
        """The numbers in a text such as ``"0,2"``: axis, least number of axes, where new ones go."""
        try:
            numbers = [int(part) for part in directive.split(",")]
        except ValueError:
            numbers = []
        if not 1 <= len(numbers) <= 3:
            raise ArgumentError(f"qad.{self.__name__}[{directive!r}, ...] of Tensors: write 'axis', or 'axis,ndmin'")
        return (*numbers, *self._defaults[len(numbers) :])

    def _item(self, x: Value) -> Value:
        if not isinstance(x, slice):
            return array(x)
        start, stop, step = x.start or 0, x.stop, x.step
        if isinstance(step, complex):
            return np.linspace(start, stop, int(abs(step)))
        if any(type(part) is Tensor for part in (start, stop, step)):
            raise ArgumentError(
                f"qad.{self.__name__}: the number of entries of a range is no function that has a derivative: write "
                "a:b:5j for five points, or np.arange(n) * step + start"
            )
        return self._like[x]


def _raised(x: Value, ndmin: int, place: int) -> Value:
    """`x` with at least `ndmin` axes; its own begin at number `place` among them."""
    new = ndmin - x.ndim
    if new <= 0:
        return x
    first = place if place >= 0 else place + new + 1
    return x.reshape((1,) * first + x.shape + (1,) * (new - first))


r_: _Joiner = _Joiner(
    "r_", np.r_, 0, 1, -1,
    """`numpy.r_` for Tensors: vectors and numbers in a row.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(lambda x: np.sum(qad.r_[0.0, x, 1.0] ** 2))(np.array([1.0, 2.0]))
    array([2., 4.])
    """,
)  # fmt: skip
c_: _Joiner = _Joiner(
    "c_", np.c_, -1, 2, 0,
    """`numpy.c_` for Tensors: vectors as the columns of a matrix.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(lambda x: np.sum(qad.c_[x, np.ones(2)] @ np.array([3.0, 1.0])))(np.array([1.0, 2.0]))
    array([3., 3.])
    """,
)  # fmt: skip
