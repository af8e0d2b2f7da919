"""Chains on disk: ``.npz`` files of plain arrays, no pickle, written aside and then put in place."""

import os
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import value_of

FORMAT = "qad chain 1"


def save(path, kind, tensors, sharing):
    """Write a chain; a file that is already there is replaced only by a complete one."""
    path = Path(path)
    arrays = {f"site_{i}": np.asarray(value_of(tensor)) for i, tensor in enumerate(tensors)}
    pattern = np.array(range(len(tensors)) if sharing is None else sharing)
    aside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with open(aside, "wb") as file:
            np.savez(file, format=np.array(f"{FORMAT} {kind}"), sharing=pattern, **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    finally:
        with suppress(FileNotFoundError):
            aside.unlink()


def load(path, kind):
    """Tensors and sharing of the chain in a file."""
    try:
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except FileNotFoundError:
        raise
    except (zipfile.BadZipFile, ValueError, KeyError, EOFError, OSError, AttributeError) as error:
        raise ArgumentError(f"{path} is no chain that can be read: it is damaged, or holds something else") from error
    found = str(arrays.get("format", "nothing that qad wrote"))
    if found != f"{FORMAT} {kind}":
        raise ArgumentError(f"{path} holds no {kind} but {found!r}")
    sharing = arrays["sharing"]
    tensors = [arrays[f"site_{i}"] for i in range(int(sharing.max()) + 1)]
    plain = np.array_equal(sharing, np.arange(len(tensors)))
    return tensors, None if plain else tuple(map(int, sharing))
