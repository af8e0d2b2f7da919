"""Orthonormal columns that complete a basis: ``U = [U_1 U_2]``, where U_2 is arbitrary up to a unitary.

``dU_2 = -U_1 dU_1^H U_2`` up to ``U_2 Omega`` with skew Omega, which no loss may depend on.  So in the public
convention U_1 receives ``G_1 - U_2 G_2^H U_1`` (the gauge argument of arXiv:2409.13374 for the complete QR).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import stack_of
from qad.linalg.support import tolerances
from qad.linalg.support.degeneracy import complain, magnitude
from qad.linalg.support.hermitian_parts import skew

if TYPE_CHECKING:
    from qad.typing import Array

BASIS = {
    "svd": "basis in the null space (columns of U or rows of Vh beyond min(m, n)): write full_matrices=False",
    "qr": 'basis of the complement (columns of Q beyond the n-th): write mode="reduced"',
}


def folded(
    g: Array | None, u: Array, k: int, owner: str, floor: np.ndarray, degenerate: str = "raise"
) -> tuple[Array | None, Array]:
    """The cotangent of the first `k` columns of square `u` that contains those of the others, and these columns.

    A dependence on the choice of the others, beyond rounding, is refused; `floor` (...) counts as rounding.
    """
    first, others = u[..., :, :k], u[..., :, k:]
    if g is None:
        return None, first
    inner = u.mT @ g[..., :, k:]
    bare = stack_of(inner)
    turn = np.abs(skew(bare[..., k:, :])).max(axis=(-2, -1), initial=0.0)
    if (turn > np.maximum(tolerances.SUMS * tolerances.half(bare.dtype) * magnitude(g), floor)).any():
        complain(
            f"{owner}: the loss depends on the choice of {BASIS[owner]}, or a function of the projector onto it",
            degenerate,
        )
    return g[..., :, :k] - others.conj() @ inner[..., :k, :].conj().mT, first
