"""Kernels of contractions, compiled once on a machine, where LLVM is installed (the extra ``fast``)."""

from __future__ import annotations

import sys
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from qad.contract.order.exchange import Exchanger
    from qad.contract.run.compiled.exchange import CompiledExchanger

__all__ = ["exchanger", "has_compiler", "replay"]


@cache
def has_compiler() -> bool:
    """Whether there is a compiler."""
    return find_spec("llvmlite") is not None and sys.implementation.name == "cpython"


def replay(code: np.ndarray, work: np.ndarray) -> None:
    """`qad.contract.run.compiled.replay`."""
    from qad.contract.run.compiled import replay

    replay(code, work)


def exchanger(plain: Exchanger) -> CompiledExchanger:
    """`qad.contract.run.compiled.exchange.CompiledExchanger`."""
    from qad.contract.run.compiled.exchange import CompiledExchanger

    return CompiledExchanger(plain)
