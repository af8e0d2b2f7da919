"""Files of plain arrays: ``.npz``, no pickle, written aside and then put in place."""

from __future__ import annotations

import json
import os
import struct
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from qad.typing import FilePath

# what zipfile and NumPy raise from files that are no archives of arrays, or that have changed
DAMAGED: tuple[type[Exception], ...] = (
    zipfile.BadZipFile, zlib.error, struct.error, ValueError, KeyError, EOFError, OSError, AttributeError, TypeError,
    RuntimeError, MemoryError, OverflowError,
)  # fmt: skip


def write_arrays(path: FilePath, **arrays: Any) -> None:
    """Write plain arrays beside `path`, bring them to the disk, and rename: the file is the old one or the new one."""
    path = Path(path)
    aside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with open(aside, "wb") as file:
            np.savez(file, **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    finally:
        with suppress(FileNotFoundError):
            aside.unlink()


def read_arrays(path: FilePath) -> dict[str, NDArray[Any]]:
    """The arrays of a file by their names; every entry carries the checksum of the zip format."""
    try:
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except FileNotFoundError:
        raise
    except DAMAGED as error:
        raise ArgumentError(
            f"{path} cannot be read: it is damaged, or holds something else; it is left as it is"
        ) from error


def read_marked(path: FilePath, expected: Mapping[str, Any]) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays of a search's checkpoint and its mark, a dict; raises where its marks are not the `expected` ones."""
    arrays = read_arrays(path)
    if "mark" not in arrays:
        raise ArgumentError(f"{path} is no checkpoint of a search; move it away, or name another file")
    mark = json.loads(str(arrays["mark"]))
    for key, value in expected.items():
        if mark.get(key) != value:
            raise ArgumentError(
                f"checkpoint {path} belongs to another search: its {key} is {mark.get(key)!r}, not {value!r}; "
                "give this search a file of its own"
            )
    return arrays, mark
