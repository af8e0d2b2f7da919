"""Methods of states: other states of their tensors, and what functions of `qad.mps` of the same names compute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypeVar

from qad.core.errors import ArgumentError
from qad.core.trees import tree_map
from qad.keywords import keywords_told
from qad.mps.chain.canonical import canonical, truncated
from qad.mps.chain.chain import site_count
from qad.mps.chain.sandwich import cut_in_range, normalised

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.typing import Array, ArrayLike, Real, Scalar

    F = TypeVar("F", bound=Callable[..., Any])


OFFERED: dict[str, Callable[..., Any]] = {}  # by their names: what states make use of and stands above them


def offered(function: F) -> F:
    """Let states make use of a function or class, by its name (a decorator)."""
    OFFERED[function.__name__] = function
    return function


class Methods:
    """The part of `qad.mps.MPS` that makes other states of its tensors, or calls functions of the same names."""

    __slots__ = ()
    tensors: tuple[Any, ...]
    _made_of: Any

    def copy(self) -> Self:
        """The same state in arrays of its own.

        Examples
        --------
        >>> import qad
        >>> psi = qad.mps.MPS.product([0, 1])
        >>> psi.copy()[0] is psi[0]
        False
        """
        return tree_map(lambda array: array.copy(), self)

    def conj(self) -> Self:
        """The state of conjugated amplitudes.

        Examples
        --------
        >>> import numpy as np, qad
        >>> psi = qad.mps.MPS.random(4, 3)
        >>> np.allclose(psi.conj().to_dense(), psi.to_dense().conj())
        True
        """
        return tree_map(lambda array: array.conj(), self)

    def norm(self) -> Real:
        """``sqrt(<psi|psi>)``: `qad.mps.norm`.

        Examples
        --------
        >>> import qad
        >>> round(float(qad.mps.MPS.random(n=6, bond=4).norm()), 12)
        1.0
        """
        return OFFERED["norm"](self)

    def overlap(self, other: Self) -> Scalar:
        """``<psi|other>``, this state conjugated: `qad.mps.overlap`.

        Examples
        --------
        >>> import qad
        >>> up_down = qad.mps.MPS.product(["up", "down"])
        >>> complex(up_down.overlap(2j * up_down))
        2j
        """
        return OFFERED["overlap"](self, other)

    def expectation(self, H: Any) -> Scalar:
        """``<psi|H|psi>``, not divided by the norm: `qad.mps.expectation`.

        Examples
        --------
        >>> import qad
        >>> complex(qad.mps.MPS.product([0, 1, 0, 1]).expectation(qad.mps.heisenberg(4)))
        (-0.75+0j)
        """
        return OFFERED["expectation"](self, H)

    def entanglement_entropy(self, bond: int | None = None, *, order: float = 1) -> Array:
        """The entropy of a bond, or of all, in nats: `qad.mps.entanglement_entropy`.

        Examples
        --------
        >>> import qad
        >>> qad.mps.MPS.product(["up", "down", "up"]).entanglement_entropy().round(12)
        array([0., 0.])
        """
        return OFFERED["entanglement_entropy"](self, bond, order=order)

    def measure(self, operator: str | ArrayLike, sites: int | Sequence[int] | None = None) -> Array:
        """Expectation values in the normalised state: `qad.mps.measure`.

        Examples
        --------
        >>> import qad
        >>> qad.mps.MPS.product(["up", "down", "up"]).measure("Sz", [0, 1]).real
        array([ 0.5, -0.5])
        """
        return OFFERED["measure"](self, operator, sites)

    @keywords_told
    def apply(
        self,
        operator: str | ArrayLike,
        sites: int | Sequence[int],
        bond: int | None = None,
        cutoff: float = 1e-14,
    ) -> Self:
        """The state after an operator on some sites: `qad.mps.apply`.

        Examples
        --------
        >>> import numpy as np, qad
        >>> flipped = qad.mps.MPS.product([0, 0, 0]).apply(np.array([[0, 1], [1, 0]]), 1)
        >>> flipped.measure("Sz").real
        array([ 0.5, -0.5,  0.5])
        """
        return OFFERED["apply"](self, operator, sites, bond, cutoff)

    @keywords_told
    def swap(self, one: int, other: int, bond: int | None = None, cutoff: float = 1e-14) -> Self:
        """The state with two sites exchanged: `qad.mps.swap`.

        Examples
        --------
        >>> import qad
        >>> qad.mps.MPS.product([0, 1, 1]).swap(0, 2).measure("Sz").real
        array([-0.5, -0.5,  0.5])
        """
        return OFFERED["swap"](self, one, other, bond, cutoff)

    def __matmul__(self, other: Any) -> Scalar:
        """``psi @ phi`` is the overlap ``<psi|phi>``: `qad.mps.overlap`."""
        return self.overlap(other) if type(other) is type(self) else NotImplemented

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
    def truncate(self, bond: int | None = None, cutoff: float = 1e-14) -> tuple[Self, Real]:
        """The state with smaller bonds that is nearest to this one, bond by bond.

        Parameters
        ----------
        bond : int, optional
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
            If the chain is periodic; in a derivative, if `bond` cuts through equal Schmidt values, a direction
            without weight could gain some, or the loss depends on the basis of a bond.

        Notes
        -----
        The derivative is that of exactly this truncation, the coupling to what is discarded included.

        Examples
        --------
        >>> import qad
        >>> psi = qad.mps.MPS.random(8, 8, conserve="Sz")
        >>> small, error = (psi + psi).truncate(bond=8)
        >>> small.bond, bool(error < 1e-12)
        (8, True)
        """
        bond = None if bond is None else site_count(bond, 1, "bond")
        tensors, error = cut_in_range(truncated, self.tensors, bond, cutoff)
        return self._made_of(tensors), error
