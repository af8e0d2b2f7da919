"""Frozen functions: the recorded calls of a function as a static program."""

from qad.frozen.freeze import Frozen, freeze

__all__ = ["Frozen", "freeze"]
