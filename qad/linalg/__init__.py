"""Matrix functions with derivatives that are right, one heavy function per file; and those of NumPy that have them."""

from numpy.linalg import diagonal, matmul, matrix_transpose, outer, tensordot, trace, vecdot

from qad.linalg import algebra
from qad.linalg.cholesky import cholesky
from qad.linalg.cond import cond, matrix_rank
from qad.linalg.det import det
from qad.linalg.dominant import dominant_eig
from qad.linalg.eig import eig, eigvals
from qad.linalg.eigh import eigh, eigvalsh
from qad.linalg.expm import expm
from qad.linalg.expm_multiply import expm_multiply
from qad.linalg.funm import funm
from qad.linalg.funm_herm import funm_herm
from qad.linalg.funm_svd import funm_svd
from qad.linalg.implicit import linear_solve
from qad.linalg.inv import inv
from qad.linalg.krylov import Report
from qad.linalg.logm import logm
from qad.linalg.lowest import lowest_eig
from qad.linalg.lq import lq
from qad.linalg.lstsq import lstsq
from qad.linalg.lu import lu
from qad.linalg.norm import matrix_norm, norm, vector_norm
from qad.linalg.pinv import pinv
from qad.linalg.polar import polar
from qad.linalg.products import cross, kron, matrix_power, multi_dot
from qad.linalg.qr import qr
from qad.linalg.schur import schur
from qad.linalg.slogdet import slogdet
from qad.linalg.solve import solve
from qad.linalg.split import split
from qad.linalg.sqrtm import sqrtm
from qad.linalg.svd import svd, svdvals
from qad.linalg.tensorsolve import tensorinv, tensorsolve
from qad.linalg.triangular import solve_triangular
from qad.linalg.truncated import truncated_eigh, truncated_svd

__all__ = [
    "Report", "cholesky", "cond", "cross", "det", "diagonal", "dominant_eig", "eig", "eigh", "eigvals", "eigvalsh",
    "expm", "expm_multiply", "funm", "funm_herm", "funm_svd", "inv", "kron", "linear_solve", "logm", "lowest_eig",
    "lq", "lstsq", "lu", "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot",
    "norm", "outer", "pinv", "polar", "qr", "schur", "slogdet", "solve", "solve_triangular", "split", "sqrtm",
    "svd", "svdvals", "tensordot", "tensorinv", "tensorsolve", "trace", "truncated_eigh", "truncated_svd", "vecdot",
    "vector_norm",
]  # fmt: skip
