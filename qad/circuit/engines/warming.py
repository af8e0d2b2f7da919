"""`qad.warm_up`: everything that is compiled, compiled beforehand."""

from __future__ import annotations

from qad.contract.run.compiler import has_compiler
from qad.core.process.waiting import tell
from qad.installed import command

__all__ = ["warm_up"]


def warm_up() -> None:
    """Compile all kernels now: contractions, chains, circuits and frozen functions then never stop for it.

    It takes some seconds, once on a machine, for the kernels are kept on disk; where they are, or where llvmlite (the
    extra ``fast``) is not installed and there is nothing to compile, it returns at once. No result depends on it.

    Examples
    --------
    >>> import qad
    >>> qad.warm_up()
    """
    if not has_compiler():
        tell(f"there is nothing to compile without llvmlite: {command('fast')}")
        return
    from qad.circuit.engines.compiled import kernels
    from qad.contract.run import compiled
    from qad.frozen.run.compiled import runs as frozen
    from qad.symmetric.blocks import compiled as symmetric

    frozen.warm_up()
    compiled.warm_up("fdFD")
    symmetric.warm_up("fdFD")
    kernels.warm_up("FD")
