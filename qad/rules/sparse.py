"""SciPy's sparse matrices and arrays, as constants in products with vectors and matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import Tensor, defvjp_tuned, primitive

if TYPE_CHECKING:
    from typing import Any

    from qad.typing import Value


def is_sparse(x: object) -> bool:
    """Whether `x` is a sparse matrix or array of SciPy."""
    return type(x) is not Tensor and hasattr(x, "tocsr")


@primitive(name="matmul with a sparse matrix")
def sparse_times(x: Value, *, matrix: Any) -> Value:
    """``matrix @ x``."""
    return matrix @ x


defvjp_tuned(
    sparse_times,
    lambda g, y, x, *, matrix: sparse_times(g, matrix=matrix.T),
    linear=True,
    fresh=True,
)


def sparse_product(a: Any, b: Any) -> Value:
    """The product of a sparse matrix and a Tensor, in either order."""
    if not is_sparse(a):
        return sparse_product(b.T, a.T).T
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
