"""Truncated decompositions, whose derivatives contain the coupling to the discarded space.

The full decomposition is computed and cut: its rule, given zero cotangents for what was discarded, contains
the quotients by ``s_kept -+ s_discarded`` that the rule of a thin decomposition, applied to truncated factors,
leaves out (Francuz, Schuch and Vanhecke, arXiv:2311.11894).  Degeneracy within the discarded space is harmless.
"""

import warnings

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import value_of
from qad.linalg.eigh import eigh
from qad.linalg.gaps import check_policy, width
from qad.linalg.norm import norm
from qad.linalg.svd import svd


def truncated_svd(a, max_rank=None, cutoff=None, relative=True, *, multiplets="warn", degenerate="raise"):
    """The leading singular triples, with the derivative of exactly this truncation.

    Parameters
    ----------
    a : array (..., m, n)
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

    Returns
    -------
    U, s, Vh : arrays (..., m, k), (..., k), (..., k, n)
        In a batch k is the largest that one of its matrices asks for.
    error : array (...)
        Frobenius norm of what was discarded.

    Raises
    ------
    ArgumentError
        If nothing would be kept; in the backward pass as in `svd`.

    Examples
    --------
    >>> import numpy as np, qad
    >>> u, s, vh, error = qad.linalg.truncated_svd(np.diag([3.0, 2.0, 1.0]), max_rank=2)
    >>> s, error
    (array([3., 2.]), np.float64(1.0))
    """
    check_policy(degenerate)
    u, s, vh = svd(a, full_matrices=False, degenerate=degenerate)
    k = rank_of(value_of(s), max_rank, cutoff, relative, multiplets)
    return u[..., :, :k], s[..., :k], vh[..., :k, :], norm(s[..., k:], axis=-1)


def truncated_eigh(a, max_rank=None, cutoff=None, relative=True, *, multiplets="warn", degenerate="raise"):
    """The eigenpairs of Hermitian matrices whose eigenvalues are largest in size; see `truncated_svd`.

    Returns
    -------
    w, V : arrays (..., k), in descending order of size, and (..., n, k)
    error : array (...)
        Frobenius norm of what was discarded.

    Examples
    --------
    >>> import numpy as np, qad
    >>> w, v, error = qad.linalg.truncated_eigh(np.diag([3.0, -2.0, 1.0]), max_rank=2)
    >>> w, error
    (array([ 3., -2.]), np.float64(1.0))
    """
    check_policy(degenerate)
    w, v = eigh(a, degenerate=degenerate)
    order = np.argsort(-np.abs(value_of(w)), axis=-1, kind="stable")
    w = np.take_along_axis(w, order, axis=-1)
    v = np.take_along_axis(v, order[..., None, :], axis=-1)
    k = rank_of(np.abs(value_of(w)), max_rank, cutoff, relative, multiplets)
    return w[..., :k], v[..., :, :k], norm(w[..., k:], axis=-1)


def rank_of(s, max_rank, cutoff, relative, multiplets):
    """How many of the descending sizes `s` (..., k) to keep."""
    if multiplets not in ("warn", "drop", "cut"):
        raise ArgumentError(f'multiplets={multiplets!r}: write "warn", "drop" or "cut"')
    k = s.shape[-1] if max_rank is None else min(max_rank, s.shape[-1])
    if cutoff is not None:
        limit = cutoff * s[..., :1] if relative else cutoff
        k = min(k, int(np.sum(s > limit, axis=-1).max(initial=0)))
    while multiplets == "drop" and _cuts(s, k):
        k -= 1
    if k < 1:
        raise ArgumentError(
            f"truncation leaves nothing (max_rank={max_rank}, cutoff={cutoff}): keep one value at least"
        )
    if multiplets == "warn" and _cuts(s, k):
        warnings.warn(
            f"truncation to rank {k} cuts through degenerate values ({s.reshape(-1, s.shape[-1])[0, k - 1]:.6g}), of "
            'which the choice is arbitrary: write multiplets="drop" to leave them all out',
            RuntimeWarning,
            stacklevel=3,
        )
    return k


def _cuts(s, k):
    """Whether values number k - 1 and k are degenerate (and not zero) in an entry of the batch."""
    if not 0 < k < s.shape[-1]:
        return False
    last = s[..., k - 1]
    return bool(((last - s[..., k] <= width(s)) & (last > width(s))).any())
