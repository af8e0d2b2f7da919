"""Which Tensors may be written into: buffers, and results, which become buffers then.

A result becomes a buffer when it is written into for the first time, directly or through a view.  All of its views that
are still in use become views of that buffer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.buffers import checks
from qad.core.buffers.indices import flat
from qad.core.buffers.store import Store
from qad.core.buffers.stored import Stored
from qad.core.registry.define import PRIMITIVES
from qad.core.tape import entries
from qad.core.tape.levels import MODE, stopped
from qad.core.tape.node import ANSWER, LEAF, PRIMITIVE
from qad.core.tape.reverse import TAPE
from qad.core.tape.tensor import FIXED, Tensor, become, held, settled, value_of
from qad.core.tape.views import bare
from qad.core.vmap.batched import stack_of

if TYPE_CHECKING:
    from qad.typing.words import Index, Value


def write(x: Tensor, index: Index, v: Value, add: bool = False) -> None:
    """Write `v` at `index` of Tensor `x`, or add it there.

    Raises
    ------
    ArgumentError
        If `x` is an argument of a transform or a leaf, a view of one, or a view that NumPy makes read-only.
    GradientTypeError
        If `v` does not fit in the dtype of `x`.
    """
    if type(x.level) is not Stored:
        checks.check_kind(x, v)
        v = held(v)  # it may be `x`
        open_for_writing(x)
    x.level.write(x, index, v, add)


def open_for_writing(x: Tensor) -> None:
    """Make Tensor `x` a buffer, or a view of one; raises where it may not be written into."""
    root = x.buffer[0] if type(x.buffer) is tuple else x
    if root.buffer is FIXED or (root.node is not None and root.node[PRIMITIVE] is LEAF and root.level.open):
        raise checks.argument()
    if not root.shape:  # a number of NumPy's, whose views show copies of it, or an array without axes
        raise checks.number()
    views = [view for known in root.buffer or () if (view := known()) is not None]
    buffer = _buffer_of(root)
    again = {id(root): buffer}
    for view in views:  # in the order in which they were taken: that of which one is a view comes first
        if view.buffer is FIXED:
            raise checks.detached()
        _, base, fn, metadata, kwargs = view.buffer
        p = PRIMITIVES.get(fn)
        if base is not root and p is not None and p.shows == "by order":
            raise checks.unsure()
        again[id(view)] = fn(again[id(base)], *metadata, **(kwargs or {}))
        if type(again[id(view)].level) is not Stored:
            raise checks.unsure()
    for known in (root, *views):
        become(known, again[id(known)])
        known.buffer = None
    root.source = None


def is_number(x: Tensor) -> bool:
    """Whether Tensor `x` stands for a number, of which ``x += y`` makes another one."""
    return not x.shape and type(x.level) is not Stored and (x.buffer is None or x.buffer is FIXED)


def _buffer_of(x: Tensor) -> Tensor:
    """A buffer that holds what Tensor `x` is."""
    token = MODE.set(None)  # whatever is not recorded now, `x` was
    try:
        now = settled(held(x))
        content = settled(now.reshape(-1)) if now.ndim != 1 else now
    finally:
        MODE.reset(token)
    store = Store(content, True, ordered=x.ndim < 2)  # in which order NumPy's result lies is not known
    return Stored(store, np.arange(now.size).reshape(now.shape)).tensor()


def in_c_order(x: Any) -> bool:
    """Whether NumPy's array in the place of `x` surely lies in C order: one that was given does as it does here."""
    if type(x) is not Tensor:
        return not hasattr(x, "flags") or x.flags.c_contiguous
    if type(x.level) is Stored:
        return x.level.store.ordered and x.level.is_dense()
    given = x.buffer is FIXED or (x.node is not None and x.node[PRIMITIVE] is LEAF)
    array = bare(stack_of(x))
    return x.ndim < 2 or (given and array.flags.c_contiguous)


# -- parameters --------------------------------------------------------------------------------------------------------


def is_parameter(x: Tensor) -> bool:
    """Whether `x` is a leaf of the tape under `qad.no_grad`, or a view of one: it takes a step that is not recorded."""
    root = x.buffer[0] if type(x.buffer) is tuple else x
    return root.level is TAPE and root.is_leaf and stopped(TAPE)


def step(x: Tensor, index: Index, v: Value, add: bool = False) -> None:
    """Write into a parameter, or through a view of one: it becomes another array, which the view shows."""
    root = x.buffer[0] if type(x.buffer) is tuple else x
    array = root.value.copy()
    if root is x:
        entries.placed(array, index, value_of(v), add)
    else:
        places = _again(x, np.arange(root.size).reshape(root.shape))
        if not places.flags.writeable:
            raise checks.read_only()
        entries.placed(array.reshape(-1), flat(places[index]), value_of(v), add)
        x.value = _again(x, array)
    root.value = root.node[ANSWER] = array


def _again(x: Tensor, whole: Value) -> Any:
    """What `x` would show of `whole` in the place of the Tensor whose memory it shows."""
    if type(x.buffer) is not tuple:
        return whole
    _, base, fn, metadata, kwargs = x.buffer
    return fn(_again(base, whole), *metadata, **(kwargs or {}))
