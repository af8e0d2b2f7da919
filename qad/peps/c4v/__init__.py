"""One site, the same everywhere and symmetric under rotations and reflections: one corner and one edge."""
