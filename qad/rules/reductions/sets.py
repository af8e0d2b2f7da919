"""Sets of values: where entries are equal they share the derivative equally."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import implements, operand, primitive, rule, value_of

if TYPE_CHECKING:
    from qad.typing import Function, Value


@primitive(name="unique")
def representatives(x: Value, *, first: Value, inverse: Value, counts: Value) -> Value:
    """The entries of a vector at the indices `first`; entry i of the vector equals entry ``inverse[i]`` of them."""
    return x[first]


rule(
    representatives,
    lambda g, y, x, *, first, inverse, counts: (g / counts)[inverse],
    fresh=True,
)


def _unique(x: Value, equal_nan: bool = True) -> tuple[Value, Value, Value, Value]:
    """Values, and their first indices, group numbers (of the shape of `x`) and counts."""
    x = operand(x)
    values, first, inverse, counts = np.unique(
        value_of(x), return_index=True, return_inverse=True, return_counts=True, equal_nan=equal_nan
    )
    flat = inverse.reshape(-1)
    values = representatives(np.reshape(x, -1), first=first, inverse=flat, counts=counts)
    return values, first, inverse.reshape(x.shape), counts


@implements(np.unique)
def unique(
    ar: Value, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
    axis: int | None = None, *, equal_nan: bool = True, sorted: bool = True,
) -> Value | tuple[Value, ...]:  # fmt: skip
    """``np.unique``; along an axis the first of equal slices is taken."""
    if axis is None:
        found = _unique(ar, equal_nan)
    else:
        _, first, inverse, counts = np.unique(value_of(ar), True, True, True, axis, equal_nan=equal_nan)
        found = np.take(ar, first, axis), first, inverse, counts
    wanted = (True, return_index, return_inverse, return_counts)
    chosen = tuple([part for part, asked in zip(found, wanted, strict=True) if asked])
    return chosen[0] if len(chosen) == 1 else chosen


def _tuple_of(function: Function, *places: int) -> Function:
    """A handler of the array API's functions, each of which gives a named tuple of some of what `_unique` finds."""
    kind = type(function(np.zeros(1)))

    def handler(x):
        found = _unique(x, False)
        return kind(*[found[i] for i in places])

    return handler


implements(np.unique_all)(_tuple_of(np.unique_all, 0, 1, 2, 3))
implements(np.unique_counts)(_tuple_of(np.unique_counts, 0, 3))
implements(np.unique_inverse)(_tuple_of(np.unique_inverse, 0, 2))
implements(np.unique_values)(lambda x: _unique(x, False)[0])


@implements(np.union1d)
def union1d(ar1: Value, ar2: Value) -> Value:
    """``np.union1d``."""
    return unique(np.concatenate([np.reshape(operand(a), -1) for a in (ar1, ar2)]))


@implements(np.setdiff1d)
def setdiff1d(ar1: Value, ar2: Value, assume_unique: bool = False) -> Value:
    """``np.setdiff1d``."""
    values = np.reshape(operand(ar1), -1) if assume_unique else unique(operand(ar1))
    return values[~np.isin(value_of(values), value_of(ar2))]
