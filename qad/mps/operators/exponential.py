"""Exponentials of sums as matrix product operators.

Between two bonds the automaton of a sum (`qad.mps.OpSum`) has blocks: A goes on with terms, B ends them, C begins
them, D is all on one site.  The form W^II of the exponential keeps every product of terms that share no more than one
bond, and all powers of terms on a site: each of its blocks is a piece of the exponential of ``t D + B a + C c + A a c``
with bosons a and c that are there at most once (M. P. Zaletel et al., PRB 91, 165112 (2015)).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import stack_of, value_of
from qad.keywords import keywords_told
from qad.linalg import expm
from qad.mps.chain.checks import check_kind
from qad.mps.operators.automaton import has_form
from qad.mps.operators.mpo import MPO
from qad.mps.operators.opsum import OpSum, finite_number

if TYPE_CHECKING:
    from qad.typing import Array, Number

RAISE, ONE = np.array([[0.0, 0.0], [1.0, 0.0]]), np.eye(2)
ENDING, BEGINNING, GOING_ON, STAYING = (
    np.kron(a, c) for a, c in ((RAISE, ONE), (ONE, RAISE), (RAISE, RAISE), (ONE, ONE))
)
# The squares of both parts cancel, and with them the error of second order.
STEPS: dict[int, tuple[complex, ...]] = {1: (1.0,), 2: (0.5 + 0.5j, 0.5 - 0.5j)}


@keywords_told
def mpo_exp(
    H: MPO | OpSum, factor: Number, order: int = 2, *, bond: int | None = None, cutoff: float | None = None
) -> MPO:
    """``exp(factor * H)`` for a small factor, such as a time step ``-1j * dt``, for couplings of any range.

    Parameters
    ----------
    H : OpSum, or MPO as `OpSum.mpo` and the models make it
    factor : number or Tensor
        It may be differentiated.
    order : int
        1: one operator of the form W^II, in error by ``factor**2`` for every pair of terms that do not commute.
        2: the product of two, of ``factor (1 + 1j) / 2`` and ``factor (1 - 1j) / 2``, complex; in error by
        ``factor**3``.
    bond, cutoff : optional
        Compress it like `MPO.truncate`, which tells the error besides; by default nothing is cut.

    Returns
    -------
    MPO
        Of the bond of `H` less 1, for order 2 the square of that where it is not compressed.  Products of commuting
        terms that lie apart, and all powers of terms on single sites, are exact.

    Raises
    ------
    ArgumentError
        If `H` is an MPO of another form, or there is no such order.

    Notes
    -----
    The error of a step is proportional to the number of sites, so that it is applied to long chains as it is to short
    ones.  Conserves what `H` does.

    Examples
    --------
    >>> import numpy as np, qad
    >>> H = qad.mps.OpSum(6).add_exponential(1.0, 0.5, "Z", "Z")
    >>> for i in range(6):
    ...     H = H.add(0.7, "X", i)
    >>> step = qad.mps.mpo_exp(H, -0.01j)
    >>> exact = qad.linalg.expm(-0.01j * H.mpo().to_dense())
    >>> bool(np.abs(step.to_dense() - exact).max() < 1e-5), step.bond
    (True, 4)
    >>> qad.mps.mpo_exp(qad.mps.heisenberg(6), -0.01j, cutoff=1e-6).bond  # of 16
    4
    """
    if isinstance(H, OpSum):
        H = H.mpo()
    check_kind(H, MPO)
    check_form(H)
    factor = finite_number(factor, "the factor of mpo_exp")
    if order not in STEPS:
        raise ArgumentError(f"mpo_exp is of order 1 or 2, not {order!r}")
    steps = [H._made_of([site_exponential(w, factor * part) for w in H]) for part in STEPS[order]]
    step = steps[0] if order == 1 else steps[1] @ steps[0]
    return step if bond is cutoff is None else step.truncate(bond, 1e-14 if cutoff is None else cutoff)[0]


def site_exponential(w: Array, t: Number) -> Array:
    """One site of W^II, from that of the automaton."""
    a, b, d, _ = w.shape
    ends = w[:, -1]  # B and D; also of the last site, whose one column they are
    none = 0.0 * w[:1, :1]
    begins = w[:1, 1:-1] if b > 2 else none
    stops = ends[1:-1, None] if a > 2 else none
    goes = w[1:-1, 1:-1] if a > 2 and b > 2 else 0.0 * (stops + begins)
    blocks = (ENDING, t * stops), (BEGINNING, begins), (GOING_ON, goes), (STAYING, t * ends[:1, None])
    exponent = sum(bosons[:, None, :, None] * block[..., None, :, None, :] for bosons, block in blocks)
    rows, columns = goes.shape[:2]
    powers = expm(exponent.reshape(rows, columns, 4 * d, 4 * d)).reshape(rows, columns, 2, 2, d, 2, 2, d)
    powers = powers[..., 0, 0, :]  # of no boson: row, column, a, c, out, in
    upper = np.concatenate([powers[:1, :1, 0, 0], powers[:1, :, 0, 1]], axis=1)
    lower = np.concatenate([powers[:, :1, 1, 0], powers[:, :, 1, 1]], axis=1)
    whole = np.concatenate([upper, lower], axis=0)
    return whole[: max(a - 1, 1), : max(b - 1, 1)]


def check_form(H: MPO) -> None:
    """Raise unless the operator is an automaton: state 0 has placed nothing yet, the last one a whole term."""
    last = len(H) - 1
    for site, w in enumerate(H):
        examples = stack_of(value_of(w)).reshape(-1, *w.shape)
        if not all(has_form(plain, site == 0, site == last) for plain in examples):
            raise ArgumentError(
                f"mpo_exp takes a sum as qad.mps.OpSum or a model writes it, but site {site} of this operator has "
                "another form: add OpSums instead of MPOs, and multiply factor= instead of the operator"
            )
