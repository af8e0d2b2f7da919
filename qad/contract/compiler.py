"""What Numba compiles, where it is installed (the extra ``fast``): once on a machine, for it is kept on disk."""

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec

import numpy as np

__all__ = ["has_numba", "loop", "stack_product", "warm_up"]


@cache
def has_numba():
    """Whether there is a compiler."""
    return find_spec("numba") is not None


@cache
def loop(dtype):
    """`qad.contract.interpreter.replay`, compiled for blocks of a dtype."""
    from qad.contract.compiled import kept

    return _apart(kept.loop, dtype)


@cache
def stack_product(dtype):
    """`qad.contract.compiled.kernel.multiply_stacks` for a dtype."""
    from qad.contract.compiled import kept

    return _apart(kept.stack_product, dtype)


def _apart(compiled, dtype):
    """What a thread of its own compiles, for Numba names files by random numbers: `qad.freeze` refuses who draws."""
    with ThreadPoolExecutor(1) as worker:
        return worker.submit(compiled, dtype).result()


def warm_up():
    """Compile all kernels, for every dtype that they serve."""
    if has_numba():
        for dtype in map(np.dtype, "fdFD"):
            loop(dtype)
            stack_product(dtype)
