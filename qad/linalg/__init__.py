"""Matrix functions with derivatives that are right, one heavy function per file."""

from qad.linalg.cholesky import cholesky
from qad.linalg.det import det
from qad.linalg.eigh import eigh, eigvalsh
from qad.linalg.funm_herm import funm_herm
from qad.linalg.funm_svd import funm_svd
from qad.linalg.inv import inv
from qad.linalg.norm import matrix_norm, norm, vector_norm
from qad.linalg.qr import qr
from qad.linalg.slogdet import slogdet
from qad.linalg.solve import solve
from qad.linalg.svd import svd, svdvals

__all__ = [
    "cholesky", "det", "eigh", "eigvalsh", "funm_herm", "funm_svd", "inv", "matrix_norm", "norm", "qr",
    "slogdet", "solve", "svd", "svdvals", "vector_norm",
]  # fmt: skip
