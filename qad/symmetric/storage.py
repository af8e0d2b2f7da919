"""Symmetric tensors on disk: ``.npz`` files of plain arrays."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING

import numpy as np

from qad.archive import read_format, understood, write_arrays
from qad.core.errors import ArgumentError
from qad.extend import value_of
from qad.symmetric.blocks.layout import checked
from qad.symmetric.fusing import fused_leg
from qad.symmetric.groups import symmetry
from qad.symmetric.legs import Leg
from qad.symmetric.tensor import SymTensor, as_symmetric

if TYPE_CHECKING:
    from typing import Any

    from qad.typing import FilePath

__all__ = ["arrays_of", "load", "save", "tensor_of"]

FORMAT = "qad symmetric tensor 1"


def save(a: SymTensor, path: FilePath) -> None:
    """Write a tensor to an ``.npz`` file; `load` reads it.

    Parameters
    ----------
    a : SymTensor
    path : str or path
        Replaced only once the new file is complete.

    Examples
    --------
    >>> import qad, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "tensor.npz")
    >>> qad.symmetric.save(qad.symmetric.eye(qad.symmetric.Leg({0: 2, 1: 1}, flow=+1)), path)
    >>> qad.symmetric.load(path)
    SymTensor(shape (3, 3), charge 0, 2 sectors, size 5 of 9, float64)
    """
    write_arrays(path, format=np.array(FORMAT), **arrays_of(as_symmetric(a, "save")))


def load(path: FilePath) -> SymTensor:
    """The tensor in a file that `save` wrote.

    Parameters
    ----------
    path : str or path

    Raises
    ------
    ArgumentError
        If the file is damaged or holds something else.

    Examples
    --------
    >>> import qad, tempfile, pathlib
    >>> a = qad.symmetric.random((qad.symmetric.Leg({0: 2, 1: 1}, flow=+1),), charge=1, seed=0)
    >>> path = pathlib.Path(tempfile.mkdtemp(), "tensor.npz")
    >>> qad.symmetric.save(a, path)
    >>> qad.symmetric.norm(qad.symmetric.load(path) - a)
    np.float64(0.0)
    """
    arrays = read_format(path, "symmetric tensor", FORMAT)
    with understood(path):
        return tensor_of(arrays)


def arrays_of(a: SymTensor, prefix: str = "") -> dict[str, np.ndarray]:
    """A tensor as plain arrays, their names after `prefix`: several tensors may stand in one file.

    Each sector of a leg is a row: the number of its leg, that of the leg into which it was fused or -1, flow,
    dimension, charge.
    """
    rows: list[tuple[int, ...]] = []
    for leg in a.legs:
        _add_rows(rows, leg, -1)
    try:
        legs, total = np.array(rows, np.int64), np.array(a.layout.total, np.int64)
    except OverflowError as error:
        raise ArgumentError("save: a file keeps charges below 2**63 only") from error
    return {
        f"{prefix}symmetry": np.array(str(a.symmetry)),
        f"{prefix}legs": legs.reshape(len(rows), 4 + len(a.symmetry.moduli)),
        f"{prefix}charge": total,
        f"{prefix}split": np.array(a.layout.split),
        f"{prefix}data": np.asarray(value_of(a.data)),
    }


def _add_rows(rows, leg, whole):
    number = rows[-1][0] + 1 if rows else 0
    rows += [(number, whole, leg.flow, dim, *charge) for dim, charge in zip(leg.dims, leg.charges, strict=True)]
    for part in leg.parts:
        _add_rows(rows, part, number)


def tensor_of(arrays: dict[str, Any], prefix: str = "") -> SymTensor:
    """The tensor that `arrays_of` wrote; raises one of several errors where something is amiss."""
    group = symmetry(str(arrays[f"{prefix}symmetry"]))
    rows: dict[int, list[list[int]]] = {}
    for row in arrays[f"{prefix}legs"].tolist():
        rows.setdefault(row[0], []).append(row)
    inner: dict[int, list[Leg]] = {-1: []}
    for number in reversed(rows):
        ((_, whole, flow),) = {tuple(row[:3]) for row in rows[number]}
        leg = Leg({group.shown(tuple(row[4:])): row[3] for row in rows[number]}, flow, group)
        if number in inner:
            parts = fused_leg(tuple(inner[number]), flow)
            if not parts.alike(leg):
                raise ValueError("a fused leg that its parts do not make")
            leg = parts
        inner.setdefault(whole, []).insert(0, leg)
    charge, split = group.shown(tuple(arrays[f"{prefix}charge"].tolist())), index(arrays[f"{prefix}split"])
    data = arrays[f"{prefix}data"]
    if data.dtype.kind not in "biufc":
        raise ValueError("data that are no numbers")
    return SymTensor(checked(inner[-1], charge, split, group, "load"), data)
