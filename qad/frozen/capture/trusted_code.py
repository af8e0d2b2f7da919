"""Packages whose code is taken never to change, and functions that give something else at every call.

The functions of NumPy, SciPy, qad and Python's own library are what they are; what they hold for a user (a closure, an
attribute, an entry) is looked at.  Some of them give something else at every call: clocks, files, the system's entropy.
"""

from __future__ import annotations

import builtins
import datetime
import gc
import glob
import importlib
import inspect
import io
import os
import random
import secrets
import shutil
import sys
import time
import uuid
from collections.abc import Set
from functools import lru_cache
from typing import Any

import numpy as np

PACKAGES = frozenset((
    "numpy", "scipy", "qad", "optree", "opt_einsum", "cotengrust", "tqdm", "threadpoolctl", "numba", "llvmlite",
    "matplotlib", "mpl_toolkits", "pytest", "_pytest", "hypothesis", "mpmath",
))  # fmt: skip
STANDARD = os.path.dirname(os.__file__)

# Immutable values, compared by value.
ATOMS = (
    type(None), bool, int, float, complex, str, bytes, type(...), type(NotImplemented), range, slice, np.dtype,
    np.bool_, np.number, np.str_, np.bytes_, np.datetime64, np.timedelta64,
)  # fmt: skip

CLOCKS = "a clock, which a replay would not read again: read it outside, and pass the time as an argument"
FILES = "a file or the user, which a replay would not do again: read outside, and pass the arrays as arguments"
CHANCE = (
    "the system's random numbers, which a replay would repeat: draw them outside and pass the arrays as arguments, or "
    "make the generator inside of a fixed seed, np.random.default_rng(0)"
)
FRAMES = "names that cannot be seen: read them outside, and pass what they stand for as arguments"
MEASURES = "a measure of the process, which a replay would not take again: take it outside, and pass it as an argument"
_TABLE = {
    FRAMES: [sys._getframe, sys._current_frames, inspect.currentframe, inspect.stack, inspect.trace,
             importlib.import_module, importlib.reload, gc.get_objects, gc.get_referrers],
    MEASURES: [sys.getrefcount, sys.getallocatedblocks, gc.get_count, gc.get_stats, os.getloadavg,
               os.get_terminal_size, shutil.get_terminal_size, shutil.disk_usage],
    CLOCKS: [getattr(time, name) for name in dir(time) if name.partition("_ns")[0] in (
        "time", "perf_counter", "monotonic", "process_time", "thread_time", "clock_gettime", "localtime", "gmtime",
        "ctime", "asctime", "strftime", "times",
    )] + [os.times],
    FILES: [builtins.open, builtins.input, io.open_code, os.open, os.read, np.load, np.loadtxt, np.genfromtxt,
            np.fromfile, np.memmap, os.listdir, os.scandir, os.stat, os.lstat, os.walk, os.access, glob.glob,
            glob.iglob, os.path.exists, os.path.isfile, os.path.isdir, os.path.getsize, os.path.getmtime],
    CHANCE: [os.urandom, os.getpid, uuid.uuid1, uuid.uuid4, secrets.randbits, secrets.randbelow, secrets.choice,
             secrets.token_bytes, secrets.token_hex, random.Random, random.SystemRandom],
}  # fmt: skip
SOURCES = {id(fn): words for words, fns in _TABLE.items() for fn in fns}
NOW = frozenset(("now", "today", "utcnow"))
DATES = (datetime.datetime, datetime.date, np.datetime64)


def is_trusted(module: Any) -> bool:
    """Whether a module of this name belongs to the packages whose code is what it was."""
    top = module.partition(".")[0] if type(module) is str else ""
    return top in PACKAGES or (top in sys.stdlib_module_names and _is_standard(top))


@lru_cache(maxsize=1024)
def _is_standard(name):
    """Whether a module of Python's library is that, and not a file of the user's with its name."""
    file = getattr(sys.modules.get(name), "__file__", None)
    return file is None or file.startswith(STANDARD)


def source(x: Any, names: Set[str]) -> str | None:
    """In words, what `x` reads that differs at every call, None if nothing; `names` are what code mentions."""
    if id(x) in SOURCES:
        return SOURCES[id(x)]
    if isinstance(x, type) and issubclass(x, DATES) and NOW & names:
        return CLOCKS
    return None


def is_written_in_python(kind: type) -> bool:
    """Whether instances of a class hold nothing but attributes: no state of compiled code, which cannot be seen."""
    return all(
        type(value).__name__ not in ("wrapper_descriptor", "method_descriptor", "getset_descriptor")
        or name in ("__dict__", "__weakref__")
        for base in kind.__mro__
        if base not in _PLAIN
        for name, value in vars(base).items()
    )


_PLAIN = (object, BaseException, Exception, type)
