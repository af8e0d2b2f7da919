"""A mistake of autoray up to 0.8, and the way around it.

``autoray.get_namespace("numpy")`` was remembered under the class of its argument, which is `str`, so that the first
backend that anybody named by a string was everybody's from then on: ``get_namespace("qad")`` gave NumPy.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["separate_namespaces"]


class NotByString(dict[Any, Any]):
    """A cache that does not keep what was asked for by a string: those namespaces are made anew each time."""

    def __setitem__(self, key: Any, namespace: Any) -> None:
        if key[0] is not str:
            super().__setitem__(key, namespace)


def separate_namespaces(autoray: ModuleType) -> bool:
    """Whether `autoray` (the module that has ``get_namespace``) confuses namespaces; if so its cache is replaced."""
    if autoray.get_namespace("qad") is not autoray.get_namespace("numpy"):
        return False
    kept = {key: namespace for key, namespace in autoray._NAMESPACE_CACHE.items() if key[0] is not str}
    autoray._NAMESPACE_CACHE = NotByString()
    autoray._NAMESPACE_CACHE.update(kept)
    warnings.warn(
        "this autoray gives the first namespace that was asked for by a name to whoever asks for one by any name; "
        "qad.interop.quimb has replaced its cache (newer versions of autoray do not need that)",
        stacklevel=3,
    )
    return True
