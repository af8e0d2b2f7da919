"""Truncated decompositions, whose derivatives contain the coupling to the discarded space.

A step function of the spectrum gives the kept space, ``P = U_k V_k^H``; its divided differences are the quotients by
``s_kept -+ s_discarded`` that the rule of a thin decomposition, applied to truncated factors, leaves out (Francuz,
Schuch and Vanhecke, arXiv:2311.11894), and need no gaps between the discarded values.  In orthonormal bases of the kept
space that are smooth in A, what remains is the decomposition of the small matrix ``C = W_U^H A W_V``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import on_stack, stack_of, unrecorded
from qad.linalg.decompositions.eigh import eigh
from qad.linalg.decompositions.svd import svd
from qad.linalg.factored.factors import by_size
from qad.linalg.functions.funm_herm import funm_herm
from qad.linalg.functions.funm_svd import funm_svd
from qad.linalg.functions.norm import norm
from qad.linalg.support.check import matrices, square
from qad.linalg.support.degeneracy import check_policy
from qad.linalg.support.drivers import hermitian_eigenpairs, singular_triples
from qad.linalg.support.hermitian_parts import adjoint, hermitian
from qad.linalg.truncation.iterative import eigh_of_kept, iterated, svd_of_kept
from qad.linalg.truncation.truncation_rank import discarded, has_gap, orthonormal, rank_of

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike, LinearMap


def truncated_svd(
    a: LinearMap,
    max_rank: int | None = None,
    cutoff: float | None = None,
    relative: bool = True,
    *,
    multiplets: str = "warn",
    degenerate: str = "raise",
    method: str = "auto",
    v0: ArrayLike | None = None,
) -> tuple[Array, Array, Array, Array | None]:
    r"""The leading singular triples, with the derivative of exactly this truncation.

    Parameters
    ----------
    a : array (..., m, n) or callable
        Or a linear function of columns, (n, b) -> (m, b), which may close over Tensors; it is never made a matrix,
        and its adjoint comes from the tape. It needs `max_rank` and `v0`.
    max_rank : int, optional
        Keep at most so many.
    cutoff : float, optional
        Keep singular values above it: above ``cutoff * s.max()`` if `relative`.
    relative : bool
    multiplets : "warn", "drop" or "cut"
        Where the cut would go through degenerate singular values: warn (and the backward pass raises if the loss
        depends on the choice), drop the whole multiplet, or cut silently.
    degenerate : "raise" or "warn"
        As in `svd`.
    method : "auto", "full" or "iterative"
        By the full decomposition, whose derivative is in closed form; or by block Lanczos, with a derivative by
        GMRES, whose cost grows with ``max_rank`` instead. "auto" iterates where ``min(m, n)`` is 1024 or more and at
        least ``16 * max_rank``, and falls back where the values decay too slowly.
    v0 : array (n,), optional
        Where an iteration starts.

    Returns
    -------
    U, s, Vh : arrays (..., m, k), (..., k), (..., k, n)
        In a batch k is the largest that one of its matrices asks for.
    error : array (...)
        Frobenius norm of what was discarded; None for a function, of which it is not known.

    Raises
    ------
    ConvergenceError
        If an iteration does not converge: there is no gap behind what is kept, or next to none.
    ArgumentError
        If an entry is not finite, or nothing would be kept; in the backward pass as in `svd`.

    Notes
    -----
    With what is kept and what is not, :math:`A = U S V^\dagger + U' S' V'^\dagger`, and :math:`P = 1 - U U^\dagger`,

    .. math:: \mathrm{d}s_i = \operatorname{Re}(u_i^\dagger\, \mathrm{d}A\, v_i), \qquad
        (s_i^2 - A A^\dagger)\, P\, \mathrm{d}u_i = P\, (s_i\, \mathrm{d}A\, v_i + A\, \mathrm{d}A^\dagger u_i):

    the second is how the kept vectors turn into what was cut off.

    Examples
    --------
    >>> import numpy as np, qad
    >>> u, s, vh, error = qad.linalg.truncated_svd(np.diag([3.0, 2.0, 1.0]), max_rank=2)
    >>> s, error
    (array([3., 2.]), np.float64(1.0))
    """
    check_policy(degenerate)
    a = a if callable(a) else matrices(a, "truncated_svd")
    cut, how = (max_rank, cutoff, relative), {"multiplets": multiplets, "degenerate": degenerate}
    found = iterated(svd_of_kept, a, v0, cut, method, "truncated_svd", **how)
    if found is not None:
        return found
    u, s, vh = singular_triples(unrecorded(a))
    k = rank_of(stack_of(s), max_rank, cutoff, relative, multiplets, max(a.shape[-2:]))
    plain = stack_of(a) is a
    if plain or not has_gap(stack_of(s), k):
        u, s, vh = (u, s, vh) if plain else svd(a, full_matrices=False, degenerate=degenerate)
        return u[..., :, :k], s[..., :k], vh[..., :k, :], _size(s, k)
    polar = funm_svd(outside_one, a * (1 / threshold(s, k)))
    left = orthonormal(polar @ adjoint(vh[..., :k, :]))
    right = adjoint(polar) @ left
    u, kept, vh = svd(adjoint(left) @ a @ right, degenerate=degenerate)
    u, vh = left @ u, vh @ adjoint(right)
    return u, kept, vh, discarded(a - (u * kept[..., None, :]) @ vh, s, k)


def truncated_eigh(
    a: LinearMap,
    max_rank: int | None = None,
    cutoff: float | None = None,
    relative: bool = True,
    *,
    multiplets: str = "warn",
    degenerate: str = "raise",
    method: str = "auto",
    v0: ArrayLike | None = None,
) -> tuple[Array, Array, Array | None]:
    """The eigenpairs of Hermitian matrices whose eigenvalues are largest in size; see `truncated_svd`.

    Parameters
    ----------
    a : array (..., n, n) or callable
        Hermitian, or real symmetric.
    max_rank, cutoff, relative, multiplets, degenerate, method, v0
        As in `truncated_svd`, of the sizes of eigenvalues.

    Returns
    -------
    w, V : arrays (..., k), in descending order of size, and (..., n, k)
    error : array (...)
        Frobenius norm of what was discarded; None for a function.

    Raises
    ------
    ShapeError
        If the matrices are not square.
    ConvergenceError
        As in `truncated_svd`.
    ArgumentError
        If an entry is not finite, or nothing would be kept;
        in the backward pass as in `eigh`.

    Examples
    --------
    >>> import numpy as np, qad
    >>> w, v, error = qad.linalg.truncated_eigh(np.diag([3.0, -2.0, 1.0]), max_rank=2)
    >>> w, error
    (array([ 3., -2.]), np.float64(1.0))
    """
    check_policy(degenerate)
    a = a if callable(a) else square(a, "truncated_eigh")
    cut, how = (max_rank, cutoff, relative), {"multiplets": multiplets, "degenerate": degenerate}
    found = iterated(eigh_of_kept, a, v0, cut, method, "truncated_eigh", **how)
    if found is not None:
        return found
    w, v = by_size(*on_stack(hermitian_eigenpairs, a))
    k = rank_of(np.abs(stack_of(w)), max_rank, cutoff, relative, multiplets, a.shape[-1])
    plain = stack_of(a) is a
    if plain or not has_gap(np.abs(stack_of(w)), k):
        w, v = (w, v) if plain else by_size(*eigh(a, degenerate=degenerate))
        return w[..., :k], v[..., :, :k], _size(w, k)
    basis = orthonormal(funm_herm(outside_one, a * (1 / threshold(np.abs(w), k))) @ v[..., :, :k])
    kept, v = by_size(*eigh(hermitian(adjoint(basis) @ a @ basis), degenerate=degenerate))
    v = basis @ v
    return kept, v, discarded(a - (v * kept[..., None, :]) @ adjoint(v), np.abs(w), k)


def _size(s, k):
    """The norm of what is discarded; of nothing it is a constant, whatever the values do."""
    return norm((s if k < s.shape[-1] else unrecorded(s))[..., k:], axis=-1)


def threshold(s: np.ndarray, k: int) -> np.ndarray:
    """A constant (..., 1, 1) between the descending sizes number k - 1 and k of `s`."""
    below = s[..., k] if k < s.shape[-1] else 0.0
    return ((s[..., k - 1] + below) / 2)[..., None, None]


def outside_one(x: np.ndarray) -> np.ndarray:
    """The step that keeps what is larger than one."""
    return np.abs(x) > 1.0
