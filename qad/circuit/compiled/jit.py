"""Numba's compiler, as the kernels use it: cached on disk, contracting products and sums, without checks of bounds."""

from pathlib import Path


def _numba():
    try:
        import numba
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("compiled circuits need Numba: pip install 'qad[fast]'") from error
    return numba


numba = _numba()
prange = numba.prange


# A kernel's machine code contains those that it calls, from whatever file; Numba looks at the kernel's own file alone.
STAMP = tuple((p.name, p.stat().st_mtime_ns, p.stat().st_size) for p in sorted(Path(__file__).parent.glob("*.py")))


def jit(fn, parallel=False):
    """Compile a kernel."""
    kernel = numba.njit(cache=True, fastmath=True, error_model="numpy", nogil=True, parallel=parallel)(fn)
    kernel._cache._cache_file._source_stamp = STAMP
    return kernel


def parallel(fn):
    """Compile a kernel whose `prange` loops run on several threads."""
    return jit(fn, parallel=True)
