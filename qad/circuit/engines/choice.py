"""The engines that run a program: NumPy's, and the compiled one where LLVM is installed (the extra ``fast``)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from qad.circuit.engines import reference
from qad.contract.run.compiler import has_compiler
from qad.core.errors import ArgumentError
from qad.installed import command

if TYPE_CHECKING:
    from types import ModuleType


@cache
def engine_of(name: str) -> ModuleType:
    """The engine of this name, a module with `forward` and `backward`; it is loaded at first use."""
    if name not in ("auto", "numpy", "compiled", "numba"):  # the last: an older name of the one before
        raise ArgumentError(f"engine is 'auto', 'numpy' or 'compiled', not {name!r}")
    if name == "numpy" or (name == "auto" and not has_compiler()):
        return reference
    if not has_compiler():
        raise ModuleNotFoundError(f"compiled circuits need llvmlite: {command('fast')}")
    from qad.circuit.engines import compiled

    return compiled
