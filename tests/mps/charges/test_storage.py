"""States of definite charge in files."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from qad.core.errors import ArgumentError
from qad.mps import MPS, SymmetricMPS, energy, ground_state, j1j2
from tests.mps.charges.chains import CHAINS, random


@pytest.mark.parametrize("name", CHAINS)
def test_what_is_saved_is_read_again(tmp_path, name):
    psi = random(name)[0]
    psi.save(tmp_path / "state.npz")
    found = SymmetricMPS.load(tmp_path / "state.npz")
    assert found.conserved == psi.conserved and found.sector == psi.sector
    for one, two in zip(found, psi, strict=True):
        assert one.legs == two.legs
        np.testing.assert_array_equal((one - two).data, 0)


FIXTURES = Path(__file__).parents[2] / "fixtures"


def test_files_of_earlier_versions_are_read(tmp_path):
    """Written before chains of both kinds shared their sweeps."""
    H = j1j2(6, 1.0, 0.3)
    psi = SymmetricMPS.load(FIXTURES / "symmetric_state.npz")
    assert psi.sector == 0 and psi.bonds == (1, 2, 3, 3, 3, 2, 1)
    assert energy(psi, H) == pytest.approx(-0.8443912500900593, abs=1e-14)
    assert psi.without_symmetry().to_dense().sum() == pytest.approx(-0.8298093094230111, abs=1e-14)
    path = shutil.copy(FIXTURES / "symmetric_search_dmrg2.npz", tmp_path / "search.npz")
    found = ground_state(H, 4, "dmrg2", conserve="Sz", checkpoint=path)
    assert found.history[:3] == pytest.approx([-0.24273716481502403, -2.30469739497544, -2.30469740217878], abs=1e-14)


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "state.npz"
    MPS.random(4, 2).save(path)
    with pytest.raises(ArgumentError, match="holds no SymmetricMPS but"):
        SymmetricMPS.load(path)
    random("ring")[0].save(path)
    with pytest.raises(ArgumentError, match="holds no MPS but"):
        MPS.load(path)


@pytest.mark.parametrize("damage", [lambda b: b[: len(b) // 2], lambda b: b"", lambda b: b[:300] + b"x" + b[301:]])
def test_damaged_files_are_refused(tmp_path, damage):
    path = tmp_path / "state.npz"
    random("ring")[0].save(path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ArgumentError, match="damaged"):
        SymmetricMPS.load(path)


@pytest.mark.parametrize("missing", ["names", "site_2_data", "charges_1", "site_0_legs"])
def test_files_that_lack_something(tmp_path, missing):
    path = tmp_path / "state.npz"
    random("electrons")[0].save(path)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files if name != missing}
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match="damaged"):
        SymmetricMPS.load(path)
