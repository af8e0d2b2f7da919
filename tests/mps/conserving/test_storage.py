"""States of definite charge in files."""

import numpy as np
import pytest

from qad.core.errors import ArgumentError
from qad.mps import MPS, SymmetricMPS
from tests.mps.conserving.chains import CHAINS, random


@pytest.mark.parametrize("name", CHAINS)
def test_what_is_saved_is_read_again(tmp_path, name):
    psi = random(name)[0]
    psi.save(tmp_path / "state.npz")
    found = SymmetricMPS.load(tmp_path / "state.npz")
    assert found.conserved == psi.conserved and found.sector == psi.sector
    for one, two in zip(found, psi, strict=True):
        assert one.legs == two.legs
        np.testing.assert_array_equal((one - two).data, 0)


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
