"""The truncated matrix as a product of two factors, smooth where singular vectors are not.

The factors ``P = U sqrt(S)`` and ``Q = sqrt(S) V^H`` are determined up to a gauge, and inside a degenerate multiplet a
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

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import Tensor, operand, value_of

MULTIPLET = 1e-8  # relative gap below which neighbours belong together
SPARE = 2  # steps beyond the orders that are visible: a function may be recorded once and differentiated later


def covariant_split(a, max_rank=None, cutoff=1e-12):
    """Two factors ``P Q`` of the best approximation of `a` of a given rank, with derivatives at any spectrum.

    Parameters
    ----------
    a : array (m, n)
        Real or complex.
    max_rank : int, optional
        The largest rank.
    cutoff : float
        Singular values below `cutoff` times the largest are dropped.

    Returns
    -------
    P : array (m, k)
        ``U sqrt(S)``.
    Q : array (k, n)
        ``sqrt(S) V^H``.

    Raises
    ------
    ShapeError
        If `a` is not a matrix.
    ArgumentError
        If `a` is zero or not finite, or if a single multiplet has more than `max_rank` members.

    Notes
    -----
    A multiplet (relative gaps below 1e-8) is never cut: the rank is reduced to where it begins. ``P^H P = Q Q^H``
    leaves a unitary gauge, which derivatives take as fixed at this point: a function of P and Q that does not change
    under ``P W, W^H Q`` for unitary W has the right derivatives, to every order, and no other function has any.

    Examples
    --------
    >>> import numpy as np, qad
    >>> a = np.diag([2.0, 2.0, 1.0])
    >>> p, q = qad.linalg.covariant_split(a, max_rank=2)
    >>> p @ q
    array([[2., 0., 0.],
           [0., 2., 0.],
           [0., 0., 0.]])
    >>> def kept(a):
    ...     p, q = qad.linalg.covariant_split(a, max_rank=2)
    ...     return np.sum((p @ q) ** 2)
    >>> qad.grad(kept)(a)
    array([[4., 0., 0.],
           [0., 4., 0.],
           [0., 0., 0.]])
    """
    a = operand(a)
    if a.ndim != 2:
        raise ShapeError(f"covariant_split takes one matrix, not an array of shape {a.shape}")
    bare = value_of(a)
    if not np.isfinite(bare).all() or not bare.any():
        raise ArgumentError(f"covariant_split: the matrix {'is zero' if np.isfinite(bare).all() else 'is not finite'}")
    u, s, vh = np.linalg.svd(bare)
    k, scale = _rank(s, max_rank, cutoff), s[0]
    root = np.sqrt(s[:k])
    if type(a) is not Tensor:
        return u[:, :k] * root, root[:, None] * vh[:k]
    p, q = _factors(a * (1 / scale), u, s / scale, vh, k, _orders(a) + SPARE)
    return p * np.sqrt(scale), q * np.sqrt(scale)


def _rank(s, max_rank, cutoff):
    """How many singular values to keep, so that no multiplet is cut."""
    most = min(int(np.sum(s > cutoff * s[0])), len(s) if max_rank is None else max_rank)
    k = most
    while 0 < k < len(s) and s[k - 1] - s[k] <= MULTIPLET * s[k - 1]:
        k -= 1
    if k < 1:
        raise ArgumentError(
            f"covariant_split: rank {most} cuts the multiplet of the largest singular value {s[0]:.6g}: raise max_rank"
        )
    return k


def _factors(a, u, s, vh, k, steps):
    """P and Q of the recorded matrix `a`, with its singular value decomposition at the point."""
    v = vh.conj().T
    x, y = _subspaces(u.conj().T @ a @ v, s, k, steps)
    left, right = _orthonormal(u[:, :k] + u[:, k:] @ x, steps), _orthonormal(v[:, :k] + v[:, k:] @ y, steps)
    core = left.conj().mT @ a @ right
    w = _unitary(core, s[:k], steps)
    h = _root(core @ w.conj().mT, s[:k], steps)
    return left @ h, h @ w @ right.conj().mT


def _subspaces(b, s, k, steps):
    """X and Y: the spaces of the kept singular vectors as graphs, of ``b = U^H A V``."""
    b00, b01, b10, b11 = b[:k, :k], b[:k, k:], b[k:, :k], b[k:, k:]
    h00, h01, h10, h11 = (block.conj().mT for block in (b00, b01, b10, b11))
    kept, short = s[:k], min(b11.shape)
    rest = np.zeros(max(b11.shape))
    rest[:short] = s[k:]
    tall, wide = rest[: b11.shape[0], None], rest[: b11.shape[1], None]
    x, y = b10 * 0, h01 * 0
    for _ in range(steps):
        r, other = b10 + b11 @ y - x @ (b00 + b01 @ y), h01 + h11 @ x - y @ (h00 + h10 @ x)
        x = x + (kept * r + tall * _resized(other, len(tall))) / ((kept - tall) * (kept + tall))
        y = y + (kept * other + wide * _resized(r, len(wide))) / ((kept - wide) * (kept + wide))
    return x, y


def _orthonormal(basis, steps):
    """``basis (basis^H basis)^(-1/2)``, which changes nothing at the point."""
    overlap = basis.conj().mT @ basis
    root = _root(overlap, np.ones(overlap.shape[0]), steps)
    return np.linalg.solve(root, basis.conj().mT).conj().mT


def _root(w, diagonal, steps):
    """The square root of the Hermitian `w`, which is this diagonal matrix at the point."""
    root = np.sqrt(diagonal)
    r = np.diag(root)
    for _ in range(steps):
        r = r + (w - r @ r) / (root[:, None] + root)
    return r


def _unitary(core, s, steps):
    """W of ``core = H W`` with Hermitian H, where at the point ``H = diag(s)`` and ``W = 1``.

    Solved are ``core W^H = W core^H`` and ``W W^H = 1``, for the skew-Hermitian and the Hermitian part of dW.
    """
    w = one = np.eye(len(s))
    for _ in range(steps):
        even = 0.5 * (one - w @ w.conj().mT)
        turned = core @ w.conj().mT
        odd = (turned - turned.conj().mT + s[:, None] * even - even * s) / (s[:, None] + s)
        w = w + odd + even
    return w


def _resized(r, rows):
    """`r` with rows dropped or zeros added."""
    if r.shape[0] >= rows:
        return r[:rows]
    return np.concatenate([r, np.zeros((rows - r.shape[0], r.shape[1]))])


def _orders(a):
    """How many levels record `a`: as many derivatives can be taken of it now."""
    n = 0
    while type(a) is Tensor:
        n, a = n + 1, a.value
    return n
