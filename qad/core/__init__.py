"""The tape: nodes, recording, the backward sweep, pytrees and transforms.  It knows no derivative."""

from qad.core.checkpoint import checkpoint
from qad.core.hessian import hessian
from qad.core.levels import no_grad
from qad.core.tangents import hvp, jvp
from qad.core.tape import stop_gradient, tensor
from qad.core.tensor import Tensor
from qad.core.transforms import grad, value_and_grad, vjp
from qad.core.wirtinger import jacobian, wirtinger

__all__ = [
    "Tensor", "checkpoint", "grad", "hessian", "hvp", "jacobian", "jvp", "no_grad", "stop_gradient", "tensor",
    "value_and_grad", "vjp", "wirtinger",
]  # fmt: skip
