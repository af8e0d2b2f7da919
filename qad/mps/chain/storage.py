"""Chains as plain arrays, in files of their own (`qad.archive`) and in checkpoints of searches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.archive import read_format, understood, write_arrays
from qad.core.errors import ArgumentError
from qad.extend import value_of
from qad.mps.charges.quantities import Quantities
from qad.mps.operators.local import site as site_of
from qad.symmetric import storage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qad.mps.operators.local import Site
    from qad.typing import FilePath

FORMAT = "qad chain 1"
OLDER = {  # what states with charges were written as before
    "MPS": "qad chain of definite charge 1",
    "UniformMPS": "qad infinite chain of definite charge 1",
}


def save(
    path: FilePath, kind: str, tensors: Sequence[Any], sharing: tuple[int, ...] | None, conserved: Quantities | None,
    sites: Sequence[Site] | None,
) -> None:  # fmt: skip
    """Write a chain, with the names of its sites' kinds; a file that is there is replaced only by a complete one."""
    arrays = arrays_of(tensors, conserved)
    arrays["sharing"] = np.array(range(len(tensors)) if sharing is None else sharing)
    if sites is not None:
        arrays["kinds"] = np.array([site.name for site in sites])
    write_arrays(path, format=np.array(f"{FORMAT} {kind}"), **arrays)


def load(
    path: FilePath, kind: str
) -> tuple[list[Any], tuple[int, ...] | None, Quantities | None, tuple[Site, ...] | None]:
    """Tensors, sharing, quantities and sites of the chain in a file."""
    arrays = read_format(path, kind, f"{FORMAT} {kind}", OLDER.get(kind))
    if "names" in arrays:
        tensors, conserved = parts_of(arrays, path)
        return tensors, None, conserved, sites_of(arrays)
    with understood(path):
        order = tuple(map(int, arrays["sharing"]))
        tensors = [arrays[f"site_{i}"] for i in range(max(order, default=0) + 1)]
        if set(order) != set(range(len(tensors))):
            raise ValueError("its entry 'sharing' does not number its site tensors")
        if any(tensor.dtype.kind not in "biufc" for tensor in tensors):
            raise ValueError("its site tensors are no numbers")
    return tensors, None if order == tuple(range(len(tensors))) else order, None, sites_of(arrays)


def sites_of(arrays: Mapping[str, Any]) -> tuple[Site, ...] | None:
    """What stands on the sites, if the file says so by names that are known."""
    try:
        return tuple(site_of(str(name)) for name in arrays["kinds"])
    except (KeyError, ArgumentError):  # an older file, or sites of the caller's own
        return None


def arrays_of(tensors: Sequence[Any], conserved: Quantities | None) -> dict[str, np.ndarray]:
    """The site tensors; with charges the names of what is conserved, and the charges of the sites' basis states too."""
    if conserved is None:
        return {f"site_{i}": np.asarray(value_of(tensor)) for i, tensor in enumerate(tensors)}
    found = {"names": np.array(conserved.names)}
    for site, (tensor, charges) in enumerate(zip(tensors, conserved.charges, strict=True)):
        found |= storage.arrays_of(tensor, f"site_{site}_") | {f"charges_{site}": np.array(charges, np.int64)}
    return found


def parts_of(arrays: Mapping[str, Any], path: FilePath) -> tuple[list[Any], Quantities]:
    """The site tensors and quantities of a state with charges that `arrays_of` wrote; raises where one is amiss."""
    with understood(path):
        n = sum(name.startswith("charges_") for name in arrays)
        charges = [tuple(map(tuple, arrays[f"charges_{site}"].tolist())) for site in range(n)]
        conserved = Quantities(tuple(map(str, arrays["names"])), tuple(charges))
        return [storage.tensor_of(arrays, f"site_{site}_") for site in range(n)], conserved
