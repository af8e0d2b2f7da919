"""Chains on disk: ``.npz`` files of plain arrays, no pickle, written aside and then put in place."""

import os
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import value_of

FORMAT = "qad chain 1"


def save(path, kind, tensors, sharing):
    """Write a chain; a file that is already there is replaced only by a complete one."""
    arrays = {f"site_{i}": np.asarray(value_of(tensor)) for i, tensor in enumerate(tensors)}
    pattern = np.array(range(len(tensors)) if sharing is None else sharing)
    write_arrays(path, format=np.array(f"{FORMAT} {kind}"), sharing=pattern, **arrays)


def write_arrays(path, **arrays):
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


def read_arrays(path):
    """The arrays of a file by their names; every entry carries the checksum of the zip format."""
    try:
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except FileNotFoundError:
        raise
    except (zipfile.BadZipFile, zlib.error, ValueError, KeyError, EOFError, OSError, AttributeError) as error:
        raise ArgumentError(
            f"{path} cannot be read: it is damaged, or holds something else; it is left as it is"
        ) from error


def load(path, kind):
    """Tensors and sharing of the chain in a file."""
    arrays = read_arrays(path)
    found = str(arrays.get("format", "nothing that qad wrote"))
    if found != f"{FORMAT} {kind}":
        raise ArgumentError(f"{path} holds no {kind} but {found!r}")
    sharing = arrays["sharing"]
    tensors = [arrays[f"site_{i}"] for i in range(int(sharing.max()) + 1)]
    plain = np.array_equal(sharing, np.arange(len(tensors)))
    return tensors, None if plain else tuple(map(int, sharing))
