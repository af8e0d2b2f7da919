"""Sums that take away again what they have added, as ``(x + c) - c``.

Exactly they are simpler than they look; in floating point their value is rounding, which is what splittings of numbers
(Dekker, Veltkamp) and compensated sums (Kahan, Knuth) are after.
"""

import operator

import numpy as np

from qad.frozen.passes.rewriting import is_view
from qad.frozen.program import Var

__all__ = ["cancels"]

SIGNS = {np.add: (1, 1), np.subtract: (1, -1), np.negative: (-1,)}
DEPTH = 3  # sums within sums that are looked into
BOTH = frozenset((1, -1))
CONSTANT = None  # the term that all constants are


def cancels(step, definitions, constants):
    """Whether a step adds or subtracts two values, in one of which the other, or a term of it, has the other sign.

    Terms count whatever constant multiplies them, ``(h - s / 2) - s / 2``.
    """
    signs = SIGNS.get(step.fn, ())
    if len(signs) < 2:
        return False
    one, two = (
        _terms(x, frozenset((sign,)), definitions, constants, DEPTH) for x, sign in zip(step.args, signs, strict=True)
    )
    return any((x, -sign) in two for x, sign in one)


def _terms(x, signs, definitions, constants, depth):
    """`x` and the terms of the sums that it is, as a set of (value, sign)."""
    x, signs, step = _bare(x, signs, definitions, constants)
    found = {(x, sign) for sign in signs}
    if depth and step is not None and step.fn is operator.getitem:  # what it is a part of, but not its other parts
        whole, index = step.args[0], repr(step.args[1])
        parts = _terms(whole, signs, definitions, constants, depth - 1)
        found |= {(term, sign) for term, sign in parts if term is not whole}
        return found | {((term, index), sign) for term, sign in parts}
    if depth and step is not None and not step.kwargs:
        for term, own in zip(step.args, SIGNS.get(step.fn, ()), strict=False):
            found |= _terms(term, _turned(signs, own), definitions, constants, depth - 1)
    return found


def _bare(x, signs, definitions, constants):
    """What `x` is without views, conjugates and constant factors, the signs that it may have, and what makes it."""
    while (own := _signs(x, constants)) is None:
        step = definitions.get(x)
        if step is not None and (is_view(step) or step.fn is np.conjugate):
            x = step.args[0]
            continue
        factor = _factor(step, constants)
        if factor is None:
            return x, signs, step
        x, own = factor
        signs = frozenset(a * b for a in signs for b in own)
    return CONSTANT, frozenset(a * b for a in signs for b in own), None


def _factor(step, constants):
    """Of a product or quotient with a constant the other operand, and the signs of the constant."""
    if step is None or step.fn not in (np.multiply, np.divide) or step.kwargs:
        return None
    one, two = (_signs(x, constants) for x in step.args)
    if two is not None:
        return step.args[0], two
    return (step.args[1], one) if one is not None and step.fn is np.multiply else None


def _signs(x, constants):
    """The signs of a constant; None of what is none."""
    if type(x) is Var and x not in constants:
        return None
    x = constants[x] if type(x) is Var else x
    x = np.asarray(x)
    if x.dtype.kind not in "iuf":
        return BOTH
    return frozenset((1,)) if (x >= 0).all() else frozenset((-1,)) if (x <= 0).all() else BOTH


def _turned(signs, sign):
    return frozenset(sign * each for each in signs)
