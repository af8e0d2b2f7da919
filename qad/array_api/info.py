"""``__array_namespace_info__``: what the namespace can do."""

import numpy as np

DEVICE = "cpu"
KINDS = {
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

    def capabilities(self):
        """Boolean masks and results whose shape depends on values: both are there."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self):
        """The name of the one device."""
        return DEVICE

    def default_dtypes(self, *, device=None):
        """The dtypes that Python's numbers get."""
        names = {
            "real floating": "float64", "complex floating": "complex128", "integral": "int64", "indexing": "int64",
        }  # fmt: skip
        return {kind: np.dtype(name) for kind, name in names.items()}

    def dtypes(self, *, device=None, kind=None):
        """The dtypes of one kind, of several, or all, by name."""
        if kind is None:
            kind = ("bool", "numeric")
        kinds = kind if isinstance(kind, tuple) else (kind,)
        return {name: np.dtype(name) for k in kinds for name in KINDS[k]}

    def devices(self):
        """All devices."""
        return [DEVICE]


def __array_namespace_info__():
    """The object that knows."""
    return NamespaceInfo()
