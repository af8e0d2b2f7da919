"""Numba's compiler, as `qad.tensor` uses it."""

from pathlib import Path

__all__ = ["jit", "numba"]


def _numba():
    import numba

    return numba


numba = _numba()

# Machine code contains what it calls, from whatever file; Numba looks at the file of the function alone.
_HERE = Path(__file__).parent
_FILES = [
    *sorted(_HERE.glob("*.py")),
    *(_HERE.parent / name for name in ("interpreter.py", "bytecode.py", "small_matmul.py")),
]
_STAMP = tuple((path.name, path.stat().st_mtime_ns, path.stat().st_size) for path in _FILES)


def jit(fn, *kinds):
    """Compile a function, once on a machine: it is kept on disk.  With `kinds` its arguments are made these types."""
    compiled = numba.njit(cache=True, nogil=True)(fn)
    compiled._cache._cache_file._source_stamp = _STAMP
    if kinds:
        compiled.compile(kinds)
        compiled.disable_compile()
    return compiled
