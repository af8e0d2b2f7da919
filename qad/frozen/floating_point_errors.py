"""NumPy's handling of floating-point errors: where it raises or calls a function, programs are not replayed.

A program may leave out, join and reorder operations, so that an error would come at another place, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

try:
    from numpy._core.umath import _extobj_contextvar

    current = _extobj_contextvar.get  # an object that is another one whenever the state is
except ImportError:  # nothing to go by: the state itself, which is slower

    def current() -> tuple[Any, ...]:
        """The state, as something hashable."""
        return tuple(np.geterr().values())


def is_quiet() -> bool:
    """Whether floating-point errors are ignored or warned of, and nothing else."""
    return {"ignore", "warn"}.issuperset(np.geterr().values())


def turns_into_errors(filters: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether these filters of warnings make errors of some that the others do not; the first that fits counts."""
    place = {repr(each): i for i, each in reversed(list(enumerate(others)))}
    errors = [(i, repr(each)) for i, each in enumerate(filters) if each[0] == "error"]
    return any(i < place.get(each, len(filters) + 1) for i, each in errors)


def silenced(run: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`run` without warnings of floating-point errors, of which the function decides itself."""

    def silently(values):
        with np.errstate(all="ignore"):
            return run(values)

    return silently
