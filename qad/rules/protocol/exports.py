"""The functions of NumPy that are reachable as ``qad.<name>``: all that Tensors may be given to.

``qad.sin is numpy.sin``, which dispatches on Tensors; plain arrays give plain arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend.recording import takes_tensors
from qad.rules.protocol.refused import REFUSED

if TYPE_CHECKING:
    from qad.typing import Function


def exported() -> dict[str, Function]:
    """NumPy's functions by their names, as the registry knows them when it is asked."""
    public = {name: fn for name, fn in vars(np).items() if not name.startswith("_") and callable(fn)}
    return {name: fn for name, fn in public.items() if takes_tensors(fn) and fn not in REFUSED}
