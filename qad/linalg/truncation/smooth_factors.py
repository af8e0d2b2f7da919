"""The two factors of a truncated matrix, smooth where singular vectors are not, by chord steps.

``P = U sqrt(S)`` and ``Q = sqrt(S) V^H`` are determined up to a gauge, and inside a degenerate multiplet a
derivative of them does not exist; but that of the kept subspaces does.  Near the point A_0 they are graphs over those
of A_0, ``U = U_0 + U_1 X`` and ``V = V_0 + V_1 Y``, with U_1 and V_1 the discarded vectors, and in the blocks
``B_ij = U_i^H A V_j``

    B_10 + B_11 Y - X (B_00 + B_01 Y) = 0,    B_01^H + B_11^H X - Y (B_00^H + B_10^H X) = 0 .

The derivative of these equations at A_0 is diagonal (s kept, t discarded singular values):

    X = (s R + t R') / (s^2 - t^2),    Y = (s R' + t R) / (s^2 - t^2)

for residuals R and R'.  Each step with it, from X = Y = 0, makes the derivatives of one more order exact; and all steps
are ordinary recorded operations.  The same is done for the orthonormal bases, ``U (U^H U)^(-1/2)`` and V likewise, and
for the polar decomposition ``U^H A V = H W``.  Then

    P = U sqrt(H),    Q = sqrt(H) W V^H,    P^H P = Q Q^H,    P Q = A truncated, with its coupling to what is discarded.

Reference for the coupling: A. Francuz, N. Schuch and B. Vanhecke, Phys. Rev. Research 7, 013237 (2025).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import like
from qad.linalg.support.derivative_order import orders
from qad.linalg.support.hermitian_parts import adjoint

if TYPE_CHECKING:
    from qad.typing import Array

SPARE = 2  # steps beyond the orders that are visible: a function may be recorded once and differentiated later


def factors(a: Array, u: np.ndarray, s: np.ndarray, vh: np.ndarray, k: int) -> tuple[Array, Array]:
    """P (..., m, k) and Q (..., k, n) of the recorded `a`, with its full decomposition at the point.

    The k-th singular value is positive and larger than the next.
    """
    scale, steps = s[..., :1, None], orders(a) + SPARE
    a, s, v = a * (1 / scale), s / s[..., :1], adjoint(vh)
    x, y = _subspaces(adjoint(u) @ a @ v, s, k, steps)
    left = _orthonormal(u[..., :k] + u[..., k:] @ x, steps)
    right = _orthonormal(v[..., :k] + v[..., k:] @ y, steps)
    core = adjoint(left) @ a @ right
    w = _unitary(core, s[..., :k], steps)
    h = _root(core @ adjoint(w), s[..., :k], steps)
    root = np.sqrt(scale)
    return (left @ h) * root, (h @ w @ adjoint(right)) * root


def _subspaces(b, s, k, steps):
    """X and Y: the spaces of the kept singular vectors as graphs, of ``b = U^H A V``."""
    b00, b01, b10, b11 = b[..., :k, :k], b[..., :k, k:], b[..., k:, :k], b[..., k:, k:]
    h00, h01, h10, h11 = map(adjoint, (b00, b01, b10, b11))
    tall, wide = (_resized(s[..., k:, None], size) for size in b11.shape[-2:])
    kept = s[..., None, :k]
    x, y = b10 * 0, h01 * 0
    for _ in range(steps):
        r, other = b10 + b11 @ y - x @ (b00 + b01 @ y), h01 + h11 @ x - y @ (h00 + h10 @ x)
        x = x + (kept * r + tall * _resized(other, r.shape[-2])) / ((kept - tall) * (kept + tall))
        y = y + (kept * other + wide * _resized(r, other.shape[-2])) / ((kept - wide) * (kept + wide))
    return x, y


def _orthonormal(basis, steps):
    """``basis (basis^H basis)^(-1/2)``, which changes nothing at the point."""
    overlap = adjoint(basis) @ basis
    root = _root(overlap, like(overlap).ones(overlap.shape[:-1], overlap.real.dtype), steps)
    return adjoint(np.linalg.solve(root, adjoint(basis)))


def _root(w, diagonal, steps):
    """The square root of the Hermitian `w`, which is this diagonal matrix at the point."""
    root = np.sqrt(diagonal)
    r = root[..., None] * like(root).eye(root.shape[-1], dtype=root.dtype)
    for _ in range(steps):
        r = r + (w - r @ r) / (root[..., :, None] + root[..., None, :])
    return r


def _unitary(core, s, steps):
    """W of ``core = H W`` with Hermitian H, where at the point ``H = diag(s)`` and ``W = 1``.

    Solved are ``core W^H = W core^H`` and ``W W^H = 1``, for the skew-Hermitian and the Hermitian part of dW.
    """
    rows, columns = s[..., :, None], s[..., None, :]
    w = one = like(s).eye(s.shape[-1], dtype=s.dtype)
    for _ in range(steps):
        even = 0.5 * (one - w @ adjoint(w))
        turned = core @ adjoint(w)
        odd = (turned - adjoint(turned) + rows * even - even * columns) / (rows + columns)
        w = w + odd + even
    return w


def _resized(r, rows):
    """`r` with rows dropped or zeros added."""
    if r.shape[-2] >= rows:
        return r[..., :rows, :]
    return np.concatenate([r, like(r).zeros((*r.shape[:-2], rows - r.shape[-2], r.shape[-1]), r.dtype)], axis=-2)
