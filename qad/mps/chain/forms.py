"""Methods of states that change their form: sums and multiples, norms, canonical forms, truncation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from qad.core.errors import ArgumentError
from qad.core.keywords import keywords_told
from qad.mps.chain.canonical import canonical, truncated
from qad.mps.chain.chain import site_count
from qad.mps.chain.sandwich import inner, normalised, sandwich
from qad.mps.chain.scales import cut_in_range

if TYPE_CHECKING:
    from qad.typing import Real, Scalar


class Forms:
    """The part of `qad.mps.MPS` that makes other states of their tensors."""

    __slots__ = ()
    tensors: tuple[Any, ...]
    _made_of: Any

    def __matmul__(self, other: Any) -> Scalar:
        """``psi @ phi`` is the overlap ``<psi|phi>``: `qad.mps.overlap`."""
        return inner(self, other) if type(other) is type(self) else NotImplemented

    def normalized(self) -> Self:
        """The state with norm 1: its norm, of any size, is divided out evenly.

        Raises
        ------
        ArgumentError
            If the norm is zero.

        Examples
        --------
        >>> import qad
        >>> psi = 7.0 * qad.mps.MPS.random(5, 3)
        >>> round(float(qad.mps.norm(psi.normalized())), 12)
        1.0
        """
        return normalised(self)

    def canonicalize(self, center: int) -> Self:
        """The same state in mixed canonical form.

        Parameters
        ----------
        center : int
            Sites before it become isometries from their right bond, ``sum_{a,s} conj(A[a,s,b]) A[a,s,c] = delta_bc``,
            those after it isometries from their left one; it carries the norm.

        Returns
        -------
        MPS
            Bonds are no larger than before; directions of zero weight are dropped where a rank is deficient.

        Raises
        ------
        ShapeError, ArgumentError
            If the chain is periodic, or there is no site `center`; in a derivative, if a dropped direction could gain
            weight, or if the loss depends on the basis of a bond.

        Notes
        -----
        QR decompositions, ``O(n phys bond**3)``.  Derivatives are those of `qad.mps.chain.gauge`: they need no gaps and
        no full rank.  U. Schollwöck, Ann. Phys. 326, 96 (2011), section 4.

        Examples
        --------
        >>> import qad
        >>> psi = qad.mps.MPS.random(5, 3).canonicalize(2)
        >>> round(float((abs(psi[2]) ** 2).sum()), 12)
        1.0
        """
        n = len(self.tensors)
        if not hasattr(center, "__index__") or not -n <= center < n:
            raise ArgumentError(f"there is no site {center!r} among {n}")
        return self._made_of(canonical(self.tensors, center % n))

    @keywords_told
    def truncate(self, max_bond: int | None = None, cutoff: float = 1e-14) -> tuple[Self, Real]:
        """The state with smaller bonds that is nearest to this one, bond by bond.

        Parameters
        ----------
        max_bond : int, optional
            Keep at most so many Schmidt values on a bond, of all sectors together; of equal ones those of the lower
            charge.
        cutoff : float
            Keep those above ``cutoff`` times the largest.

        Returns
        -------
        state : MPS
            Canonical around the last site; not normalised anew.
        error : real scalar
            Norm of the difference from this state.

        Raises
        ------
        ShapeError, ArgumentError
            If the chain is periodic; in a derivative, if `max_bond` cuts through equal Schmidt values, a direction
            without weight could gain some, or the loss depends on the basis of a bond.

        Notes
        -----
        The derivative is that of exactly this truncation, the coupling to what is discarded included.

        Examples
        --------
        >>> import qad
        >>> psi = qad.mps.MPS.random(8, 8, conserve="Sz")
        >>> small, error = (psi + psi).truncate(max_bond=8)
        >>> small.bond, bool(error < 1e-12)
        (8, True)
        """
        max_bond = None if max_bond is None else site_count(max_bond, 1, "max_bond")
        tensors, error = cut_in_range(truncated, sandwich, self.tensors, max_bond, cutoff)
        return self._made_of(tensors), error
