"""Chains in the HDF5 files of ITensor, read and written: ``MPS`` and ``MPO`` of dense tensors.

In Julia ``h5open("psi.h5") do f; psi = read(f, "psi", MPS); end`` reads what `write_itensor` wrote, and
``write(f, "psi", psi)`` writes what `read_itensor` reads.

Examples
--------
>>> import pathlib, tempfile
>>> import numpy as np, qad
>>> from qad.interop.itensor import read_itensor, write_itensor
>>> psi = qad.mps.MPS.random(4, 3, seed=1)
>>> path = pathlib.Path(tempfile.mkdtemp(), "psi.h5")
>>> write_itensor(path, "psi", psi)
>>> bool(np.array_equal(read_itensor(path, "psi").to_dense(), psi.to_dense()))
True
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from qad.installed import require

require("qad.interop.itensor", "h5py")

import h5py

from qad.core.errors import ArgumentError
from qad.extend import value_of
from qad.interop.arguments import open_chain
from qad.mps import MPO, MPS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from qad.typing import FilePath

    Index = tuple[int, int, str, int]  # identity, dimension, tags, and the number of primes

__all__ = ["read_itensor", "write_itensor"]

NAMES = {"float64": "Float64", "float32": "Float32", "complex128": "ComplexF64", "complex64": "ComplexF32"}


# -- reading ---------------------------------------------------------------------------------------------------------


def read_itensor(path: FilePath, name: str) -> MPS | MPO:
    """Read a chain that ITensor wrote.

    Parameters
    ----------
    path : path of the file
    name : str
        Under which it was written.

    Returns
    -------
    qad.mps.MPS or qad.mps.MPO

    Raises
    ------
    ArgumentError
        There is no such chain in the file, its tensors are not dense, or two neighbours do not share one index.
    """
    with h5py.File(path, "r") as file:
        kind = _text(file[name].attrs.get("type", "")) if name in file else ""
        if kind not in ("MPS", "MPO"):
            raise ArgumentError(f"read_itensor: the file has no MPS or MPO named {name!r}; it has {sorted(file)}")
        group = file[name]
        found = [_read_tensor(group[f"{kind}[{n + 1}]"]) for n in range(int(group["length"][()]))]
    bonds = [_shared(found[n][1], found[n + 1][1], n) for n in range(len(found) - 1)]
    tensors = [
        _ordered(*found[n], bonds[n - 1] if n else None, bonds[n] if n < len(bonds) else None, kind)
        for n in range(len(found))
    ]
    return MPS(tensors) if kind == "MPS" else MPO(tensors)


def _read_tensor(group):
    """The array of an ITensor, with its indices."""
    places = group["inds"]
    indices = [_read_index(places[f"index_{k + 1}"]) for k in range(int(places["length"][()]))]
    kind = _text(group["storage"].attrs["type"])
    if not kind.startswith("Dense{"):
        raise ArgumentError(f"read_itensor: a tensor is stored as {kind}: write dense(psi) in Julia")
    data = group["storage"]["data"]
    numbers = data[()]
    if "__complex__" in data.attrs:  # as ITensor for C++ writes them
        numbers = numbers.reshape(-1, 2) @ np.array([1, 1j])
    return numbers.reshape([index[1] for index in indices], order="F"), indices


def _read_index(group):
    tags = _text(group["tags"]["tags"][()])
    return int(group["id"][()]), int(group["dim"][()]), tags, int(group["plev"][()])


def _text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def _shared(one, two, n):
    shared = set(one) & set(two)
    if len(shared) != 1:
        raise ArgumentError(
            f"read_itensor: sites {n} and {n + 1} share {len(shared)} indices, not one: orthogonalize!(psi, 1) in "
            "Julia joins them"
        )
    return shared.pop()


def _ordered(array, indices, left, right, kind):
    """The array with its axes in qad's order; a bond that the end of the chain lacks has dimension 1."""
    sites = sorted((i for i in indices if i not in (left, right)), key=lambda index: -index[3])  # out has the prime
    if len(sites) != (1 if kind == "MPS" else 2):
        raise ArgumentError(f"read_itensor: a tensor of an {kind} has {len(sites)} indices that are no bonds")
    order = [left, *sites, right] if kind == "MPS" else [left, right, *sites]
    array = array.transpose([indices.index(index) for index in order if index is not None])
    shape = [1 if index is None else index[1] for index in order]
    return np.ascontiguousarray(array).reshape(shape)


# -- writing ---------------------------------------------------------------------------------------------------------


def write_itensor(path: FilePath, name: str, chain: MPS | MPO, tags: str = "Site") -> None:
    """Write an open chain as ITensor does; a file that is there gets it in addition.

    Parameters
    ----------
    path : path of the file
    name : str
        Not in use in the file.
    chain : qad.mps.MPS or qad.mps.MPO
        Plain or recorded; no gradient flows into a file.
    tags : str
        Of the sites' indices, before their number: "Site", "S=1/2,Site", "Qubit,Site".  Their identities follow from
        tags and numbers, so that states and operators with the same tags fit together.

    Raises
    ------
    ArgumentError
        The chain is periodic or symmetric, or the name is in use.
    """
    open_chain(chain, "write_itensor")
    kind = "MPS" if isinstance(chain, MPS) else "MPO"
    count = len(chain.tensors)
    with h5py.File(path, "a") as file:
        if name in file:
            raise ArgumentError(f"write_itensor: {name!r} is in the file already: choose another name or file")
        group = _group(file, name, kind)
        group["length"], group["llim"], group["rlim"] = count, 0, count + 1
        for n, tensor in enumerate(chain.tensors):
            array = np.asarray(value_of(tensor))
            _write_tensor(group, f"{kind}[{n + 1}]", *_labelled(array, n, count, kind, tags, name))


def _labelled(array, n, count, kind, tags, name):
    """An array without the outer bonds, and its indices."""
    right, site = (2, 1) if kind == "MPS" else (1, 2)
    sites = [(_identity(f"{tags},n={n + 1}"), array.shape[site], f"{tags},n={n + 1}", prime) for prime in (1, 0)]
    left_bond, right_bond = (
        (_identity(f"{name},{kind},l={bond}"), size, f"Link,l={bond}", 0)
        for bond, size in ((n, array.shape[0]), (n + 1, array.shape[right]))
    )
    indices = [left_bond, sites[1], right_bond] if kind == "MPS" else [left_bond, right_bond, *sites]
    ends = [0] * (n == 0) + [right] * (n == count - 1)
    return np.squeeze(array, tuple(ends)), [index for k, index in enumerate(indices) if k not in ends]


def _identity(text):
    """A number of 64 bits for an index, the same for the same text."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def _write_tensor(parent: Any, name: str, array: NDArray[Any], indices: Sequence[Index]) -> None:
    if array.dtype.name not in NAMES:
        array = array.astype(float)
    group = _group(parent, name, "ITensor")
    places = _group(group, "inds", "IndexSet")
    places["length"] = len(indices)
    for k, (identity, dim, tags, primes) in enumerate(indices):
        index = _group(places, f"index_{k + 1}", "Index")
        index.attrs["space_type"] = "Int"
        index["id"], index["dim"], index["dir"], index["plev"] = np.uint64(identity), dim, 0, primes
        _group(index, "tags", "TagSet")["tags"] = tags
    _group(group, "storage", f"Dense{{{NAMES[array.dtype.name]}}}")["data"] = array.ravel(order="F")


def _group(parent, name, kind):
    group = parent.create_group(name)
    group.attrs["type"], group.attrs["version"] = kind, 1
    return group
