"""The standard's extension ``linalg``."""

import numpy as np

from qad.array_api.wrap import names_of

NAMES = """
    cholesky cross det diagonal eig eigh eigvals eigvalsh inv matmul matrix_norm matrix_power matrix_rank
    matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm
"""

globals().update(names_of(np.linalg, NAMES.split()))

__all__ = NAMES.split()
