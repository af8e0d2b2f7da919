"""A bridge whose package is missing, or too old, says how to install it."""

import importlib
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import qad
from qad.installed import DISTRIBUTION, NEEDED, numbers, require
from qad.native import machine
from qad.showing.painting import new_figure

PACKAGES = {
    "cotengra": "cotengra", "itensor": "h5py", "jax": "jax", "pennylane": "pennylane", "qiskit": "qiskit",
    "quimb": "quimb", "tenpy": "tenpy", "tensornetwork": "tensornetwork", "torch": "torch",
}  # fmt: skip


@pytest.mark.parametrize("name", PACKAGES)
def test_a_missing_package_is_named_with_the_command(name, monkeypatch):
    for module in [module for module in sys.modules if module.startswith(f"qad.interop.{name}")]:
        monkeypatch.delitem(sys.modules, module)
    for module in [module for module in sys.modules if module.split(".")[0] == PACKAGES[name]]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, PACKAGES[name], None)  # importing it fails
    with pytest.raises(ModuleNotFoundError, match="pip install"):
        importlib.import_module(f"qad.interop.{name}")


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_that_is_too_old_is_named_with_the_command(name, monkeypatch):
    for module in [module for module in sys.modules if module.startswith(f"qad.interop.{name}")]:
        monkeypatch.delitem(sys.modules, module)
    old = ModuleType(PACKAGES[name])
    old.__version__ = "0.1.2+cpu"
    monkeypatch.setitem(sys.modules, PACKAGES[name], old)
    with pytest.raises(
        ImportError, match=rf"needs {PACKAGES[name]} .*, not 0\.1\.2.*pip install -U '{DISTRIBUTION}\["
    ) as caught:
        importlib.import_module(f"qad.interop.{name}")
    assert not isinstance(caught.value, ModuleNotFoundError)


USES = {  # of optional packages outside of the bridges
    "cupy": lambda: qad.to_device(np.ones(2), "cuda"),
    "llvmlite": lambda: machine.llvm(),
    "matplotlib": lambda: new_figure(1, 1, "a picture"),
}


@pytest.mark.parametrize("name", USES)
def test_other_packages_that_are_too_old_are_named_with_the_command(name, monkeypatch):
    old = ModuleType(name)
    old.__version__ = "0.1.2"
    monkeypatch.setitem(sys.modules, name, old)
    with pytest.raises(
        ImportError, match=rf"needs {name} .*, not 0\.1\.2: pip install -U '{DISTRIBUTION}\[{NEEDED[name][1]}\]'"
    ):
        USES[name]()


def test_every_extra_has_a_version_that_is_asked_for():
    assert {*PACKAGES.values(), *USES, "autoray"} == set(NEEDED)


@pytest.mark.parametrize("version, enough", [("2.2.0", True), ("2.13.0+cpu", True), ("2.1.9", False), ("", True)])
def test_versions_are_compared_by_their_numbers(version, enough, monkeypatch):
    """A version that says nothing, such as that of a build without its history, is left alone."""
    package = ModuleType("torch")
    package.__version__ = version
    monkeypatch.setitem(sys.modules, "torch", package)
    if enough:
        require("qad.interop.torch", "torch")
    else:
        with pytest.raises(ImportError, match=r"2\.2 or newer, not 2\.1\.9"):
            require("qad.interop.torch", "torch")
    assert numbers("0+unknown") == []


def test_the_versions_are_those_of_the_project():
    extras = tomllib.loads(Path(__file__).parents[2].joinpath("pyproject.toml").read_text("utf-8"))
    declared = extras["project"]["optional-dependencies"]
    for package, (least, extra) in NEEDED.items():
        named = {"tenpy": "physics-tenpy", "cupy": "cupy-cuda12x"}.get(package, package)
        assert any(entry.startswith(f"{named}>={least}") for entry in declared[extra])
    assert {extra for _, extra in NEEDED.values()} == set(declared) - {"docs", "test", "types", "bench"}
