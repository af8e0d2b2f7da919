"""Running a function again as it ran before: with the same random numbers, and proof that it did the same.

The proof is a digest of what was recorded: the operations, how they hang together, and every constant that they met,
bit by bit.  A gradient depends on nothing else.
"""

from __future__ import annotations

import pickle
import random
from collections import deque
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import blake2b
from itertools import islice
from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.mutation.changed_arrays import below
from qad.core.tape.backward import alive
from qad.core.tape.node import ANSWER, ARGS, ID, LEAF, PARENTS, PRIMITIVE, given
from qad.core.tape.tensor import value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from qad.core.words import Node

REACH = 1000  # objects among which the generators of a function are looked for
_repeating = ContextVar("qad_repeating", default=False)
repeating: Callable[[], bool] = (
    _repeating.get
)  # whether what runs will run again, and must not change its way for having run often


@contextmanager
def steadily() -> Iterator[None]:
    """Make everything take the way that it takes in every other such block, down to the rounding."""
    token = _repeating.set(True)
    try:
        yield
    finally:
        _repeating.reset(token)


# -- what was recorded -----------------------------------------------------------------------------


def digest(roots: Sequence[Node | None]) -> bytes:
    """What was recorded below the nodes `roots`; None stands for an output that depends on nothing."""
    nodes = sorted(below([(node, None) for node in roots]), key=lambda node: node[ID])
    numbers = {node[ID]: number for number, node in enumerate(nodes)}
    total = blake2b(digest_size=16)
    _add(total, tuple([None if node is None else numbers[node[ID]] for node in roots]))
    for node in nodes:
        parents = alive(node)[PARENTS]
        _add(total, (node[PRIMITIVE].name, tuple([None if p is None else numbers[p[ID]] for p in parents])))
        if node[PRIMITIVE] is LEAF:
            _add(total, np.shape(value_of(node[ANSWER])))
            continue
        for i, x in enumerate(node[ARGS] if type(node[ARGS]) is tuple else (node[ARGS],)):
            if i >= len(parents) or parents[i] is None:
                _add(total, x)
        _add(total, given(node))
    return total.digest()


def _add(total: Any, x: Any) -> None:
    """Add a constant, of any depth, to a digest; of an object that is no data, its type."""
    x = value_of(x)
    if isinstance(x, (np.ndarray, np.generic)):
        total.update(f"{x.dtype}{x.shape}".encode())
        total.update(np.ascontiguousarray(x).data if x.dtype.kind in "fciub" else repr(x).encode())
    elif type(x) is tuple:
        total.update(f"{len(x)} of".encode())
        for each in x:
            _add(total, each)
    elif type(x) is dict:
        _add(total, tuple(x.items()))
    elif type(x) is slice:
        _add(total, (x.start, x.stop, x.step))
    elif isinstance(x, (bool, int, float, complex, str, bytes, type(None))):
        total.update(repr(x).encode())
    else:
        total.update(type(x).__name__.encode())


# -- random numbers --------------------------------------------------------------------------------


class Chance:
    """The states of the generators of random numbers: NumPy's, Python's, and those that functions or arguments hold."""

    def __init__(self, *things: Any) -> None:
        self._generators = _generators(things)
        self._states = self._now()

    def _now(self) -> bytes:
        own = [g.state for g in self._generators]
        return pickle.dumps((np.random.get_state(legacy=False), random.getstate(), own))

    def drawn(self) -> bool:
        """Whether anything has been drawn since."""
        return self._now() != self._states

    @contextmanager
    def again(self) -> Iterator[None]:
        """Draw the same numbers again, and leave the generators as they were."""
        now = self._now()
        self._set(self._states)
        try:
            yield
        finally:
            self._set(now)

    def _set(self, states: bytes) -> None:
        numpys, pythons, own = pickle.loads(states)
        np.random.set_state(numpys)
        random.setstate(pythons)
        for generator, state in zip(self._generators, own, strict=True):
            generator.state = state


def _generators(things: Iterable[Any]) -> list[Any]:
    """The bit generators within reach of `things`: among the objects nearest to them."""
    waiting, seen, found = deque(things), {}, []
    while waiting and len(seen) < REACH:
        x = waiting.popleft()
        if id(x) in seen or isinstance(x, (np.ndarray, str, int, float, type, ModuleType)):
            continue
        seen[id(x)] = x  # kept, for what is gone might leave its id to another
        if isinstance(x, np.random.BitGenerator):
            found.append(x)
        waiting.extend(islice(_within(x), REACH))
    return found


def _within(x: Any) -> Iterable[Any]:
    """What is one step away."""
    if isinstance(x, (np.random.Generator, np.random.RandomState)):
        return (getattr(x, "bit_generator", None) or x._bit_generator,)
    if isinstance(x, MethodType):
        return x.__func__, x.__self__
    if isinstance(x, FunctionType):
        named = [x.__globals__[name] for name in x.__code__.co_names if name in x.__globals__]
        return [*map(_content, x.__closure__ or ()), *(x.__defaults__ or ()), *named]
    if isinstance(x, (tuple, list)):
        return x
    return (x if isinstance(x, dict) else getattr(x, "__dict__", {})).values()


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # an empty cell
        return None
