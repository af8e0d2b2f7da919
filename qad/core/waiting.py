"""What a caller waits for is told in one line on stderr; ``qad.config(messages=False)`` silences all such lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock, Timer
from time import monotonic

from qad.core.config import config

__all__ = ["COMPILING", "NOT_KEPT", "tell", "tell_once", "waiting"]

PATIENCE = 1.0  # seconds after which what takes long is told
GAP = 1.0  # seconds: waits with less between them are one
COMPILING = "compiling kernels, once on this machine (about 2 s)"
NOT_KEPT = "compiled kernels cannot be kept, and every process compiles them anew: {} names a folder for them"


def tell(message: str) -> None:
    """Write a line."""
    if config().messages:
        print(f"qad: {message}", file=sys.stderr, flush=True)


@cache
def tell_once(message: str) -> None:
    """Write a line, once in a process."""
    tell(message)


_lock = Lock()
_under_way = 0  # waits, of which the first speaks for all
_waited: dict[str, tuple[float, float]] = {}  # message -> seconds waited, and when that ended


@contextmanager
def waiting(message: str) -> Iterator[None]:
    """A context that is told while it lasts, if it lasts longer than `PATIENCE`.

    Those within another and those of several threads at once belong to the first, and those of one message that follow
    each other closely are one.
    """
    global _under_way
    with _lock:
        first, _under_way = not _under_way, _under_way + 1
    begin = monotonic()
    seconds, end = _waited.get(message, (0.0, begin))
    seconds = seconds if begin - end < GAP else 0.0
    timer = Timer(max(PATIENCE - seconds, 0), tell, [message])
    timer.daemon = True
    if first and seconds <= PATIENCE:  # not told yet
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
        with _lock:
            _under_way -= 1
        if first:
            _waited[message] = seconds + monotonic() - begin, monotonic()
