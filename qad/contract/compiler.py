"""What Numba compiles, where it is installed (the extra ``fast``): once on a machine, for it is kept on disk."""

import logging
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from importlib.util import find_spec

__all__ = ["has_numba", "loop", "stack_product"]

PATIENCE = 1.0  # seconds after which what is compiled is told


@cache
def has_numba():
    """Whether there is a compiler."""
    return find_spec("numba") is not None


@cache
def loop(dtype):
    """`qad.contract.interpreter.replay`, compiled for blocks of a dtype."""
    from qad.contract.compiled import kept

    return _patiently(kept.loop, dtype, f"the loop over small {dtype} tensors")


@cache
def stack_product(dtype):
    """`qad.contract.compiled.kernel.multiply_stacks` for a dtype."""
    from qad.contract.compiled import kept

    return _patiently(kept.stack_product, dtype, f"products of small {dtype} matrices")


def _patiently(compiled, dtype, what):
    """What a caller waits for, which is told on the log where it takes long.

    A thread of its own compiles, for Numba names files by random numbers, and `qad.freeze` refuses functions that draw.
    """
    with ThreadPoolExecutor(1) as worker:
        found = worker.submit(compiled, dtype)
        if wait([found], PATIENCE).not_done:
            message = "qad compiles %s: some seconds, once on this machine; qad.plan(..., compiled=False) does without"
            logging.getLogger("qad").warning(message, what)
        return found.result()
