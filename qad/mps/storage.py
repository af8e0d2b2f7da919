"""Chains on disk: files of plain arrays (`qad.core.archive`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.archive import read_arrays, write_arrays
from qad.core.errors import ArgumentError
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
    arrays = read_arrays(path)
    found = str(arrays.get("format", "nothing that qad wrote"))
    if found != f"{FORMAT} {kind}":
        raise ArgumentError(f"{path} holds no {kind} but {found!r}")
    sharing = arrays["sharing"]
    tensors = [arrays[f"site_{i}"] for i in range(int(sharing.max()) + 1)]
    plain = np.array_equal(sharing, np.arange(len(tensors)))
    return tensors, None if plain else tuple(map(int, sharing))
