"""Whether anybody else holds an object, as CPython's count of references tells.

An array that one slot holds and nothing else may be written in place: nobody can tell the difference from a copy, but
by the time that it takes.  The count says so in CPython up to 3.13 with its global lock.  From 3.14 on, in builds
without the lock and in other interpreters a reference may go uncounted: `COUNTED` is False there, everything counts as
shared, and what is written into is copied first.  Results do not depend on it.
"""

from __future__ import annotations

import sys
import sysconfig

COUNTED = (
    sys.implementation.name == "cpython"
    and sys.version_info < (3, 14)
    and not sysconfig.get_config_var("Py_GIL_DISABLED")
)


def shared(holder: object, slot: str) -> bool:
    """Whether somebody besides this slot of `holder` may hold the object that stands there."""
    return not COUNTED or sys.getrefcount(getattr(holder, slot)) > ALONE


class _Holder:
    __slots__ = ("slot",)


def _count_alone() -> int:
    holder = _Holder()
    holder.slot = object()
    return sys.getrefcount(getattr(holder, "slot"))  # noqa: B009 - counted as `shared` does it


ALONE: int = _count_alone() if COUNTED else 0
