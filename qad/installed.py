"""The name of the distribution, and whether optional packages are there, and new enough."""

from __future__ import annotations

import re
from importlib import import_module

DISTRIBUTION = "qad-tensors"  # in pyproject.toml too; what is imported is `qad`
NEEDED = {  # package -> the oldest version that serves, and the extra of pyproject.toml that installs it
    "autoray": ("0.8.4", "quimb"), "cotengra": ("0.7.1", "quimb"), "cupy": ("13.0", "cuda"),
    "h5py": ("3.11", "itensor"), "jax": ("0.5", "jax"), "llvmlite": ("0.45", "fast"),
    "matplotlib": ("3.9", "viz"), "pennylane": ("0.44", "pennylane"),
    "qiskit": ("2.0", "qiskit"), "quimb": ("1.13", "quimb"), "tenpy": ("1.0", "tenpy"),
    "tensornetwork": ("0.4.6", "tensornetwork"), "torch": ("2.2", "torch"),
}  # fmt: skip


def require(what: str, *packages: str) -> None:
    """Raise an ImportError unless the `packages` that something needs are there and new enough."""
    for package in packages:
        least, extra = NEEDED[package]
        needed = f"{what} needs {package} {least} or newer"
        try:
            version = str(getattr(import_module(package), "__version__", ""))
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(f"{needed}: {command(extra)}") from error
        if numbers(version) and numbers(version) < numbers(least):
            raise ImportError(f"{needed}, not {version}: {command(extra, upgrade=True)}")


def command(extra: str, upgrade: bool = False) -> str:
    """What installs an extra of pyproject.toml: from a registry of packages, and in a clone."""
    newest = "-U " if upgrade else ""
    return f"pip install {newest}'{DISTRIBUTION}[{extra}]', or in a clone: pip install {newest}-e '.[{extra}]'"


def numbers(version: str) -> list[int]:
    """``[2, 13, 0]`` for "2.13.0+cpu"; nothing for one that says nothing, such as "0+unknown"."""
    found = re.match(r"\d+(\.\d+)+", version)
    return [int(part) for part in found[0].split(".")] if found else []
