"""Numba's compiler, as the kernels use it: cached on disk, contracting products and sums, without checks of bounds.

A function is compiled once more in each one that calls it.  So what only kernels call has no wrapper for Python
(`inner`), and a long one with one caller becomes part of it before it is compiled (`inlined`).
"""

from pathlib import Path


def _numba():
    try:
        import numba
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("compiled circuits need Numba: pip install 'qad[fast]'") from error
    return numba


numba = _numba()


# A kernel's machine code contains those that it calls, from whatever file; Numba looks at the kernel's own file alone.
STAMP = tuple((p.name, p.stat().st_mtime_ns, p.stat().st_size) for p in sorted(Path(__file__).parent.glob("*.py")))


def jit(fn, **options):
    """Compile a kernel that Python calls; other threads of Python run meanwhile."""
    kernel = numba.njit(cache=True, fastmath=True, error_model="numpy", nogil=True, **options)(fn)
    kernel._cache._cache_file._source_stamp = STAMP
    return kernel


def inner(fn):
    """Compile a function that kernels call."""
    return jit(fn, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def inlined(fn):
    """Make a function part of every kernel that calls it."""
    return jit(fn, no_cpython_wrapper=True, no_cfunc_wrapper=True, inline="always")
