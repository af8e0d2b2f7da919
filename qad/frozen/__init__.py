"""Frozen functions: the recorded calls of a function as a static program."""

from qad.frozen.freeze import Frozen, freeze
from qad.frozen.old_names import register

register()

__all__ = ["Frozen", "freeze"]
