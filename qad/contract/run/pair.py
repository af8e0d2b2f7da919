"""The contraction of two arrays: a cached recipe, and the one primitive that runs it.

A pair is symmetric in its three arrays: each label stands in at least two of them.  The cotangent of either operand is
then again a pair, of the result's cotangent and the other operand, so gradients cost one product per operand that
needs one, and derivatives of every order come from the same rule.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING

from qad.contract.plan.lower import canonical, lowered
from qad.extend import primitive, rule
from qad.extend.structure import CONTRACTIONS

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from qad.contract.plan.lower import Three
    from qad.typing import Array

__all__ = ["Pair", "pair", "contract"]


class Pair:
    """How to contract two operands of given labels and shapes.  Immutable; made by `pair` and shared through its cache.

    Attributes
    ----------
    labels, shapes : tuple
        Three entries each: left operand, right operand, result.
    flops : int
        Multiply-adds: the product of all label sizes.
    source : str
        What is executed, as a Python expression in ``a`` and ``b``.
    run : callable
        ``run(a, b)`` executes it.
    """

    __slots__ = ("labels", "shapes", "flops", "source", "run", "_left", "_right")
    labels: Three
    shapes: Three
    flops: int
    source: str
    run: Callable[[Any, Any], Any]

    def __init__(self, labels: Three, shapes: Three):
        self.labels, self.shapes = labels, shapes
        sizes = {
            label: size
            for term, shape in zip(labels, shapes, strict=True)
            for label, size in zip(term, shape, strict=True)
        }
        self.flops = prod(sizes.values())
        self.source = lowered(labels, shapes)
        self.run = eval(f"lambda a, b: {self.source}", {"__builtins__": {}})  # views and one product, nothing else
        self._left = self._right = None

    @property
    def left(self) -> Pair:
        """The pair that maps the result's cotangent and the right operand to the left operand's cotangent."""
        if self._left is None:
            (left, right, out), shapes = self.labels, self.shapes
            self._left = pair((out, right, left), (shapes[2], shapes[1], shapes[0]))
        return self._left

    @property
    def right(self) -> Pair:
        """The pair that maps the left operand and the result's cotangent to the right operand's cotangent."""
        if self._right is None:
            (left, right, out), shapes = self.labels, self.shapes
            self._right = pair((left, out, right), (shapes[0], shapes[2], shapes[1]))
        return self._right

    def __repr__(self) -> str:
        return f"Pair({self.source})"

    def __reduce__(self) -> tuple[Any, ...]:
        return pair, (self.labels, self.shapes)


def pair(labels: Three, shapes: Three) -> Pair:
    """The recipe of a pairwise contraction, from a bounded cache.

    Parameters
    ----------
    labels : three tuples of int
        Of the left operand, the right operand and the result.  No label stands twice in one of them, and each stands
        in at least two: a label of one array only is summed or broadcast beforehand (`qad.contract.plan.unary`).
    shapes : three tuples of int
        Their shapes.
    """
    return _pair(canonical(labels), shapes)


_pair = lru_cache(maxsize=8192)(Pair)


@primitive
def contract(a: Array, b: Array, *, recipe: Pair) -> Array:
    """Contract two arrays as a `Pair` says; its two derivatives are contractions again."""
    return recipe.run(a, b)


def _batch(batched, a, b, *, recipe):
    """The axis of the batch is a label more, of the operands that have it and of the result."""
    label = 1 + max(max(term, default=-1) for term in recipe.labels)
    size = len(a) if batched[0] else len(b)
    having = (*batched, True)
    labels = tuple((label, *term) if has else term for term, has in zip(recipe.labels, having, strict=True))
    shapes = tuple((size, *shape) if has else shape for shape, has in zip(recipe.shapes, having, strict=True))
    return contract(a, b, recipe=pair(labels, shapes))


rule(
    contract,
    lambda g, ans, a, b, *, recipe: contract(g, b, recipe=recipe.left),
    lambda g, ans, a, b, *, recipe: contract(a, g, recipe=recipe.right),
    linear=True,
    batch=_batch,
)
CONTRACTIONS[contract] = lambda a, b, *, recipe: recipe.labels
