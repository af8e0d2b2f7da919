"""Matrix functions and their Fréchet derivatives, to any order.

A holomorphic function f of matrices has ``f(A + E) = f(A) + L(A, E) + ...``, and ``f(A^T) = f(A)^T``; therefore the
unconjugated cotangent g of f(A) becomes ``L(A^T, g)`` for A, and the cotangent of L(A, E) becomes

    L(A^T, g) for E,    L2(A^T; E^T, g) for A,

where ``L2(A; B, E)``, the derivative of ``L(A, E)`` along B, is the upper right block of
``L([[A, E], [0, A]], [[B, 0], [0, B]])``.  That is a Fréchet derivative again: rules of every order follow.

Reference: N. J. Higham, Functions of Matrices (2008), chapter 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import like, rule

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def differentiable(function: Callable[..., Any], frechet: Callable[..., Any]) -> None:
    """Give the primitive ``function(A)`` its rules, by the primitive ``frechet(A, E)`` of its derivative."""

    def along(a, b, e):
        """The derivative of ``frechet(a, e)`` as a moves along b."""
        n, zero = a.shape[-1], like(a).zeros(a.shape, a.dtype)
        doubled = _blocks(a, e, zero, a)
        return frechet(doubled, _blocks(b, zero, zero, b))[..., :n, n:]

    rule(function, lambda g, ans, a: frechet(a.mT, g), forward=lambda t, ans, a: frechet(a, t))
    rule(
        frechet,
        lambda g, ans, a, e: along(a.mT, e.mT, g),
        lambda g, ans, a, e: frechet(a.mT, g),
        forward=(lambda t, ans, a, e: along(a, t, e), lambda t, ans, a, e: frechet(a, t)),
    )


def _blocks(a, b, c, d):
    """``[[a, b], [c, d]]`` over the last two axes."""
    return np.concatenate([np.concatenate([a, b], axis=-1), np.concatenate([c, d], axis=-1)], axis=-2)
