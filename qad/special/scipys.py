"""SciPy's special functions as this package uses them: the ufuncs themselves, which ask Tensors for their rules.

With ``SCIPY_ARRAY_API=1`` in the environment `scipy.special` has functions around its ufuncs, which ask the namespace
of their arguments instead: Tensors answer with `qad.special` (``qad.array_api.special``), which is made of these.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special


def bare(found: Any) -> Any:
    """The ufunc in a function of `scipy.special`, or what else that is."""
    within = getattr(found, "__wrapped__", None)
    return within if isinstance(within, np.ufunc) else found


def __getattr__(name: str) -> Any:
    return bare(getattr(special, name))
