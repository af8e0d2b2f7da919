"""What a caller waits for is told in one line on stderr; ``qad.config(messages=False)`` silences all such lines."""

import math
import sys
from functools import cache
from threading import Timer
from time import monotonic

from qad.core.config import config

__all__ = ["COMPILING", "NOT_KEPT", "tell", "tell_once", "waiting"]

PATIENCE = 1.0  # seconds after which what takes long is told
GAP = 1.0  # seconds: waits with less between them are one
COMPILING = "compiling kernels, once on this machine (about 2 s)"
NOT_KEPT = (
    "no folder for compiled kernels can be written, so every process compiles them anew: name one in the environment "
    "variable {}"
)


def tell(message):
    """Write a line."""
    if config().messages:
        print(f"qad: {message}", file=sys.stderr, flush=True)


@cache
def tell_once(message):
    """Write a line, once in a process."""
    tell(message)


_waited = {}  # message -> seconds waited so far, and when that ended


class waiting:
    """A context that is told while it lasts, if it lasts longer than `PATIENCE`.

    Contexts of one message that follow each other closely count together, and are told once.
    """

    def __init__(self, message):
        self.message = message

    def __enter__(self):
        self.begin = monotonic()
        before, end = _waited.get(self.message, (0.0, -math.inf))
        self.before = before if self.begin - end < GAP else 0.0
        self.timer = Timer(max(PATIENCE - self.before, 0), tell, [self.message])
        self.timer.daemon = True
        if self.before <= PATIENCE:  # not told yet
            self.timer.start()
        return self

    def __exit__(self, *exc):
        self.timer.cancel()
        end = monotonic()
        _waited[self.message] = self.before + end - self.begin, end
