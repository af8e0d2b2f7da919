"""Checkpoints of a search: a file that is either the last complete one or the one before, never half of one."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from qad.core.archive import read_marked, write_arrays
from qad.core.errors import ArgumentError
from qad.mps.conserving.inner import total_of
from qad.mps.conserving.state import SymmetricMPS
from qad.mps.conserving.storage import arrays_of, parts_of
from qad.mps.state import MPS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from qad.mps.operator import MPO
    from qad.typing import FilePath

FORMAT = "qad ground-state search 1"


class Checkpoint:
    """The file of one search.

    See `qad.core.archive.write_arrays` for how it is replaced.

    Parameters
    ----------
    path : str or path-like
    H : MPO
    method : str
        Those of the search; a file of another one is refused.
    start : SymmetricMPS, optional
        Whose sector is searched, where charges are conserved.
    """

    def __init__(self, path: FilePath, H: MPO, method: str, start: SymmetricMPS | None = None):
        self.path: Path = Path(path)
        if not self.path.parent.is_dir():
            raise ArgumentError(f"checkpoint: there is no folder {self.path.parent}; make it first")
        names = None if start is None else list(start.conserved.names)
        sector = None if start is None else list(total_of(start))
        self.mark: dict[str, Any] = {
            "format": FORMAT,
            "method": method,
            "operator": fingerprint(H),
            "conserve": names,
            "sector": sector,
        }

    def write(self, state: MPS, history: Sequence[float], extra: dict[str, float]) -> None:
        """Replace the file by the present state."""
        if isinstance(state, SymmetricMPS):
            arrays = arrays_of(state.tensors, state.conserved)
        else:
            arrays = {f"site_{i}": np.asarray(tensor) for i, tensor in enumerate(state)}
        text = json.dumps(self.mark | {"sites": len(state), "extra": extra})
        write_arrays(self.path, history=np.array(history), mark=np.array(text), **arrays)

    def read(self) -> tuple[MPS, list[float], dict[str, float]] | None:
        """``(state, history, extra)`` of the file, or None where there is no file.

        Raises
        ------
        ArgumentError
            If the file is damaged, or belongs to another search; it is left as it is.
        """
        if not self.path.exists():
            return None
        arrays, mark = read_marked(self.path, self.mark)
        if self.mark["conserve"] is None:
            state = MPS([arrays[f"site_{i}"] for i in range(mark["sites"])])
        else:
            state = SymmetricMPS(*parts_of(arrays, self.path))
        return state, [float(energy) for energy in arrays["history"]], mark["extra"]


def fingerprint(H: Iterable[np.ndarray]) -> int:
    """A checksum of an operator's tensors."""
    value = 0
    for tensor in H:
        value = zlib.crc32(np.ascontiguousarray(tensor).tobytes(), value)
        value = zlib.crc32(str((tensor.shape, tensor.dtype)).encode(), value)
    return value
