"""One site, the same everywhere and symmetric under rotations and reflections: one corner and one edge."""

from qad.peps.infinite.c4v.solve import solved

__all__ = ["solved"]
