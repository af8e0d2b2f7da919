"""How many threads BLAS and compiled kernels work on.

A product of small matrices is over before BLAS has woken its threads, which meanwhile keep their processors busy: a
search whose matrices are small takes twice the processor time with them, and where another program wants those
processors, ten times as long.  So searches and sweeps of small bonds have BLAS work on one thread (`blas_for`).
What BLAS counts is one number for the whole process: other threads of Python share it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from threading import RLock
from typing import Any

__all__ = ["blas_for", "kernels", "set_threads"]

LARGE = 256  # rows of matrices from which on products are worth several threads
LOCK = RLock()


def libraries() -> list[Any]:
    """The BLAS of NumPy and that of SciPy, as threadpoolctl handles them."""
    import scipy.linalg  # so that its BLAS is there
    from threadpoolctl import ThreadpoolController

    del scipy
    global _found
    if _found is None:
        _found = ThreadpoolController().select(user_api="blas").lib_controllers
    return _found


_found: list[Any] | None = None  # what `libraries` found
_chosen: int | None = None  # by `set_threads`; None: kernels have as many as there are processors, BLAS what it has
_usual: list[int] | None = None  # the numbers of threads of the libraries before `set_threads` changed them
_held: list[int] = []  # the numbers of threads to return to after the outermost `blas_for`
_depth = 0  # how many `blas_for` are under way


def numbers() -> list[int]:
    """How many threads each library has now."""
    return [library.get_num_threads() for library in libraries()]


def give(counts: Sequence[int]) -> None:
    """Give each library so many threads."""
    for library, count in zip(libraries(), counts, strict=True):
        library.set_num_threads(count)


def set_threads(count: int | None) -> None:
    """Let BLAS and kernels have so many threads; None lets them have what they have by themselves."""
    global _chosen, _usual, _held
    with LOCK:
        if count is None and _usual is None:
            return
        _usual = _usual or (_held if _depth else numbers())
        wanted = _usual if count is None else [count] * len(_usual)
        _chosen = count
        if _depth:
            _held = wanted
        else:
            give(wanted)


def kernels() -> int:
    """How many threads compiled kernels may work on: what was set, what the environment says, or all processors."""
    return _chosen or _by_itself()


@cache
def _by_itself() -> int:
    given = [os.environ.get(name, "") for name in ("QAD_NUM_THREADS", "OMP_NUM_THREADS")]
    found = [int(word) for word in given if word.isdecimal() and int(word)]
    available = getattr(os, "sched_getaffinity", None)  # Linux alone says on which processors it may run
    return found[0] if found else len(available(0)) if available else os.cpu_count() or 1


@contextmanager
def blas_for(rows: int) -> Iterator[None]:
    """A context in which BLAS works on one thread if the largest matrices have few rows."""
    global _depth, _held
    if rows >= LARGE:
        yield
        return
    with LOCK:
        if _depth == 0:
            _held = numbers()
            give([1] * len(_held))
        _depth += 1
    try:
        yield
    finally:
        with LOCK:
            _depth -= 1
            if _depth == 0:
                give(_held)
