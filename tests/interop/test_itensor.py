"""The HDF5 layout of ITensor's chains: written and read back, and a file made by hand after their source."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError

pytest.importorskip("h5py", reason="the optional package h5py is not installed")

import h5py

from qad.interop.itensor import read_itensor, write_itensor


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_states_there_and_back(tmp_path, dtype):
    psi = qad.mps.MPS.random(4, 3, dtype=dtype, seed=1)
    write_itensor(tmp_path / "a.h5", "psi", psi)
    found = read_itensor(tmp_path / "a.h5", "psi")
    assert found.dtype == dtype
    assert all(np.array_equal(*pair) for pair in zip(found.tensors, psi.tensors, strict=True))


def test_operators_and_states_in_one_file_share_their_sites(tmp_path):
    path, h = tmp_path / "a.h5", qad.mps.ising(3, 1.0, 0.5) + qad.mps.MPO([np.eye(2, k=1)[None, None]] * 3)
    write_itensor(path, "psi", qad.mps.MPS.random(3, 2))
    write_itensor(path, "h", h)
    np.testing.assert_array_equal(read_itensor(path, "h").to_dense(), h.to_dense())  # out and in kept apart
    with h5py.File(path) as file:
        site = file["psi/MPS[2]/inds/index_2"]
        ids = {file[f"h/MPO[2]/inds/index_{k}/id"][()] for k in (3, 4)}
        assert ids == {site["id"][()]}
        assert [int(file[f"h/MPO[2]/inds/index_{k}/plev"][()]) for k in (3, 4)] == [1, 0]


def test_one_site(tmp_path):
    psi = qad.mps.MPS([np.array([[[1.0], [2.0]]])])
    write_itensor(tmp_path / "a.h5", "psi", psi)
    np.testing.assert_array_equal(read_itensor(tmp_path / "a.h5", "psi").to_dense(), [1, 2])


def by_hand(group, kind, **entries):
    group.attrs["type"], group.attrs["version"] = kind, 1
    for name, value in entries.items():
        group[name] = value
    return group


def index(parent, name, number, dim, plev=0):
    found = by_hand(parent.create_group(name), "Index", id=np.uint64(number), dim=dim, dir=0, plev=plev)
    by_hand(found.create_group("tags"), "TagSet", tags="any")


def site_tensor(chain, n, indices, array, storage="Dense{Float64}"):
    tensor = by_hand(chain.create_group(f"MPS[{n}]"), "ITensor")
    places = by_hand(tensor.create_group("inds"), "IndexSet", length=len(indices))
    for k, number in enumerate(indices):
        index(places, f"index_{k + 1}", number, array.shape[k])
    by_hand(tensor.create_group("storage"), storage, data=array.flatten(order="F"))


@pytest.mark.parametrize("storage", ["Dense{Float64}", "BlockSparse{Float64}"])
def test_a_file_in_their_layout_with_indices_in_any_order(tmp_path, storage):
    """Julia's order of memory: the first index is the quickest."""
    a, b = np.arange(6.0).reshape(3, 2), np.arange(6.0).reshape(2, 3) + 7  # (bond, site) and (site, bond)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        chain = by_hand(file.create_group("psi"), "MPS", length=2, llim=0, rlim=2)
        site_tensor(chain, 1, [5, 1], a, storage)
        site_tensor(chain, 2, [2, 5], b, storage)
    if storage.startswith("Block"):
        with pytest.raises(ArgumentError, match="dense"):
            read_itensor(tmp_path / "a.h5", "psi")
    else:
        np.testing.assert_array_equal(read_itensor(tmp_path / "a.h5", "psi").to_dense(), np.einsum("xs,tx->st", a, b))


def test_what_is_refused(tmp_path):
    with pytest.raises(ArgumentError, match="periodic"):
        write_itensor(tmp_path / "a.h5", "psi", qad.mps.MPS.random(3, 2, periodic=True))
    write_itensor(tmp_path / "a.h5", "psi", qad.mps.MPS.random(3, 2))
    with pytest.raises(ArgumentError, match="in the file already"):
        write_itensor(tmp_path / "a.h5", "psi", qad.mps.MPS.random(3, 2))
    with pytest.raises(ArgumentError, match="without_symmetry"):
        write_itensor(tmp_path / "a.h5", "neel", qad.mps.MPS.product([0, 1], conserve="Sz"))
    with pytest.raises(ArgumentError, match="no MPS or MPO named 'phi'; it has"):
        read_itensor(tmp_path / "a.h5", "phi")
