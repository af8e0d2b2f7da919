"""Machine code on disk: one file for what is compiled together, whose name says what it was compiled from.

A file begins with a checksum.  A file whose checksum does not fit is not used, but written anew.
"""

from __future__ import annotations

import os
import sys
from hashlib import blake2b
from pathlib import Path

from qad.archive import put

__all__ = ["folder", "keep", "kept"]

DIGEST = 32


def folder() -> Path:
    """Where machine code is kept: ``QAD_CACHE_DIR``, or the folder `qad` among the user's caches."""
    given = os.environ.get("QAD_CACHE_DIR")
    if given:
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "qad"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "qad"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "qad"


def kept(name: str) -> bytes | None:
    """The machine code that is kept under a name; None if there is none."""
    try:
        data = (folder() / name).read_bytes()
    except (OSError, RuntimeError):  # no such file, or no home
        return None
    code = data[DIGEST:]
    return code if data[:DIGEST] == checksum(name, code) else None


def keep(name: str, code: bytes) -> None:
    """Keep machine code under a name; an OSError where that cannot be written."""
    place = folder() / name
    place.parent.mkdir(parents=True, exist_ok=True)
    put(place, lambda file: file.write(checksum(name, code) + code))


def checksum(name: str, code: bytes) -> bytes:
    """A checksum of machine code and of what it was compiled from."""
    return blake2b(name.encode() + code, digest_size=DIGEST).digest()
