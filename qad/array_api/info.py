"""``__array_namespace_info__``: what the namespace can do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

DEVICE = "cpu"
KINDS: dict[str, tuple[str, ...]] = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
KINDS["integral"] = KINDS["signed integer"] + KINDS["unsigned integer"]
KINDS["numeric"] = KINDS["integral"] + KINDS["real floating"] + KINDS["complex floating"]


class NamespaceInfo:
    """Capabilities, devices and dtypes, as the standard asks for them."""

    def capabilities(self) -> dict[str, bool | int]:
        """Boolean masks and results whose shape depends on values: both are there."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """The name of the one device."""
        return DEVICE

    def default_dtypes(self, *, device: str | None = None) -> dict[str, np.dtype[Any]]:
        """The dtypes that Python's numbers get."""
        integer = np.dtype("int64")
        inexact = {"real floating": np.dtype(float), "complex floating": np.dtype(complex)}
        return inexact | {"integral": integer, "indexing": integer}

    def dtypes(
        self, *, device: str | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, np.dtype[Any]]:
        """The dtypes of one kind, of several, or all, by name."""
        if kind is None:
            kind = ("bool", "numeric")
        kinds = kind if isinstance(kind, tuple) else (kind,)
        return {name: np.dtype(name) for k in kinds for name in KINDS[k]}

    def devices(self) -> list[str]:
        """All devices."""
        return [DEVICE]


def __array_namespace_info__() -> NamespaceInfo:
    """The object that knows."""
    return NamespaceInfo()
