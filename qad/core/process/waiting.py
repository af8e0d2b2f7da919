"""What a caller waits for is told in one line on stderr; ``qad.config(messages=False)`` silences all such lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Timer
from time import monotonic

from qad.core.process.config import config

__all__ = ["COMPILING", "NOT_KEPT", "tell", "tell_once", "waiting"]

PATIENCE = 1.0  # seconds after which what takes long is told, once in a process
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


_waited: dict[str, float] = {}  # message -> seconds waited so far


@contextmanager
def waiting(message: str) -> Iterator[None]:
    """A context that is told while it lasts, once all those of this message have lasted longer than `PATIENCE`."""
    begin, before = monotonic(), _waited.get(message, 0.0)
    timer = Timer(PATIENCE - before, tell_once, [message])
    timer.daemon = True
    if before < PATIENCE:  # not told yet
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
        total = _waited[message] = _waited.get(message, 0.0) + monotonic() - begin
        if total > PATIENCE > before:
            tell_once(message)  # unless the timer has
