"""Reverse levels: an operation becomes a node, which remembers what its derivative needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from qad.core.tape.constants import UNSEEN, kept
from qad.core.tape.dispatch import hidden, missing_rule
from qad.core.tape.entries import ArrayForm
from qad.core.tape.levels import QUICK, WATCHING, Level, fresh
from qad.core.tape.node import GETITEM, NUMPY_SCALARS, PICK, WRITE, next_id
from qad.core.tape.operands import PLAIN, PYTHON_NUMBERS, highest, split, variant
from qad.core.tape.tensor import Tensor, held, rebuild
from qad.core.tape.writing import taken, written

UNCHANGING: frozenset[type] = PYTHON_NUMBERS | NUMPY_SCALARS | {Tensor, type(None), bool, tuple}  # kinds of constants
_open, _close = QUICK.add, QUICK.discard


class Reverse(Level):
    """A level that records nodes.

    Attributes
    ----------
    seen : dict or None
        The constants that were met here, see `qad.core.tape.constants`.
    last : tuple
        The entry there of the array that was copied last, for whoever is in a hurry.
    """

    __slots__ = ("seen", "last")
    copies = True
    direction: str | None = "backward"

    def __init__(self) -> None:
        self.open: bool = True
        self.seen: Any = None
        self.last: Any = UNSEEN
        _open(self)  # in this order, whatever other threads enter meanwhile
        self.quick: bool = not WATCHING
        self.number: int = fresh()  # a barrier that it is opened inside of has a lower one

    def close(self) -> None:
        self.open = self.quick = False
        _close(self)

    def read(self, x: Tensor, index: Any) -> Tensor:
        value = taken(x.value, index)
        if x.node is None:  # nothing was written into it here
            return value if type(value) is Tensor else Tensor(value)
        return Tensor(value, [next_id(), GETITEM, (ArrayForm(x.shape, x.dtype), index), None, value, (x.node,)], self)

    def write(self, x: Tensor, index: Any, v: Any, add: bool) -> None:
        """Let the node of `x` remember the write, and keep no array: what `x` was is overwritten."""
        below, parent = (v.value, v.node) if type(v) is Tensor and v.level is self else (v, None)
        form, before = ArrayForm(x.shape, x.dtype), x.node
        x.value = written(x.value, index, below, add)
        args = form, ArrayForm(np.shape(below), form.dtype)
        x.node = [next_id(), WRITE, args, {"index": index, "add": add}, form, (before, parent)]

    def apply(self, p: Any, args: Any, kwargs: Any) -> Any:
        """Run `p` on the values of the level below, and remember the call."""
        values, parents = split(args, self)
        for i, parent in enumerate(parents if p.shared is None else ()):
            if parent is not None and not p.has_rule(i):
                raise missing_rule(p.fn, i if any(p.vjps) else None)
        if p.broadcasting is not None:
            p = variant(p, values)
        if p.keeps and highest(values) is PLAIN and not any(hasattr(type(v), "__qad_step__") for v in values):
            ans, kept = p.raw(*values, **kwargs)
            kwargs = {**kwargs, "kept": kept}
        else:
            ans = p.fn(*values, **kwargs)
        if type(ans) is Tensor and ans.level.number >= self.number:
            raise hidden(p.name)
        return note(p, values, kwargs, ans, parents, self)


def note(p: Any, values: Any, kwargs: Any, ans: Any, parents: Any, level: Any, read: Any = None) -> Any:
    """What primitive `p` made, as a Tensor (or several) of an open reverse level, with the node that remembers it.

    For plain values, whose nodes on that level are the `parents`, a caller may take this road instead of `record`, and
    say which constants the rules of `p` will `read`, by their numbers.
    """
    if Tensor in map(type, values):  # of lower levels, which may be written into before the rules read them
        values = tuple([held(v) if parent is None else v for v, parent in zip(values, parents, strict=True)])
    constants = range(len(values)) if read is None else read
    met = [i for i in constants if parents[i] is None and type(values[i]) not in UNCHANGING]
    if met:
        values = tuple([kept(level, v) if i in met else v for i, v in enumerate(values)])
    node = [next_id(), p, values, kwargs or None, ans, parents]
    if not isinstance(ans, (tuple, list)):
        return Tensor(ans, node, level)
    return rebuild(ans, [Tensor(a, [next_id(), PICK, i, None, a, (node,)], level) for i, a in enumerate(ans)])


TAPE = Reverse()
TAPE.number = 0
