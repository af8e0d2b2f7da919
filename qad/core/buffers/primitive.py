"""The primitive that remembers a write, and its rules.

In the backward pass one cotangent travels down the chain of writes.  Each takes its entries out, puts zeros there,
and hands on the same memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.buffers.stored import buffer, is_buffer
from qad.core.foreign import is_foreign, like
from qad.core.registry.define import primitive, rule, unbroadcast
from qad.core.tape import entries
from qad.core.tape.node import WRITE
from qad.core.tape.tensor import Tensor, settled
from qad.core.tape.writing import has_tensors, parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing.words import Cotangent, Index, Tangent, Value


@primitive(name="write")
def with_entries(before: Value, v: Value, *, index: Index, add: bool) -> Value:
    """A copy of `before` in which `v` stands at `index` (with `add`, is added there)."""
    return entries.placed(before.copy(), index, v, add)


def last_of_equals(index: Index, shape: tuple[int, ...]) -> Value:
    """None if `index` names no entry twice, else a mask of what it names: where the last of equals stands."""
    arrays = [i for i in parts(index) if type(i) is Tensor or isinstance(i, np.ndarray) or is_foreign(i)]
    if not any(i.dtype != bool and i.size > 1 for i in arrays):
        return None
    if type(index) is np.ndarray and np.unique(index % shape[0]).size == index.size:
        return None
    create = like(*arrays)
    order = create.full(shape, -1)
    order = buffer(order) if Tensor in map(type, arrays) else order
    there = order[index]
    numbers = create.arange(there.size).reshape(there.shape)
    order[index] = numbers
    last = np.equal(order[index], numbers)
    return last if type(last) is Tensor or not last.all() else None


def _unwrite(
    needed: Sequence[int], g: Cotangent, ans: Value, before: Value, v: Value, *, index: Index, add: bool,
    owned: bool = False,
) -> list[Cotangent]:  # fmt: skip
    """Cotangents of a write; `g` itself, its entries at `index` zeroed, goes on where it is `owned`."""
    if type(g) is Tensor or has_tensors(index):
        if not (owned and is_buffer(g)):
            g = buffer(g if type(g) is Tensor else g.copy())
    elif not owned or type(g) is not np.ndarray:
        g = g.copy()
    found = {}
    if 1 in needed:
        part = settled(g[index]) if type(g) is Tensor else entries.taken(g, index)
        if not add and (last := last_of_equals(index, g.shape)) is not None:
            part = np.where(last, part, 0)  # of values written to one place the last one stays
        found[1] = unbroadcast(part, np.shape(v))
    if 0 in needed:
        if not add:
            g[index] = 0
        found[0] = g
    return [found[i] for i in needed]


def _forward(tangents: Sequence[Tangent], ans: Value, before: Value, v: Value, *, index: Index, add: bool) -> Tangent:
    t, s = tangents
    t = like(ans).zeros(ans.shape, ans.dtype) if t is None else np.astype(t, ans.dtype)
    return with_entries(t, 0.0 if s is None else s, index=index, add=add)


rule(with_entries, shared=_unwrite, forward_shared=_forward, consumes=True, fresh=True)
WRITE.fn, WRITE.raw = with_entries, with_entries.__wrapped__
WRITE.shared, WRITE.forward, WRITE.consumes = _unwrite, _forward, True
