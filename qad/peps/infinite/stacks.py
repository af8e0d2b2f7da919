"""What stands around all sites in all directions at once: members of one shape as one array, or symmetric tensors.

Moves are written by these functions.  Arrays have an axis in front that counts the members, and legs are counted
without it; a `SymStack` has the numbers of all its members in a row.
"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qad.extend import primitive, rule
from qad.symmetric import stacks
from qad.symmetric.generic import orders
from qad.symmetric.stacks import SymStack
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Array

    Stack: TypeAlias = Array | SymStack

Axes = tuple[tuple[int, ...], tuple[int, ...]]


def stacked(members: Sequence[Any], rows: int, equal: bool = False) -> Stack:
    """A stack; arrays are filled up with zeros to the longest of their legs, where `equal` the longest of all."""
    if type(members[0]) is SymTensor:
        return stacks.of_members([x.resplit(rows) for x in members])
    shape = np.max([x.shape for x in members], axis=0)
    return np.stack([filled(x, np.full(len(shape), shape.max()) if equal else shape) for x in members])


def filled(x: Array, shape: Sequence[int]) -> Array:
    """An array with zeros at its ends."""
    if x.shape == tuple(shape):
        return x
    return np.pad(x, [(0, n - m) for n, m in zip(shape, x.shape, strict=True)])


def join(x: Stack, y: Stack, axes: Axes) -> Stack:
    """Contract legs of each member with legs of another's."""
    if type(x) is SymStack:
        return stacks.join(x, y, axes)
    first, second, count = orders(x.ndim - 1, y.ndim - 1, axes)
    x = x if first is None else laid(x, order=first)
    y = y if second is None else laid(y, order=second)
    (n, *rows), columns = x.shape[: x.ndim - count], y.shape[1 + count :]
    inner = prod(y.shape[1 : 1 + count])
    return (x.reshape(n, prod(rows), inner) @ y.reshape(n, inner, prod(columns))).reshape(n, *rows, *columns)


def turned(x: Stack, order: tuple[int, ...], rows: int) -> Stack:
    """All members with their legs in another order, in which their numbers lie; the first `rows` as those of a map."""
    if type(x) is SymStack:
        return stacks.turned(x, order, rows)
    return x if order == tuple(range(x.ndim - 1)) else laid(x, order=order)


@primitive
def laid(x: Array, *, order: tuple[int, ...]) -> Array:
    """All members with their legs in another order, and their numbers too."""
    return np.ascontiguousarray(x.transpose(0, *[1 + axis for axis in order]))


rule(laid, lambda g, ans, x, *, order: laid(g, order=inverse(order)), linear=True)


def permuted(x: Stack, order: tuple[int, ...]) -> Stack:
    """The members in another order."""
    return x.permuted(order) if type(x) is SymStack else reordered(x, order=order)


@primitive
def reordered(stack: Array, *, order: tuple[int, ...]) -> Array:
    """The members of a stack in another order."""
    return stack[list(order)]


@cache
def inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    """The order that puts the members back."""
    return tuple(np.argsort(order).tolist())


rule(reordered, lambda g, ans, stack, *, order: reordered(g, order=inverse(order)), linear=True)


def overlaps(x: Stack, y: Stack) -> Array:
    """The sum of ``x.conj() * y`` over each member."""
    if type(x) is SymStack:
        return stacks.overlaps(x, y)
    return np.vecdot(x.reshape(len(x), -1), y.reshape(len(y), -1))


def norms(x: Stack) -> Array:
    """The norm of each member."""
    return np.sqrt(overlaps(x, x).real)


def over(x: Stack, divisors: Array) -> Stack:
    """Each member over its divisor."""
    return stacks.over(x, divisors) if type(x) is SymStack else x / divisors.reshape(-1, *[1] * (x.ndim - 1))


def difference(x: Stack, y: Stack) -> Stack:
    """Each member less another's, of the same legs."""
    return SymStack(x.layouts, x.data - y.data) if type(x) is SymStack else x - y


def same_shape(x: Stack, y: Stack) -> bool:
    """Whether members have the same legs."""
    return x.layouts == y.layouts if type(x) is SymStack else x.shape == y.shape
