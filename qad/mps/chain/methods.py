"""Methods of states over the functions of `qad.mps`, for whoever looks for them there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypeVar

from qad.core.trees import tree_map

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
    """The part of `qad.mps.MPS` that calls functions of the same names."""

    __slots__ = ()

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

    def apply(
        self,
        operator: str | ArrayLike,
        sites: int | Sequence[int],
        max_bond: int | None = None,
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
        return OFFERED["apply"](self, operator, sites, max_bond, cutoff)

    def swap(self, one: int, other: int, max_bond: int | None = None, cutoff: float = 1e-14) -> Self:
        """The state with two sites exchanged: `qad.mps.swap`.

        Examples
        --------
        >>> import qad
        >>> qad.mps.MPS.product([0, 1, 1]).swap(0, 2).measure("Sz").real
        array([-0.5, -0.5,  0.5])
        """
        return OFFERED["swap"](self, one, other, max_bond, cutoff)
