"""Numba, which is optional: who imports this needs it."""

__all__ = ["numba"]


def _numba():
    import numba

    return numba


numba = _numba()
