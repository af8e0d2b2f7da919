"""States in files, with charges and without."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from qad.core.errors import ArgumentError
from qad.mps import MPO, MPS, energy, ground_state, heisenberg, j1j2
from qad.symmetric.generic import numbers
from tests.mps.charges.chains import KINDS, random


@pytest.mark.parametrize("name", KINDS)
def test_what_is_saved_is_read_again(tmp_path, name):
    psi = random(name)[0]
    psi.save(tmp_path / "state.npz")
    found = MPS.load(tmp_path / "state.npz")
    assert found.conserved == psi.conserved and found.sector == psi.sector
    for one, two in zip(found, psi, strict=True):
        assert one.shape == two.shape and getattr(one, "legs", None) == getattr(two, "legs", None)
        np.testing.assert_array_equal(numbers(one - two), 0)


FIXTURES = Path(__file__).parents[2] / "fixtures"


def test_files_of_earlier_versions_are_read(tmp_path):
    """Written before chains of both kinds were one class, with one format."""
    H = j1j2(6, 1.0, 0.3)
    psi = MPS.load(FIXTURES / "symmetric_state.npz")
    assert psi.sector == 0 and psi.bonds == (1, 2, 3, 3, 3, 2, 1)
    assert energy(psi, H) == pytest.approx(-0.8443912500900593, abs=1e-14)
    assert psi.to_dense().sum() == pytest.approx(-0.8298093094230111, abs=1e-14)
    path = shutil.copy(FIXTURES / "symmetric_search_dmrg2.npz", tmp_path / "search.npz")
    found = ground_state(H, 4, "dmrg2", conserve="Sz", checkpoint=path)
    assert found.history[:3] == pytest.approx([-0.24273716481502403, -2.30469739497544, -2.30469740217878], abs=1e-14)


SECOND = {
    "dmrg": -1.6160254, "dmrg2": -1.6160254, "lbfgs": -0.45666467, "riemannian": -0.8555631, "tdvp": -0.10382203,
    "tebd": 0.03387544,
}  # fmt: skip


@pytest.mark.parametrize("method", SECOND)
def test_searches_of_earlier_versions_go_on(tmp_path, method):
    H = MPO.load(FIXTURES / "operator.npz")
    np.testing.assert_allclose(H.to_dense(), heisenberg(4).to_dense(), atol=1e-15)
    assert MPS.load(FIXTURES / "state.npz").norm() == pytest.approx(1.0, abs=1e-14)
    path = shutil.copy(FIXTURES / f"search_{method}.npz", tmp_path / "search.npz")
    found = ground_state(H, 4, method, checkpoint=path)
    assert found.history[:2] == pytest.approx([0.15744067, SECOND[method]], abs=1e-7)  # which the file holds
    assert found.energy == pytest.approx(-1.6160254037844386, abs=1e-9)


DAMAGES = [lambda b: b[: len(b) // 2], lambda b: b"", lambda b: b.replace(b"site_1", b"site_x", 1)]


@pytest.mark.parametrize("name", ["dense", "ring"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files_are_refused(tmp_path, damage, name):
    path = tmp_path / "state.npz"
    random(name)[0].save(path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ArgumentError, match="damaged"):
        MPS.load(path)


@pytest.mark.parametrize("missing", ["site_2_data", "charges_1", "site_0_legs"])
def test_files_that_lack_something(tmp_path, missing):
    path = tmp_path / "state.npz"
    random("electrons")[0].save(path)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files if name != missing}
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match="damaged"):
        MPS.load(path)
