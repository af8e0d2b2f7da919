"""Bridges to other packages; each module needs its package and is imported only by name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    from qad.interop import cotengra, itensor, jax, pennylane, qiskit, quimb, tenpy, tensornetwork, torch

MODULES = ("cotengra", "itensor", "jax", "pennylane", "qiskit", "quimb", "tenpy", "tensornetwork", "torch")


def __getattr__(name: str) -> ModuleType:
    if name in MODULES:
        return import_module(f"qad.interop.{name}")
    raise AttributeError(f"module 'qad.interop' has no attribute {name!r}; it has {', '.join(MODULES)}")


def __dir__() -> list[str]:
    return list(MODULES)
