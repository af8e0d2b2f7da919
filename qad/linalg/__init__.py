"""Matrix functions with derivatives that are right, one heavy function per file."""

from qad.linalg.eigh import eigh, eigvalsh
from qad.linalg.svd import svd, svdvals

__all__ = ["eigh", "eigvalsh", "svd", "svdvals"]
