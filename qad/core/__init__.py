"""The tape: nodes, recording, the backward sweep, pytrees and transforms.  It knows no derivative."""

from qad.core import fast as _fast  # first, so that all else finds the quick functions
from qad.core.modes import no_grad
from qad.core.mutation import numbers as _numbers  # before rules register
from qad.core.tape.tensor import Tensor
from qad.core.transforms.checkpoint import checkpoint
from qad.core.transforms.grad import grad, value_and_grad, vjp
from qad.core.transforms.hessian import hessian
from qad.core.transforms.jvp import hvp, jvp
from qad.core.transforms.torch_style import stop_gradient, tensor
from qad.core.transforms.wirtinger import jacobian, wirtinger

__all__ = [
    "Tensor", "checkpoint", "grad", "hessian", "hvp", "jacobian", "jvp", "no_grad", "stop_gradient", "tensor",
    "value_and_grad", "vjp", "wirtinger",
]  # fmt: skip
