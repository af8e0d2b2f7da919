"""Linear algebra: NumPy's functions, decompositions, functions of matrices, and operators, all with derivatives."""

from numpy import kron
from numpy.linalg import cross, diagonal, matmul, matrix_rank, matrix_transpose, outer, tensordot, trace, vecdot

from qad.linalg.decompositions.cholesky import cholesky
from qad.linalg.decompositions.eig import eig, eigvals
from qad.linalg.decompositions.eigh import eigh, eigvalsh
from qad.linalg.decompositions.lq import lq
from qad.linalg.decompositions.lu import lu
from qad.linalg.decompositions.polar import polar
from qad.linalg.decompositions.qr import qr
from qad.linalg.decompositions.schur import schur
from qad.linalg.decompositions.svd import svd, svdvals
from qad.linalg.equations.inv import inv
from qad.linalg.equations.lstsq import lstsq
from qad.linalg.equations.pinv import pinv
from qad.linalg.equations.solve import solve
from qad.linalg.equations.tensorsolve import tensorinv, tensorsolve
from qad.linalg.equations.triangular import solve_triangular
from qad.linalg.factored import algebra
from qad.linalg.functions.cond import cond
from qad.linalg.functions.det import det
from qad.linalg.functions.expm import expm
from qad.linalg.functions.expm_multiply import expm_multiply
from qad.linalg.functions.funm import funm
from qad.linalg.functions.funm_herm import funm_herm
from qad.linalg.functions.funm_svd import funm_svd
from qad.linalg.functions.logm import logm
from qad.linalg.functions.norm import matrix_norm, norm, vector_norm
from qad.linalg.functions.products import matrix_power, multi_dot
from qad.linalg.functions.slogdet import slogdet
from qad.linalg.functions.sqrtm import sqrtm
from qad.linalg.implicit.root import linear_solve
from qad.linalg.krylov.dominant import dominant_eig
from qad.linalg.krylov.gmres import Report
from qad.linalg.krylov.lowest import lowest_eig
from qad.linalg.truncation.split import split
from qad.linalg.truncation.truncated import truncated_eigh, truncated_svd

__all__ = [
    "Report", "cholesky", "cond", "cross", "det", "diagonal", "dominant_eig", "eig", "eigh", "eigvals", "eigvalsh",
    "expm", "expm_multiply", "funm", "funm_herm", "funm_svd", "inv", "kron", "linear_solve", "logm", "lowest_eig",
    "lq", "lstsq", "lu", "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot",
    "norm", "outer", "pinv", "polar", "qr", "schur", "slogdet", "solve", "solve_triangular", "split", "sqrtm",
    "svd", "svdvals", "tensordot", "tensorinv", "tensorsolve", "trace", "truncated_eigh", "truncated_svd", "vecdot",
    "vector_norm",
]  # fmt: skip
