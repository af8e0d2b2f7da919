"""The backend class: what of NumPy's own backend leaves the tape, replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from tensornetwork.backends.numpy.numpy_backend import NumPyBackend

from qad import linalg
from qad.contract import einsum, tensordot
from qad.extend import Tensor, value_of
from qad.interop.tensornetwork import factors, krylov

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.typing import DTypeLike, Function, Value

__all__ = ["QadBackend"]


def own(tensor: Value) -> Value:
    """A Tensor in memory of its own, since tensornetwork's chains divide theirs in place: ``tensors[n] /= Z``."""
    return tensor.copy() if type(tensor) is Tensor else tensor


class QadBackend(NumPyBackend):
    """A tensornetwork backend whose tensors are arrays or qad Tensors.

    Methods that NumPyBackend writes in NumPy's functions serve Tensors as they are and are inherited.  Replaced are
    those that would cut a Tensor off from its gradient or refuse it, and contractions, which run on qad's engine.
    Signatures, shapes and errors are those of `tensornetwork.backends.abstract_backend.AbstractBackend`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.name = "qad"

    # -- arrays ----------------------------------------------------------------------------------

    def convert_to_tensor(self, tensor: Value) -> Value:
        return own(tensor) if type(tensor) is Tensor else super().convert_to_tensor(tensor)

    def transpose(self, tensor: Value, perm: Sequence[int] | None = None) -> Value:
        return own(super().transpose(tensor, perm))

    def reshape(self, tensor: Value, shape: Sequence[int]) -> Value:
        return own(np.reshape(tensor, tuple(map(int, shape))))

    def item(self, tensor: Value) -> Value:
        """The single entry: of an array as a Python number, of a Tensor as a 0-d Tensor, still recorded."""
        return np.reshape(tensor, ()) if type(tensor) is Tensor else super().item(tensor)

    def index_update(self, tensor: Value, mask: Value, assignee: Value) -> Value:
        """`tensor` with the scalar `assignee` where the boolean `mask` holds."""
        if type(tensor) is Tensor or type(assignee) is Tensor:
            return np.where(value_of(mask), assignee, tensor)
        return super().index_update(tensor, value_of(mask), assignee)

    def serialize_tensor(self, tensor: Value) -> str:
        return super().serialize_tensor(value_of(tensor))

    # -- contractions ----------------------------------------------------------------------------

    def tensordot(self, a: Value, b: Value, axes: Any) -> Value:
        return tensordot(a, b, axes)

    def outer_product(self, tensor1: Value, tensor2: Value) -> Value:
        return tensordot(tensor1, tensor2, 0)

    def einsum(self, expression: str, *tensors: Value, optimize: bool = True) -> Value:
        return einsum(expression, *tensors, optimize=optimize)

    # -- factorisations --------------------------------------------------------------------------

    def svd(
        self, tensor: Value, pivot_axis: int = -1, max_singular_values: int | None = None,
        max_truncation_error: float | None = None, relative: bool = False,
    ) -> tuple[Value, Value, Value, Value]:  # fmt: skip
        return factors.svd(tensor, pivot_axis, max_singular_values, max_truncation_error, relative)

    def qr(self, tensor: Value, pivot_axis: int = -1, non_negative_diagonal: bool = False) -> tuple[Value, Value]:
        return factors.qr(tensor, pivot_axis, non_negative_diagonal)

    def rq(self, tensor: Value, pivot_axis: int = -1, non_negative_diagonal: bool = False) -> tuple[Value, Value]:
        return factors.rq(tensor, pivot_axis, non_negative_diagonal)

    def expm(self, matrix: Value) -> Value:
        return linalg.expm(factors.square(matrix))

    # -- Krylov methods --------------------------------------------------------------------------

    def eigsh_lanczos(
        self, A: Function, args: Sequence[Any] | None = None, initial_state: Value = None,
        shape: tuple[int, ...] | None = None, dtype: DTypeLike | None = None, num_krylov_vecs: int = 20,
        numeig: int = 1, tol: float = 1e-8, delta: float = 1e-8, ndiag: int = 20, reorthogonalize: bool = False,
    ) -> tuple[Value, list[Value]]:  # fmt: skip
        """Lowest eigenpairs of a Hermitian operator: the package's, or of a recorded one those of `qad.linalg`."""
        vector, apply = krylov.start(self, initial_state, shape, dtype), krylov.bind(A, args)
        limits = num_krylov_vecs, numeig, tol, delta, ndiag, reorthogonalize
        if numeig == 1 and krylov.is_recorded(apply(vector)):
            value, state = linalg.lowest_eig(apply, vector)
            return np.stack([value.astype(state.dtype)]), [state]
        vector = value_of(vector)
        plain = krylov.bare(apply, vector.shape)
        values, vectors = super().eigsh_lanczos(
            lambda v: plain(v).reshape(v.shape), None, vector.copy(), None, None, *limits
        )
        return krylov.eigenpairs(apply, values, vectors)

    def eigs(
        self, A: Function, args: Sequence[Any] | None = None, initial_state: Value = None,
        shape: tuple[int, ...] | None = None, dtype: DTypeLike | None = None, num_krylov_vecs: int = 50,
        numeig: int = 6, tol: float = 1e-8, which: str = "LR", maxiter: int | None = None,
    ) -> tuple[Value, list[Value]]:  # fmt: skip
        """Eigenpairs of a linear operator; see `qad.interop.tensornetwork.krylov.eigenpair`."""
        vector = value_of(krylov.start(self, initial_state, shape, dtype))
        apply = krylov.bind(A, args)
        plain = krylov.bare(apply, vector.shape)
        values, vectors = super().eigs(
            plain, None, vector.ravel(), None, None, num_krylov_vecs, numeig, tol, which, maxiter
        )
        return krylov.eigenpairs(apply, values, [x.reshape(vector.shape) for x in vectors])

    def _gmres(
        self, A_mv: Function, b: Value, A_args: Sequence[Any], A_kwargs: dict[str, Any], x0: Value, tol: float,
        atol: float, num_krylov_vectors: int, maxiter: int | None, M: Any = None,
    ) -> tuple[Value, int]:  # fmt: skip
        return krylov.gmres(krylov.bind(A_mv, A_args, A_kwargs), b, x0, tol, atol, num_krylov_vectors, maxiter, M)
