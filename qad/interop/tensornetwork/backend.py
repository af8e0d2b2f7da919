"""The backend class: what of NumPy's own backend leaves the tape, replaced."""

import numpy as np
from tensornetwork.backends.numpy.numpy_backend import NumPyBackend

from qad import linalg
from qad.contract import einsum, tensordot
from qad.extend import Tensor, value_of
from qad.interop.tensornetwork import factors, krylov
from qad.interop.tensornetwork.lanczos import check, lanczos

__all__ = ["QadBackend"]


def own(tensor):
    """A Tensor in memory of its own, since tensornetwork's chains divide theirs in place: ``tensors[n] /= Z``."""
    return tensor.copy() if type(tensor) is Tensor else tensor


class QadBackend(NumPyBackend):
    """A tensornetwork backend whose tensors are arrays or qad Tensors.

    Methods that NumPyBackend writes in NumPy's functions serve Tensors as they are and are inherited.  Replaced are
    those that would cut a Tensor off from its gradient or refuse it, and contractions, which run on qad's engine.
    Signatures, shapes and errors are those of `tensornetwork.backends.abstract_backend.AbstractBackend`.
    """

    def __init__(self):
        super().__init__()
        self.name = "qad"

    # -- arrays ----------------------------------------------------------------------------------

    def convert_to_tensor(self, tensor):
        return own(tensor) if type(tensor) is Tensor else super().convert_to_tensor(tensor)

    def transpose(self, tensor, perm=None):
        return own(super().transpose(tensor, perm))

    def reshape(self, tensor, shape):
        return own(np.reshape(tensor, tuple(map(int, shape))))

    def item(self, tensor):
        """The single entry: of an array as a Python number, of a Tensor as a 0-d Tensor, still recorded."""
        return np.reshape(tensor, ()) if type(tensor) is Tensor else super().item(tensor)

    def index_update(self, tensor, mask, assignee):
        """`tensor` with the scalar `assignee` where the boolean `mask` holds."""
        if type(tensor) is Tensor or type(assignee) is Tensor:
            return np.where(value_of(mask), assignee, tensor)
        return super().index_update(tensor, value_of(mask), assignee)

    def serialize_tensor(self, tensor):
        return super().serialize_tensor(value_of(tensor))

    # -- contractions ----------------------------------------------------------------------------

    def tensordot(self, a, b, axes):
        return tensordot(a, b, axes)

    def outer_product(self, tensor1, tensor2):
        return tensordot(tensor1, tensor2, 0)

    def einsum(self, expression, *tensors, optimize=True):
        return einsum(expression, *tensors, optimize=optimize)

    # -- factorisations --------------------------------------------------------------------------

    def svd(self, tensor, pivot_axis=-1, max_singular_values=None, max_truncation_error=None, relative=False):
        return factors.svd(tensor, pivot_axis, max_singular_values, max_truncation_error, relative)

    def qr(self, tensor, pivot_axis=-1, non_negative_diagonal=False):
        return factors.qr(tensor, pivot_axis, non_negative_diagonal)

    def rq(self, tensor, pivot_axis=-1, non_negative_diagonal=False):
        return factors.rq(tensor, pivot_axis, non_negative_diagonal)

    def expm(self, matrix):
        return linalg.expm(factors.square(matrix))

    # -- Krylov methods --------------------------------------------------------------------------

    def eigsh_lanczos(
        self, A, args=None, initial_state=None, shape=None, dtype=None, num_krylov_vecs=20, numeig=1, tol=1e-8,
        delta=1e-8, ndiag=20, reorthogonalize=False,
    ):  # fmt: skip
        """Lowest eigenpairs of a Hermitian operator; see `qad.interop.tensornetwork.lanczos.lanczos`."""
        check(num_krylov_vecs, numeig, reorthogonalize)
        vector = krylov.start(self, initial_state, shape, dtype)
        return lanczos(krylov.bind(A, args), vector, num_krylov_vecs, numeig, tol, delta, ndiag, reorthogonalize)

    def eigs(
        self, A, args=None, initial_state=None, shape=None, dtype=None, num_krylov_vecs=50, numeig=6, tol=1e-8,
        which="LR", maxiter=None,
    ):  # fmt: skip
        """Eigenpairs of a linear operator; see `qad.interop.tensornetwork.krylov.eigenpair`."""
        vector = value_of(krylov.start(self, initial_state, shape, dtype))
        apply = krylov.bind(A, args)
        plain = krylov.bare(apply, vector.shape)
        values, vectors = super().eigs(
            plain, None, vector.ravel(), None, None, num_krylov_vecs, numeig, tol, which, maxiter
        )
        pairs = [krylov.eigenpair(apply, values[n], vectors[n].reshape(vector.shape)) for n in range(len(vectors))]
        values, vectors = zip(*pairs, strict=True)
        return np.stack(values), list(vectors)

    def _gmres(self, A_mv, b, A_args, A_kwargs, x0, tol, atol, num_krylov_vectors, maxiter, M=None):
        return krylov.gmres(krylov.bind(A_mv, A_args, A_kwargs), b, x0, tol, atol, num_krylov_vectors, maxiter, M)
