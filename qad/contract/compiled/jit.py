"""Numba, which is optional: who imports this needs it."""

from qad.core.waiting import COMPILING, NOT_KEPT, tell_once, waiting

__all__ = ["keeping", "numba"]


def _numba():
    import numba

    return numba


numba = _numba()


def keeping(function, **options):
    """`function` for Numba to compile, once on a machine; where no folder can be written, once in a process."""
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # "no locator available"
        tell_once(NOT_KEPT.format("NUMBA_CACHE_DIR"))
        return numba.njit(**options)(function)


class Told(numba.core.event.Listener):
    """Listens to compilations of qad's kernels, so that who waits for long is told."""

    def __init__(self):
        self.waits = []

    def on_start(self, event):
        if is_kernel(event):
            self.waits.append(waiting(COMPILING))
            self.waits[-1].__enter__()

    def on_end(self, event):
        if is_kernel(event):
            self.waits.pop().__exit__(None, None, None)


def is_kernel(event):
    """Whether what is compiled is qad's."""
    return event.data["dispatcher"].py_func.__module__.startswith("qad.")


numba.core.event.register("numba:compile", Told())
