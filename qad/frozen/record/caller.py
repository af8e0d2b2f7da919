"""Which frame of the call stack is the user's: file and line for messages, `stacklevel` for warnings."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

HERE = str(Path(__file__).parents[1])
SCALAR = np.isscalar.__code__  # which asks for the class, and is answered as for a plain scalar
OURS = (str(Path(__file__).parents[2]), str(Path(np.__file__).parent))


def depth() -> int:
    """How many frames above the caller's the user's code is, the caller's own included: a ``stacklevel``."""
    frame, count = sys._getframe(1), 1
    while frame is not None and frame.f_code.co_filename.startswith(OURS):
        frame, count = frame.f_back, count + 1
    return count


def whereabouts() -> str:
    """File and line of the user's code that led here."""
    frame = sys._getframe(min(depth() - 1, 50))
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


def is_ours() -> bool:
    """Whether qad (other than this floor) or NumPy asks something of a traced array, not the user's code."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename.startswith(HERE):
        frame = frame.f_back
    return frame.f_code.co_filename.startswith(OURS)


def asked_by_us() -> bool:
    """Whether the caller's caller is a function of qad or NumPy."""
    code = sys._getframe(2).f_code
    return code.co_filename.startswith(OURS) and code is not SCALAR
