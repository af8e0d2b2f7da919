"""SciPy's sparse matrices and arrays, as constants in products with vectors and matrices.

A graph holds a copy of the matrix, which nobody can write into: the caller's may be refilled before the backward pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import Tensor, primitive, rule

if TYPE_CHECKING:
    from typing import Any

    from qad.typing import Value


FORMATS = ("csr", "csc", "coo", "dia", "bsr")  # of which a matrix is a few arrays


def is_sparse(x: object) -> bool:
    """Whether `x` is a sparse matrix or array of SciPy."""
    return type(x) is not Tensor and hasattr(x, "tocsr")


@primitive(name="matmul with a sparse matrix")
def sparse_times(x: Value, *, matrix: Any) -> Value:
    """``matrix @ x``."""
    return matrix @ x


rule(
    sparse_times,
    lambda g, y, x, *, matrix: sparse_times(g, matrix=matrix.T),
    linear=True,
    fresh=True,
)


def kept(matrix: Any) -> Any:
    """A copy of a sparse matrix of SciPy, locked; in the same format, where that is one of a few arrays."""
    copy = matrix.copy() if matrix.format in FORMATS else matrix.tocsr()
    for found in vars(copy).values():
        for array in found if type(found) is tuple else (found,):
            if type(array) is np.ndarray:
                array.setflags(write=False)
    return copy


class sparse:
    """A constant sparse matrix that can stand on the left of a Tensor: ``qad.sparse(S) @ x``.

    SciPy's own ``S @ x`` asks the Tensor for plain numbers, and is refused.  ``x @ S`` works, and copies S every time.

    Parameters
    ----------
    matrix : sparse matrix or array of SciPy
        Two-dimensional.  It is copied, and a constant: no gradient flows to it.

    Raises
    ------
    ArgumentError
        `matrix` is not sparse.

    Examples
    --------
    >>> import numpy as np, qad, scipy.sparse
    >>> s = qad.sparse(scipy.sparse.diags_array([1.0, 2.0]))
    >>> qad.grad(lambda x: np.sum((s @ x) ** 2))(np.ones(2))
    array([2., 8.])
    """

    __array_ufunc__ = None  # arrays leave products to this class
    matrix: Any

    def __init__(self, matrix: Any) -> None:
        if not is_sparse(matrix) or matrix.ndim != 2:
            raise ArgumentError(f"sparse: {type(matrix).__name__} is no sparse matrix of SciPy")
        if type(matrix) is sparse:
            matrix = matrix.matrix
        self.matrix = kept(matrix)

    ndim = 2

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.matrix.shape

    @property
    def T(self) -> sparse:
        """The transpose."""
        transposed = object.__new__(sparse)
        transposed.matrix = self.matrix.T
        return transposed

    def tocsr(self) -> Any:
        """SciPy's matrix by rows, a bare one."""
        return self.matrix.tocsr(copy=True)

    def __matmul__(self, x: Any) -> Any:
        return self.matrix @ x if type(x) is np.ndarray or is_sparse(x) else sparse_product(self, x)

    def __rmatmul__(self, x: Any) -> Any:
        return x @ self.matrix if type(x) is np.ndarray or is_sparse(x) else sparse_product(x, self)

    def __repr__(self) -> str:
        return f"sparse({self.matrix!r})"


def sparse_product(a: Any, b: Any) -> Value:
    """The product of a sparse matrix and a Tensor, in either order."""
    if not is_sparse(a):
        b = b if type(b) is sparse or b.ndim != 2 else sparse(b)
        return sparse_product(b.T, a.T).T
    a = a if type(a) is sparse or a.ndim != 2 else sparse(a)
    if a.ndim != 2 or b.ndim not in (1, 2):
        raise ArgumentError(
            f"a sparse matrix multiplies a vector or a matrix, not shape {b.shape}: for a stack write "
            "np.matmul(A.toarray(), x), or put the stack into the columns of one matrix"
        )
    if a.shape[1] != b.shape[0]:
        raise ShapeError(
            f"a sparse matrix of shape {a.shape} and shape {b.shape} do not fit in a matrix product: transpose one"
        )
    return sparse_times(b, matrix=a)
