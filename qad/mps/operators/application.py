"""States that operators make, compressed while they are made: bonds never multiply.

Going from the left, the zip-up multiplies the tensors of one site of an operator and a state, splits off an isometry,
and takes the rest along to the next site.  What lies ahead is nearly orthonormal, for the operator and the state are
right-canonical, so that nearly the right directions are dropped.  The variational fit improves on that: it finds the
pairs of sites of a chain that are nearest to ``H psi``, one after the other.

Of a chain of isometries ``U_k`` whose centre is the last site, the distance to ``H psi`` is a sum of squares: with
``P_k`` the projector on what the first k sites have, ``H psi - phi`` is the sum of ``(P_(k-1) - P_k) H psi``, which are
orthogonal to each other, and the rest of the last site.

E. M. Stoudenmire and S. R. White, New J. Phys. 12, 055026 (2010); U. Schollwöck, Ann. Phys. 326, 96 (2011), section
4.5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, GradientTypeError
from qad.keywords import keywords_told
from qad.mps.chain.canonical import truncated
from qad.mps.chain.chain import site_count
from qad.mps.chain.checks import as_operator, check_operator
from qad.mps.chain.dropped import is_recorded
from qad.mps.chain.gauge import check_open
from qad.mps.chain.row import edges
from qad.mps.chain.sandwich import within_range
from qad.mps.chain.state import MPS
from qad.mps.evolve.enrich import Reach
from qad.mps.kernels.operators import operator_for
from qad.symmetric.generic import aligned_numbers, join, laid_out, lq, norm, numbers, qr, split

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.mps.operators.mpo import MPO
    from qad.mps.operators.opsum import OpSum

METHODS = ("zipup", "variational")
WIDER = 2  # the bonds of the zip-up, over those that the last truncation leaves
MOST_SWEEPS = 10
SETTLED = 1e-13  # relative gain of a sweep in the norm of the fit, below which it ends


@keywords_told
def apply_mpo(
    H: MPO | OpSum, psi: MPS, bond: int | None = None, cutoff: float = 1e-14, method: str = "zipup"
) -> tuple[MPS, float]:
    """``H psi`` in small bonds, which are never multiplied on the way as those of ``H @ psi`` are.

    Parameters
    ----------
    H : MPO or OpSum
        Open; any operator, Hermitian or not.  Of a state with charges it conserves them.
    psi : MPS
        Open, of any norm.
    bond, cutoff
        As of `MPS.truncate`.
    method : str
        "zipup" (default): one sweep at twice `bond`, and a truncation.
        "variational": sweeps over pairs of sites from there, until the state comes no nearer; for a `bond` that cuts.

    Returns
    -------
    state : MPS
        Canonical around the last site; not normalised.
    error : float
        Norm of the difference from ``H psi``; below 1e-8 of the norm of ``H psi`` rounding hides it.

    Raises
    ------
    GradientTypeError
        Where something is recorded: ``(H @ psi).truncate(bond)`` has a derivative.
    ArgumentError
        For an unknown method, an operator that does not conserve, or a norm that floats cannot hold.
    ShapeError
        If a chain is a ring, or they do not fit.

    Notes
    -----
    ``O(n phys w bond**3)`` for an operator of bonds w, and its error ``O(n phys**2 w**2 bond**3)``;
    ``(H @ psi).truncate()`` takes ``w**3``.

    Examples
    --------
    >>> import qad
    >>> H, psi = qad.mps.heisenberg(12), qad.mps.MPS.random(12, 16)
    >>> small, error = qad.mps.apply_mpo(H, psi, bond=64)
    >>> (H @ psi).bond, small.bond, bool(error < 1e-7)
    (80, 48, True)
    """
    if method not in METHODS:
        raise ArgumentError(f"unknown method {method!r}: choose 'zipup' or 'variational'")
    if isinstance(H, MPS):
        raise ArgumentError("apply_mpo(H, psi) takes the operator first, as H @ psi does")
    H, bond = as_operator(H, psi), None if bond is None else site_count(bond, 1, "bond")
    if is_recorded([*psi, *H]):
        raise GradientTypeError("apply_mpo takes plain numbers: differentiate (H @ psi).truncate(bond)")
    check_operator(psi, H)
    check_open(psi.tensors)
    check_open(H.tensors)
    made = Application(list(H) if psi.conserved is None else operator_for(psi, H).sites, psi.tensors)
    found = truncated(made.zipped(bond and WIDER * bond, cutoff / WIDER), bond, cutoff)[0]
    if method == "variational":
        made.fit(found, bond, cutoff)
    size = within_range(np.ones(()), made.log, "the norm of H psi", tiny=False).item()
    error = float(size * made.distance(found))
    return psi._made_of([*found[:-1], laid_out(found[-1] * size, 2)])._on(H.sites), error


class Application(Reach):
    """An operator times a state, neither of which is written out.

    Attributes
    ----------
    sites, tensors : lists of arrays or SymTensors
        Of the operator and of the state, right-canonical and of norms of order 1.
    log : float
        Logarithm of what was divided out of both.
    ends : list of arrays or SymTensors
        The environments beyond both ends, legs (bra, operator, ket).
    """

    def __init__(self, sites: Sequence[Any], tensors: Sequence[Any]):
        row, length = right_canonical(tensors)
        self.tensors: list[Any] = row
        dims = [w.shape[2] for w in sites]  # divided by their roots, so that the identity has norm 1
        rows = [w.transpose(0, 2, 3, 1) * float(d**-0.5) for w, d in zip(sites, dims, strict=True)]
        rows, log = right_canonical(rows)
        self.log: float = length + log
        super().__init__([w.transpose(0, 3, 1, 2) * float(d**0.5) for w, d in zip(rows, dims, strict=True)])
        dtype = np.result_type(self.tensors[0].dtype, self.sites[0].dtype)
        self.ends: list[Any] = [end.astype(dtype) for end in edges(self.tensors, self.sites)]

    def ahead(self, site: int, right: Any) -> Any:
        """A right part, legs (..., operator, ket), past a site: (operator, ket, out, ...)."""
        half = join(self.tensors[site], right, ((2,), (right.ndim - 1,)))
        half = join(self.sites[site], half, ((1, 3), (half.ndim - 1, 1)))  # operator out ket ...
        return half.transpose(0, 2, 1, *range(3, half.ndim))

    def behind(self, site: int, left: Any) -> Any:
        """A left part (row, operator, ket) past a site: (row, out, operator, ket)."""
        return self.passed(left, site, self.tensors[site])

    def zipped(self, bond: int | None, cutoff: float) -> list[Any]:
        """Isometries, and the last site, of about ``H psi``."""
        left, right = self.ends
        out = []
        for site in range(len(self.sites) - 1):
            half = self.behind(site, left)
            if not norm(half) > 0:
                raise ArgumentError("H psi is zero: it has no directions that bonds could hold")
            isometry, left = halves(half, bond, cutoff, True)
            out.append(isometry)
        return [*out, join(self.behind(len(out), left), right, ((2, 3), (1, 2)))]

    def fit(self, found: list[Any], bond: int | None, cutoff: float) -> None:
        """Bring a chain of isometries with its centre at the last site nearer to ``H psi``, in place."""
        begin, end = self.ends
        n, before, size = len(found), 0.0, norm(found[-1])
        left, right = [begin] * n, [end] * n
        for site in range(n - 1):
            left[site + 1] = join(found[site].conj(), self.behind(site, left[site]), ((0, 1), (0, 1)))
        for _ in range(MOST_SWEEPS if n > 1 else 0):
            for site in reversed(range(n - 1)):
                found[site : site + 2] = halves(self.pair(site, left, right), bond, cutoff, False)
                right[site] = join(found[site + 1].conj(), self.ahead(site + 1, right[site + 1]), ((1, 2), (2, 3)))
            for site in range(n - 1):
                found[site : site + 2] = halves(self.pair(site, left, right), bond, cutoff, True)
                left[site + 1] = join(found[site].conj(), self.behind(site, left[site]), ((0, 1), (0, 1)))
            before, size = size, norm(found[-1])
            if size - before <= SETTLED * size:
                break

    def pair(self, site: int, left: Sequence[Any], right: Sequence[Any]) -> Any:
        """Two sites of ``H psi`` between the bonds of another chain."""
        return join(self.behind(site, left[site]), self.ahead(site + 1, right[site + 1]), ((2, 3), (0, 1)))

    def distance(self, found: Sequence[Any]) -> float:
        """The norm of ``H psi - phi`` for a chain of isometries with its centre at the last site."""
        left, end = self.ends
        squares, lost = self.squares(end), 0.0
        for site, isometry in enumerate(found[:-1]):
            half = self.behind(site, left)
            left = join(isometry.conj(), half, ((0, 1), (0, 1)))
            outside = half - join(isometry, left)
            weighed = join(outside, squares[site + 1], ((2, 3), (2, 3)))
            lost += np.vdot(numbers(outside), aligned_numbers(outside, weighed)).real
        rest = join(self.behind(len(found) - 1, left), end, ((2, 3), (1, 2))) - found[-1]
        return float(np.sqrt(max(lost, 0.0) + norm(rest) ** 2))

    def squares(self, end: Any) -> list[Any]:
        """For every bond ``<H psi|H psi>`` of what is right of it, legs (operator, ket) of the bra and of the ket."""
        last = self.ahead(len(self.sites) - 1, end)
        found = [join(last.conj(), last, ((2, 3), (2, 3)))]
        for site in reversed(range(1, len(self.sites) - 1)):
            half = self.ahead(site, found[-1])  # operator ket out, operator* ket*
            half = join(half, self.tensors[site].conj(), ((4,), (2,)))  # operator ket out operator* ket* in*
            half = join(half, self.sites[site].conj(), ((2, 3, 5), (2, 1, 3)))
            found.append(half.transpose(3, 2, 0, 1))
        return [None, *reversed(found)]


def right_canonical(tensors: Sequence[Any]) -> tuple[list[Any], float]:
    """The tensors as isometries from their left bonds, but for the first of norm 1, and the logarithm of the norm."""
    out, log = list(tensors), 0.0
    for site in reversed(range(len(out))):
        size = float(norm(out[site])) or 1.0
        out[site], log = out[site] * (1 / size), log + float(np.log(size))
        if site:
            rest, out[site] = lq(out[site])
            out[site - 1] = join(out[site - 1], rest)
    return out, log


def halves(x: Any, bond: int | None, cutoff: float, to_right: bool) -> tuple[Any, Any]:
    """Both factors of a tensor (left, out, ...), of which one is an isometry: the left one, or the right one."""
    low, high = split(x, 2, bond, cutoff, "cut")
    if to_right:
        low, rest = qr(low)
        return low, join(rest, high)
    rest, high = lq(high)
    return join(low, rest), high
