"""Arrays, containers, generators, and what points to something; see `qad.frozen.capture.reachable`."""

from __future__ import annotations

import gc
from collections import defaultdict, deque
from functools import partial
from itertools import islice
from operator import is_
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import ref

import numpy as np

from qad.core.tape.tensor import CONSTANT
from qad.frozen.capture.bindings import same
from qad.frozen.capture.namespaces import users_of
from qad.frozen.capture.objects import see_object, see_whole
from qad.frozen.capture.trusted_code import ATOMS, is_trusted
from qad.frozen.rng_guard import state

STATES = frozenset(("state", "__getstate__", "get_state", "getstate", "__reduce__"))

if TYPE_CHECKING:
    from qad.core.tape.tensor import Tensor

    Reach: TypeAlias = Any  # of reachable.py, which imports this file


def see_array(reach: Reach, x: np.ndarray, path: str) -> None:
    """An array of numbers, or of objects, which is a container."""
    if x.dtype.hasobject:
        _entries(reach, x, path, lambda: x.ravel().tolist())
    else:
        reach.arrays.append(x)
    if x.dtype.names is not None:
        kept = _fields(x.dtype)
        reach.bind("test", x, path, lambda: _fields(x.dtype) == kept, path)
    reach.own(_of_array, x, path)
    if type(x) is not np.ndarray and type(x) is not np.memmap:
        see_whole(reach, x, path)


def _of_array(reach, x):
    """Whether an array may be written into, if code asks for that."""
    if "flags" in reach.names:
        kept = x.flags.num
        yield "flags", "test", x, lambda: x.flags.num == kept


def _fields(dtype):
    """The names of fields, which can be set in place."""
    return dtype.names and [(name, _fields(dtype[name].base)) for name in dtype.names]


def see_tensor(reach: Reach, x: Tensor, path: str) -> None:
    """A Tensor: a constant one is its array."""
    if x.level is not CONSTANT:
        reach.live = True
    else:
        reach.bind("attribute", x, "value", x.value, path)


def see_generator(reach: Reach, x: Any, path: str) -> None:
    """A generator of random numbers: draws are noticed, so that its state is compared only if code asks for that."""
    reach.generators.append(x)
    reach.own(_of_generator, x, path)


def _of_generator(reach, x):
    if STATES & reach.names:
        kept = state(x)
        yield "state", "test", x, lambda: state(x) == kept


def see_sequence(reach: Reach, x: Any, path: str) -> None:
    """A container of a number of entries."""
    if isinstance(x, (tuple, frozenset)):
        for i, each in enumerate(x):
            reach.wait(each, f"{path}[{i}]")
        _more(reach, x, path)
    else:
        _entries(reach, x, path, lambda: x)


def _more(reach, x, path):
    """What a container of a class of its own holds besides its entries."""
    if type(x).__module__ not in ("builtins", "collections", "numpy") and (users_of(type(x)) or hasattr(x, "__dict__")):
        see_object(reach, x, path)


def see_dict(reach: Reach, x: Any, path: str) -> None:
    """A mapping: its keys in their order, and its values."""
    if x:
        _entries(reach, x, path, x.keys)
        _entries(reach, x, path, x.values)
    else:
        reach.bind("test", x, path, lambda: not x, path)
        _more(reach, x, path)
    if isinstance(x, defaultdict):
        reach.wait(x.default_factory, path)


def see_view(reach: Reach, x: Any, path: str) -> None:
    """The keys, values or items of a dict, which change with it."""
    reach.wait(x.mapping, path)


def _entries(reach, x, path, read):
    """All entries of something that can change."""
    kept = tuple(read())
    for i, each in enumerate(kept):
        reach.wait(each, f"{path}[{i}]")
    reach.bind("test", x, path, lambda: _are_same(tuple(read()), kept), path)
    _more(reach, x, path)


def see_cache(reach: Reach, x: Any, path: str) -> None:
    """A function with ``lru_cache``: it may remember what was so before, so its results are compared."""
    if is_trusted(getattr(x, "__module__", None)):
        see_whole(reach, x, path)
        return
    held = gc.get_referents(x)
    cache = [each for each in held if type(each) is dict and each is not vars(x)][-1]  # after results that are dicts
    for each in [*held, *cache.values()]:
        if each is not cache and _is_data(each):  # other objects, which no code may read, are compared by identity
            reach.wait(each, path)
    kept = _remembered(x, cache)
    reach.bind("test", x, path, lambda: _are_same(_remembered(x, cache), kept), path)
    reach.bind("attribute", x, "__wrapped__", x.__wrapped__, path)


def _remembered(x, cache):
    """Keys and results; if their number is limited, their entries in a chain, which are used again after a miss."""
    chained = any(type(each).__name__ == "_lru_list_elem" for each in islice(cache.values(), 1))
    return [*cache, *cache.values(), *([x.cache_info().misses] if chained else ())]


def _is_data(x):
    """Whether something is an array of numbers, or a container of such arrays and of numbers."""
    if isinstance(x, dict):
        return all(map(_is_data, x.values()))
    if isinstance(x, (list, tuple, set, frozenset, deque)):
        return all(map(_is_data, x))
    return isinstance(x, ATOMS) or (type(x) is np.ndarray and not x.dtype.hasobject)


def _are_same(now, kept):
    return len(now) == len(kept) and (all(map(is_, now, kept)) or all(map(same, now, kept)))


def see_pointer(reach: Reach, x: Any, path: str) -> None:
    """A weak reference, or a context variable: what it gives now."""
    read = x if isinstance(x, ref) else partial(x.get, None)
    value = read()
    reach.wait(value, path)
    reach.bind("test", x, path, lambda: same(read(), value), path)
