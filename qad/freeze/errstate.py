"""NumPy's handling of floating-point errors: where it raises or calls somebody, programs are not replayed.

A program may leave out, join and reorder operations, so that an error would come from elsewhere, or not at all.
"""

import numpy as np

__all__ = ["current", "is_quiet"]

try:
    from numpy._core.umath import _extobj_contextvar

    current = _extobj_contextvar.get  # an object that is another one whenever the state is
except ImportError:  # nothing to go by: the state itself, which is slower

    def current():
        """The state, as something hashable."""
        return tuple(np.geterr().values())


def is_quiet() -> bool:
    """Whether floating-point errors are ignored or warned of, and nothing else."""
    return {"ignore", "warn"}.issuperset(np.geterr().values())
