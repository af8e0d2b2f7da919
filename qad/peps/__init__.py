"""Two dimensions: projected entangled pair states on the square lattice, their environments and energies."""

__all__: list[str] = []
