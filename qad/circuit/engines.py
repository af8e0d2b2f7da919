"""The engines that run a program: NumPy's, and the compiled one where Numba is installed."""

from functools import cache
from importlib.util import find_spec

from qad.circuit import reference
from qad.core.errors import ArgumentError


@cache
def engine_of(name):
    """The engine of this name, a module with `forward` and `backward`; it is loaded at first use."""
    if name not in ("auto", "numpy", "numba"):
        raise ArgumentError(f"engine is 'auto', 'numpy' or 'numba', not {name!r}")
    if name == "numpy" or (name == "auto" and find_spec("numba") is None):
        return reference
    from qad.circuit import compiled

    return compiled
