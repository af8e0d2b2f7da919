"""Files of plain arrays: ``.npz``, no pickle, written aside and then put in place."""

from __future__ import annotations

import json
import os
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import numpy as np

from qad.core.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any, BinaryIO

    from numpy.typing import NDArray

    from qad.typing import FilePath

FINGERPRINTS = ("operator", "model", "start")  # marks that nobody can read


def put(path: FilePath, write: Callable[[BinaryIO], object]) -> None:
    """Let `write` fill a file beside `path`, bring it to the disk, and rename: the file is the old one or the new one.

    The file beside is one that no other thread, process or machine has made, and is gone after a failure.
    """
    path = Path(path)
    aside = path.with_name(f".{uuid4().hex}.part")
    try:
        with open(aside, "xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    finally:
        aside.unlink(missing_ok=True)


def write_arrays(path: FilePath, **arrays: Any) -> None:
    """`put` plain arrays into a file."""
    put(path, lambda file: np.savez(file, **arrays))


def read_arrays(path: FilePath) -> dict[str, NDArray[Any]]:
    """The arrays of a file by their names; every entry carries the checksum of the zip format."""
    try:
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except FileNotFoundError:
        raise
    except Exception as error:  # whatever zipfile, NumPy and json raise from what has changed
        raise ArgumentError(
            f"{path} cannot be read: it is damaged, or holds something else; it is left as it is"
        ) from error


@contextmanager
def understood(path: FilePath) -> Iterator[None]:
    """Inside, whatever the entries of a file lack, or are not, is told of the file."""
    try:
        yield
    except Exception as error:
        what = f"it has no entry {error}" if isinstance(error, KeyError) else str(error)
        raise ArgumentError(f"{path} cannot be read: it is damaged, and left as it is: {what}") from error


def read_format(path: FilePath, kind: str, *expected: str | None) -> dict[str, NDArray[Any]]:
    """The arrays of a file that says what it holds; raises where that is not what is `expected`."""
    arrays = read_arrays(path)
    found = str(arrays.get("format", "nothing that qad wrote"))
    if found not in expected:
        raise ArgumentError(f"{path} holds no {kind} but {found!r}")
    return arrays


def read_marked(path: FilePath, expected: Mapping[str, Any]) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays of a search's checkpoint and its mark, a dict; raises where its marks are not the `expected` ones."""
    arrays = read_arrays(path)
    if "mark" not in arrays:
        raise ArgumentError(f"{path} is no checkpoint of a search; move it away, or name another file")
    with understood(path):
        mark = dict(json.loads(str(arrays["mark"])))
    for key, value in expected.items():
        if mark.get(key) != value:
            known = f"its {key} is {mark.get(key)!r}, not {value!r}"
            raise of_another(path, f"it has another {key}" if key in FINGERPRINTS else known)
    return arrays, mark


def fingerprint(arrays: Iterable[Any]) -> int:
    """A checksum of plain arrays, in their order."""
    value = 0
    for array in arrays:
        value = zlib.crc32(np.ascontiguousarray(array).tobytes(), value)
        value = zlib.crc32(str((array.shape, array.dtype)).encode(), value)
    return value


def of_another(path: FilePath, what: str) -> ArgumentError:
    """What to raise for a checkpoint that is not to be gone on from."""
    return ArgumentError(f"checkpoint {path} belongs to another search: {what}; give this search a file of its own")
