"""Numba's compiler with the kernels' options: products and sums are contracted, bounds are not checked.

Numba compiles a function again within each of its callers.  So a function that only kernels call has no wrapper for
Python (`inner`), and a long one with one caller becomes part of it before it is compiled (`inlined`).
"""

try:
    from qad.contract.compiled.jit import keeping, numba
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("compiled circuits need Numba: pip install 'qad[fast]'") from error

OPTIONS = {"fastmath": True, "error_model": "numpy", "nogil": True}
INNER = {**OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def jit(fn):
    """Compile a kernel that Python calls, once on a machine; other threads of Python run meanwhile."""
    return keeping(fn, **OPTIONS)


def inner(fn):
    """Compile a function that kernels call."""
    return numba.njit(**INNER)(fn)


def inlined(fn):
    """Make a function part of every kernel that calls it."""
    return numba.njit(inline="always", **INNER)(fn)
