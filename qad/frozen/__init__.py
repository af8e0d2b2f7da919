"""Frozen functions: the recorded calls of a function as a static program."""

from qad.frozen.freeze import Frozen, freeze
from qad.frozen.old_names import register
from qad.frozen.tape_node import as_node  # for what it adds to `Frozen`

register()

__all__ = ["Frozen", "as_node", "freeze"]
