"""Circuits under `qad.vmap`: the examples become part of the batch, an axis that the engines have anyway.

Operands have axes (component, batch, entry), examples have one more before these.  Hessians and Jacobians go this
way too: their directions are examples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.typing import Array, Function


def folded(x: Array, given: bool, examples: int, batch: int) -> Array:
    """An operand (component, examples * batch, entry); `given` says whether it has examples."""
    x = x if given else x[None]
    x = np.broadcast_to(x, (examples, x.shape[1], batch, x.shape[3]))
    return x.swapaxes(0, 1).reshape(x.shape[1], examples * batch, x.shape[3])


def unfolded(x: Array, examples: int) -> Array:
    """The inverse of `folded` for answers: (examples, component, batch, entry)."""
    return x.reshape(len(x), examples, x.shape[1] // examples, x.shape[2]).swapaxes(0, 1)


def count(batched: tuple[bool, ...], operands: Sequence[Array]) -> int:
    """How many examples there are."""
    return next(len(x) for x, given in zip(operands, batched, strict=True) if given)


def of_none_too(rule: Function) -> Function:
    """A batching rule that also serves no examples: engines share work among at least one, so they are given zeros."""

    def wrapped(batched, *operands, **options):
        if count(batched, operands):
            return rule(batched, *operands, **options)
        one = [np.zeros((1, *x.shape[1:]), x.dtype) if given else x for x, given in zip(operands, batched, strict=True)]
        found = rule(batched, *one, **options)
        return tuple(x[:0] for x in found) if type(found) is tuple else found[:0]

    return wrapped


def forward_rule(fn: Function) -> Function:
    """The batching rule of final states."""

    def rule(batched, *operands, **options):
        examples, batch = count(batched, operands), max(x.shape[-2] for x in operands)
        merged = [folded(x, given, examples, batch) for x, given in zip(operands, batched, strict=True)]
        return unfolded(fn(*merged, **options), examples)

    return rule


def pullback_rule(fn: Function) -> Function:
    """The batching rule of cotangents, each summed over a batch that its operand was broadcast along."""

    def rule(batched, *operands, owned=False, **options):
        examples, lengths = count(batched, operands), [x.shape[-2] for x in operands]
        batch = max(lengths)
        merged = [folded(x, given, examples, batch) for x, given in zip(operands, batched, strict=True)]
        found = [unfolded(x, examples) for x in fn(*merged, **options)]
        own = zip(found, lengths[: len(found)], strict=True)
        return tuple(x.sum(2, keepdims=True) if length < batch else x for x, length in own)

    return rule


def each(fn: Function, batched: tuple[bool, ...], operands: Sequence[Array], options: dict[str, Any]) -> Array:
    """The answers of examples, computed one by one: each has Hamiltonian coefficients of its own."""
    rows = range(count(batched, operands))
    chosen = [[x[i] if given else x for x, given in zip(operands, batched, strict=True)] for i in rows]
    return np.stack([fn(*one, **options) for one in chosen])
