"""What quimb's ``TNOptimizer`` asks of a backend: values, gradients and Hessian-vector products of lists of arrays."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from quimb.tensor import optimize

from qad.core.errors import ArgumentError
from qad.extend import hvp, value_and_grad
from qad.frozen import freeze
from qad.interop.quimb.networks import hermitian_forms

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from qad.typing import Function

__all__ = ["QadHandler", "register_handler"]


def register_handler() -> None:
    """Make ``TNOptimizer(..., autodiff_backend="qad")`` known."""
    optimize._BACKEND_HANDLERS["qad"] = QadHandler


class QadHandler:
    """The backend "qad" of ``TNOptimizer``.

    Parameters
    ----------
    freeze : bool
        Record the loss once and run it as a static program from then on, as other backends compile it: what it reads
        beyond the tensors is taken to stay what it was (``qad.freeze(..., constant=True)``).
    hermitian : bool
        The caller says that the scalar networks in the loss whose tensors all meet their conjugates are norms and
        energies ``<psi|O|psi>``: only half of their gradients is computed.  It is proved, as by `qad.einsum`.
    device : "cpu"
    """

    freeze: bool
    hermitian: bool

    def __init__(self, freeze: bool = False, hermitian: bool = False, device: str = "cpu") -> None:
        if device != "cpu":
            raise ArgumentError(f'autodiff_backend="qad" computes on the host, not on {device!r}: leave out device')
        self.freeze, self.hermitian = freeze, hermitian

    def to_variable(self, x: Any) -> NDArray[Any]:
        return np.asarray(x)

    to_constant = to_variable

    def setup_fn(self, fn: Function) -> None:
        """Take the loss, a function of a list of arrays."""

        def loss(arrays):
            with hermitian_forms(self.hermitian):
                return fn(arrays)

        prepared = partial(freeze, constant=True) if self.freeze else lambda function: function
        self._value, self._value_and_grad = prepared(loss), prepared(value_and_grad(loss))
        self._hessp = prepared(lambda arrays, tangents: hvp(loss, (arrays,), (tangents,))[0])

    def value(self, arrays: Any) -> NDArray[Any]:
        return np.asarray(self._value(arrays))

    def value_and_grad(self, arrays: Any) -> tuple[NDArray[Any], Any]:
        """The loss and its gradients ``dL/dx + i dL/dy``, which is quimb's convention, too."""
        value, gradients = self._value_and_grad(arrays)
        return np.asarray(value), gradients

    def hessp(self, primals: Any, tangents: Any) -> Any:
        """How the gradient changes along `tangents`."""
        return self._hessp(primals, tangents)
