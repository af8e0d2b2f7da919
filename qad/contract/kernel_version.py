"""Versions of compiled code.

Numba finds machine code on disk by the file of the function, by its bytecode, and by the values that it closes over.
The machine code contains all that the function calls, from whatever file: a function that closes over the version of
those files is compiled anew after one of them has changed.
"""

from hashlib import blake2b

__all__ = ["version_of"]


def version_of(paths):
    """A positive integer that changes with what these files hold."""
    text = b"\0".join(path.read_bytes() for path in sorted(paths, key=lambda path: path.name))
    return 1 + int.from_bytes(blake2b(text, digest_size=7).digest(), "big")
