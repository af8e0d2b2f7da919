"""What is compiled, where LLVM is installed (the extra ``fast``): once on a machine, for it is kept on disk."""

import sys
from functools import cache
from importlib.util import find_spec

__all__ = ["has_compiler", "replay", "stack_product"]


@cache
def has_compiler():
    """Whether there is a compiler."""
    return find_spec("llvmlite") is not None and sys.implementation.name == "cpython"


@cache
def compiled():
    """What is compiled, imported at first use."""
    from qad.contract import compiled

    return compiled


def replay(code, kept, work):
    """`qad.contract.compiled.replay`."""
    compiled().replay(code, kept, work)


def stack_product(a, b):
    """`qad.contract.compiled.stack_product`."""
    return compiled().stack_product(a, b)
