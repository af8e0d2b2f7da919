"""What Numba compiles, where it is installed (the extra ``fast``): once on a machine, for it is kept on disk."""

import logging
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from threading import Timer

__all__ = ["has_numba", "loop", "stack_product"]

PATIENCE = 1.0  # seconds after which what is compiled is told


@cache
def has_numba():
    """Whether there is a compiler."""
    return find_spec("numba") is not None


@cache
def loop(dtype):
    """`qad.tensor.replay.replay`, compiled for blocks of a dtype."""
    from qad.tensor.compiled import kept

    with _told(f"the loop over small {dtype} tensors"):
        return kept.loop(dtype)


@cache
def stack_product(dtype):
    """`qad.tensor.compiled.kernel.multiply_stacks` for a dtype."""
    from qad.tensor.compiled import kept

    with _told(f"products of small {dtype} matrices"):
        return kept.stack_product(dtype)


@contextmanager
def _told(what):
    """Say on the log what a caller is waiting for, where that takes long."""
    message = "qad compiles %s: some seconds, once on this machine; qad.plan(..., compiled=False) does without"
    timer = Timer(PATIENCE, logging.getLogger("qad").warning, (message, what))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
