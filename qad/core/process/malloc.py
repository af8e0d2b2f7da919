"""Keep freed memory in the process, from the first large gradient on.

A tape allocates and frees arrays of the same sizes over and over.  The GNU C library takes large blocks from the
system and gives them back when they are freed, so that every page of every temporary is faulted in again, which
can cost several times the arithmetic on it.  Told otherwise, it keeps blocks of up to 32 MB, and at most 64 MB of them
unused.  That holds for everything in the process, so it is said where users look (docs/tape.md) and can be switched off
(`qad.config`).  With another C library nothing happens.
"""

from __future__ import annotations

import os

LARGE = 1 << 14  # bytes of an array in whose gradient there are blocks for which it matters
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # names of the parameters in malloc.h
KEPT: dict[int, int] = {MMAP_THRESHOLD: 32 << 20, TRIM_THRESHOLD: 64 << 20}
USUAL: dict[int, int] = {MMAP_THRESHOLD: 128 << 10, TRIM_THRESHOLD: 128 << 10}

waiting: bool = True  # for the first large gradient
_now = USUAL


def ready(nbytes: int) -> None:
    """Keep freed memory if an array of so many bytes, at hand in a gradient, is the first large one."""
    if waiting and nbytes >= LARGE:
        become(False, KEPT)


def become(wait: bool, thresholds: dict[int, int]) -> None:
    """Tell the C library to keep freed memory, or to leave it, and whether to `wait` for the first large gradient.

    It is left alone where it has these thresholds already.
    """
    global waiting, _now
    waiting, before, _now = wait, _now, thresholds
    for parameter, size in thresholds.items() if thresholds is not before else ():
        _mallopt(parameter, size)


def _mallopt(parameter: int, size: int) -> None:
    """Set a parameter of the GNU C library's allocator; elsewhere nothing."""
    if "CS_GNU_LIBC_VERSION" not in getattr(os, "confstr_names", ()) or not os.confstr("CS_GNU_LIBC_VERSION"):
        return
    import ctypes  # takes its time

    ctypes.CDLL(None).mallopt(parameter, size)
