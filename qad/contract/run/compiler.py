"""Kernels of contractions, compiled once on a machine, where LLVM is installed (the extra ``fast``)."""

from __future__ import annotations

import sys
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    import numpy as np

    from qad.contract.order.exchange import Exchanger
    from qad.contract.run.compiled.exchange import CompiledExchanger

__all__ = ["exchanger", "has_compiler", "replay", "stack_product"]


@cache
def has_compiler() -> bool:
    """Whether there is a compiler."""
    return find_spec("llvmlite") is not None and sys.implementation.name == "cpython"


@cache
def compiled() -> ModuleType:
    """What is compiled, imported at first use."""
    from qad.contract.run import compiled

    return compiled


def replay(code: np.ndarray, kept: np.ndarray, work: np.ndarray) -> None:
    """`qad.contract.run.compiled.replay`."""
    compiled().replay(code, kept, work)


def stack_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`qad.contract.run.compiled.stack_product`."""
    return compiled().stack_product(a, b)


def exchanger(plain: Exchanger) -> CompiledExchanger:
    """`qad.contract.run.compiled.exchange.CompiledExchanger`."""
    from qad.contract.run.compiled.exchange import CompiledExchanger

    return CompiledExchanger(plain)
