"""The energy per site of a uniform state for a Hamiltonian in triangular form, differentiable by both."""

from __future__ import annotations

from math import lcm
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ShapeError
from qad.extend import like
from qad.linalg import linear_solve
from qad.mps.kernels.dense import past_left
from qad.mps.operators.uniform_mpo import check_hermitian

if TYPE_CHECKING:
    from qad.mps.operators.uniform_mpo import UniformMPO
    from qad.mps.uniform.state import UniformMPS
    from qad.typing import Array


def check_fit(psi: UniformMPS, H: UniformMPO) -> None:
    """Raise unless the operator is Hermitian and acts on sites like those of the state."""
    sites = lcm(len(psi), len(H))
    if tuple(t.shape[1] for t in psi) * (sites // len(psi)) != H.phys * (sites // len(H)):
        raise ShapeError(f"a cell of sites {[t.shape[1] for t in psi]} does not fit an operator of sites {[*H.phys]}")
    check_hermitian(H)


def energy_of_operator(psi: UniformMPS, H: UniformMPO, left: Array, right: Array) -> Array:
    """The energy per site, given the environments of the cell without an operator.

    With the left environment in channel 0, the channels in between are what terms have begun on the left: the solution
    of ``x = (T(left) + T(x)) / lambda``, lambda the eigenvalue of the transfer operator T.  What one more cell adds to
    the last channel is the energy of a cell.
    """
    cell = lcm(len(psi), len(H))
    kets, tensors = psi.tensors * (cell // len(psi)), H.tensors * (cell // len(H))
    channels = tensors[0].shape[0]

    def passed(*parts):
        first, middle = parts if len(parts) == 2 else (0 * left, *parts)
        x = np.concatenate([first[:, None], middle, like(left).zeros((len(left), 1, len(left)), left.dtype)], axis=1)
        for ket, w in zip(kets, tensors, strict=True):
            x = past_left(x, ket, operator=w)
        return x

    begun = passed(left, like(left).zeros((len(left), channels - 2, len(left)), left.dtype))
    factor = (begun[:, 0] * right).sum() / (left * right).sum()
    middle = begun[:, 1:-1]
    if channels > 2:
        middle = linear_solve(lambda x: x - passed(x)[:, 1:-1] / factor, middle / factor, tol=1e-13)
    energy = (passed(left, middle)[:, -1] * right).sum() / (begun[:, 0] * right).sum()
    return energy.real / cell
