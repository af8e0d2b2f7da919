"""Sums that take away again what they have added, as ``(x + c) - c``.

Exactly they are simpler than they look; in floating point their value is rounding, which is what splittings of numbers
(Dekker, Veltkamp) and compensated sums (Kahan, Knuth) are after.
"""

import numpy as np

from qad.freeze.passes.rewriting import is_view
from qad.freeze.program import Var

__all__ = ["cancels"]

SIGNS = {np.add: (1, 1), np.subtract: (1, -1), np.negative: (-1,)}
DEPTH = 3  # sums within sums that are looked into


def cancels(step, definitions):
    """Whether a step adds or subtracts two values, in one of which the other, or a term of it, has the other sign."""
    signs = SIGNS.get(step.fn, ())
    if len(signs) < 2:
        return False
    one, two = (_terms(x, sign, definitions, DEPTH) for x, sign in zip(step.args, signs, strict=True))
    return any((x, -sign) in two for x, sign in one)


def _terms(x, sign, definitions, depth):
    """`x` and the terms of the sums that it is, as a set of (value, sign)."""
    if type(x) is not Var:
        return {(x, sign)} if isinstance(x, (int, float, complex, np.number)) else set()
    step = definitions.get(x)
    while step is not None and is_view(step):
        x = step.args[0]
        step = definitions.get(x)
    found = {(x, sign)}
    if depth and step is not None and not step.kwargs:
        for term, own in zip(step.args, SIGNS.get(step.fn, ()), strict=False):
            found |= _terms(term, own * sign, definitions, depth - 1)
    return found
