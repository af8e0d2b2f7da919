"""A bridge whose package is missing says how to install it."""

import importlib
import sys

import pytest

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
