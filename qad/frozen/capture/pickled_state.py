"""Objects of compiled classes: what they hold is what they would be pickled with, or it cannot be compared."""

from __future__ import annotations

import re
import struct
import threading
import types
from functools import lru_cache
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qad.frozen.capture.bindings import same

if TYPE_CHECKING:
    Reach: TypeAlias = Any  # of reachable.py, which imports this file

SETTLED = (  # which never change, or whose attributes are all that they hold
    types.CodeType, types.SimpleNamespace, types.WrapperDescriptorType, types.MethodDescriptorType,
    types.ClassMethodDescriptorType, types.MethodType, types.GenericAlias, types.UnionType, re.Pattern, re.Match,
    struct.Struct, threading.local, type(threading.Lock()), type(threading.RLock()), type(lru_cache(len)),
    SimpleQueue, object,
)  # fmt: skip


def see_pickled(reach: Reach, x: Any, path: str) -> bool:
    """Compare what an object would be pickled with; False where that is not known, or differs at once."""
    if type(x) in SETTLED:
        return True
    try:
        kept, again = _still(_parts(x)), _still(_parts(x))
    except Exception:  # whatever the class raises because it cannot be pickled
        return False
    if not same(kept, again):
        return False
    for leaf in _leaves(kept):
        reach.wait(leaf, path)
    reach.bind("test", x, path, lambda: same(_still(_parts(x)), kept), path)
    return True


def _parts(x):
    """The parts of a pickle, the entries of a list or a dict as tuples."""
    parts = x.__reduce_ex__(2)
    return parts if isinstance(parts, str) else [*parts[:3], *(each and tuple(each) for each in parts[3:5])]


def _still(part):
    """The same as tuples, which do not change."""
    if type(part) is dict:
        return "dict", *((key, _still(value)) for key, value in part.items())
    if type(part) in (list, tuple):
        return type(part).__name__, *map(_still, part)
    if type(part) is np.ndarray and not part.dtype.hasobject:
        return "array", part.dtype.str, part.shape, part.tobytes()
    return bytes(part) if type(part) is bytearray else part


def _leaves(part):
    if type(part) is not tuple:
        yield part
        return
    for each in part:
        yield from _leaves(each)
