"""State of the process and of libraries that functions tell: compared before every run where code names them."""

from __future__ import annotations

import decimal
import gc
import locale
import logging
import os
import random
import sys
import threading
from abc import ABCMeta, get_cache_token
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qad.core.config import config

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Reach: TypeAlias = Any  # of reachable.py, which imports this file

LEVELS: frozenset[str] = frozenset((
    "level", "disabled", "propagate", "isEnabledFor", "getEffectiveLevel", "getChild", "parent",
))  # fmt: skip


def _precision():
    context = decimal.getcontext()
    traps = tuple(context.traps.values())  # not the flags, which every operation may set
    return context.prec, context.rounding, context.Emin, context.Emax, context.capitals, context.clamp, traps


def _thread():
    thread = threading.current_thread()
    return thread.name, thread.ident, thread.daemon


def _chain(logger):
    found = [logging.root.manager.disable]
    while logger is not None:
        found += [logger.level, logger.disabled, logger.propagate]
        logger = logger.parent
    return found


def _levels():
    made = [x for x in list(logging.root.manager.loggerDict.values()) if isinstance(x, logging.Logger)]
    return [(x.name, x.level, x.disabled, x.propagate) for x in (logging.root, *made)], logging.root.manager.disable


def _places():
    return locale.setlocale(locale.LC_ALL), locale.localeconv()


def _environment():
    return dict(os.environ)


def _generator():
    _, keys, *rest = np.random.get_state(legacy=True)  # noqa: NPY002 - of which generator this is the state
    return keys.tobytes(), rest


_TABLE: tuple[tuple[Callable[[], Any], tuple[Any, ...]], ...] = (
    (_precision, (decimal.getcontext, decimal.localcontext, decimal.Decimal)),
    (_thread, (threading.current_thread, threading.get_ident, threading.get_native_id)),
    (_environment, (os.getenv, os.getenvb, os.path.expanduser, os.path.expandvars)),
    (_generator, (np.random.get_state,)),
    (os.getcwd, (os.getcwd, os.getcwdb, os.path.abspath, os.path.realpath, os.path.relpath)),
    (np.geterr, (np.geterr,)),
    (np.geterrcall, (np.geterrcall,)),
    (np.getbufsize, (np.getbufsize,)),
    (np.get_printoptions, (
        np.get_printoptions, np.array2string, np.array_str, np.array_repr,
        np.format_float_positional, np.format_float_scientific,
    )),
    (sys.getrecursionlimit, (sys.getrecursionlimit,)),
    (sys.getswitchinterval, (sys.getswitchinterval,)),
    (sys.gettrace, (sys.gettrace,)),
    (sys.getprofile, (sys.getprofile,)),
    (gc.isenabled, (gc.isenabled,)),
    (gc.get_threshold, (gc.get_threshold,)),
    (threading.active_count, (threading.active_count, threading.enumerate)),
    (_places, (locale.localeconv, locale.getlocale, locale.setlocale)),
    (random.getstate, (random.getstate,)),
    (config, (config,)),
)  # fmt: skip
READERS: dict[int, Callable[[], Any]] = {id(fn): read for read, fns in _TABLE for fn in fns}


def told(reach: Reach, x: Any, path: str) -> bool:
    """Whether `x` is a function that tells such state; then that is compared."""
    read = get_cache_token if isinstance(x, ABCMeta) else READERS.get(id(x))  # which changes with each `register`
    if x is logging.getLogger and "getLogger" not in reach.told:
        reach.told.add("getLogger")
        reach.own(levels, x, path)
    elif read is not None and read not in reach.told:
        reach.told.add(read)
        kept = read()
        reach.bind("test", x, path.rpartition(".")[2], lambda: read() == kept, path)
    return read is not None and not isinstance(x, type)


def levels(reach: Reach, x: Any) -> Iterator[tuple[str, str, Any, Any]]:
    """The levels of a logger, or of all for ``getLogger``, if code asks for one; they are only written to otherwise."""
    if LEVELS & reach.names and x not in reach.told:
        reach.told.add(x)
        read = partial(_chain, x) if isinstance(x, logging.Logger) else _levels
        kept = read()
        yield "the levels of loggers", "test", x, lambda: read() == kept
