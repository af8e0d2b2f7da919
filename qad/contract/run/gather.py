"""Arrays written one after another into one vector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy import concatenate, frombuffer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy import ndarray

__all__ = ["gather", "octets"]

LITTLE = 2**16  # bytes up to which copies of bytes take less time than `concatenate`


def gather(arrays: Sequence[ndarray], out: ndarray) -> None:
    """Write the entries of arrays one after another: forty of 4 x 4 take 1.6 us as bytes, 25 by `concatenate`."""
    if out.nbytes <= LITTLE and {x.dtype for x in arrays} == {out.dtype}:
        out[...] = frombuffer(octets(arrays), out.dtype)
    else:
        concatenate(arrays, axis=None, out=out)


def octets(arrays: Sequence[ndarray]) -> bytes:
    """The bytes of arrays, one after another, each in C order."""
    try:
        return b"".join(arrays)
    except TypeError:  # one of them is not contiguous
        return b"".join([x.tobytes() for x in arrays])
