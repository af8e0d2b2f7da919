"""Chains on disk: files of plain arrays (`qad.archive`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.archive import read_format, understood, write_arrays
from qad.extend import value_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Array, FilePath

FORMAT = "qad chain 1"


def save(path: FilePath, kind: str, tensors: Sequence[Array], sharing: tuple[int, ...] | None) -> None:
    """Write a chain; a file that is already there is replaced only by a complete one."""
    arrays = {f"site_{i}": np.asarray(value_of(tensor)) for i, tensor in enumerate(tensors)}
    pattern = np.array(range(len(tensors)) if sharing is None else sharing)
    write_arrays(path, format=np.array(f"{FORMAT} {kind}"), sharing=pattern, **arrays)


def load(path: FilePath, kind: str) -> tuple[list[np.ndarray], tuple[int, ...] | None]:
    """Tensors and sharing of the chain in a file."""
    arrays = read_format(path, kind, f"{FORMAT} {kind}")
    with understood(path):
        order = tuple(map(int, arrays["sharing"]))
        tensors = [arrays[f"site_{i}"] for i in range(max(order, default=0) + 1)]
        if set(order) != set(range(len(tensors))):
            raise ValueError("its entry 'sharing' does not number its site tensors")
        if any(tensor.dtype.kind not in "biufc" for tensor in tensors):
            raise ValueError("its site tensors are no numbers")
    return tensors, None if order == tuple(range(len(tensors))) else order
