"""NumPy's functions, giving Tensors."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING

import numpy as np

from qad.extend import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType
    from typing import Any

    from qad.typing import P

KINDS = (np.ndarray, np.generic)


def as_tensors(x: Any) -> Any:
    """Arrays and NumPy's scalars as constant Tensors, also in tuples and lists; everything else as it is."""
    if isinstance(x, KINDS):
        return Tensor(x)
    if isinstance(x, (tuple, list)):
        entries = [as_tensors(entry) for entry in x]
        return type(x)(*entries) if hasattr(x, "_fields") else tuple(entries)
    return x


def giving_tensors(fn: Callable[P, Any]) -> Callable[P, Any]:
    """`fn` with the same signature, giving Tensors."""

    @wraps(fn)
    def call(*args, **kwargs):
        return as_tensors(fn(*args, **kwargs))

    return call


def names_of(module: ModuleType, names: Iterable[str]) -> dict[str, Any]:
    """A dictionary of functions of `module` that give Tensors, by name."""
    return {name: giving_tensors(getattr(module, name)) for name in names}
