"""Matrix functions and their Fréchet derivatives, to any order.

A holomorphic function f of matrices has ``f(A + E) = f(A) + L(A, E) + ...``, and ``f(A^T) = f(A)^T``; therefore the
unconjugated cotangent g of f(A) becomes ``L(A^T, g)`` for A, and the cotangent of L(A, E) becomes

    L(A^T, g) for E,    L2(A^T; E^T, g) for A,

where ``L2(A; B, E)``, the derivative of ``L(A, E)`` along B, is the upper right block of
``L([[A, E], [0, A]], [[B, 0], [0, B]])``.  That is a Fréchet derivative again: rules of every order follow.

Where L has no algorithm of its own it is a block, too: ``f([[A, E], [0, A]]) = [[f(A), L(A, E)], [0, f(A)]]``.

Reference: N. J. Higham, Functions of Matrices (2008), chapter 3.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from qad.extend import rule

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from qad.typing import Array, DTypeLike


def differentiable(function: Callable[..., Any], frechet: Callable[..., Any]) -> None:
    """Give the primitive ``function(A)`` its rules, by the primitive ``frechet(A, E)`` of its derivative."""

    def along(a, b, e):
        """The derivative of ``frechet(a, e)`` as a moves along b."""
        n = a.shape[-1]
        return frechet(_doubled(a, e), _doubled(b, b * 0.0))[..., :n, n:]

    rule(function, lambda g, ans, a: frechet(a.mT, g), forward=lambda t, ans, a: frechet(a, t))
    rule(
        frechet,
        lambda g, ans, a, e: along(a.mT, e.mT, g),
        lambda g, ans, a, e: frechet(a.mT, g),
        forward=(lambda t, ans, a, e: along(a, t, e), lambda t, ans, a, e: frechet(a, t)),
    )


def corner(f: Callable[[Array], Array], a: Array, e: Array) -> Array:
    """``L(a, e)`` (..., n, n) of the function `f` of matrices, by a matrix of twice the size."""
    n = a.shape[-1]
    return f(_doubled(a, e))[..., :n, n:]


def _doubled(a, e):
    """``[[a, e], [0, a]]`` over the last two axes."""
    return np.concatenate([np.concatenate([a, e], axis=-1), np.concatenate([a * 0.0, a], axis=-1)], axis=-2)


def each(f: Callable[..., Any], *stacks: np.ndarray, dtype: DTypeLike = None) -> Any:
    """`f` of single matrices, of all those of stacks (..., n, n) that broadcast: an array, or a tuple of them.

    It is in the precision of the stacks, or in another `dtype`: SciPy widens some answers.
    """
    stacks = np.broadcast_arrays(*stacks)
    *batch, n, _ = stacks[0].shape
    flat = [x.reshape(prod(batch), n, n) for x in stacks]
    found = [f(*xs) for xs in zip(*flat, strict=True)]
    # an empty stack has the shapes of one more matrix, of different eigenvalues, by whose distances functions divide
    found = found or [f(*(np.diag(np.arange(1, n + 1)).astype(x.dtype) for x in stacks))]
    kind = np.result_type(*stacks) if dtype is None else dtype

    def stacked(parts):
        return np.stack(parts)[: prod(batch)].reshape(*batch, *parts[0].shape).astype(kind, copy=False)

    return tuple(map(stacked, zip(*found, strict=True))) if type(found[0]) is tuple else stacked(found)
