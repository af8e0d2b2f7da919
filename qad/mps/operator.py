"""Matrix product operators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.mps.chain import Chain, zip_sites
from qad.mps.sites import join
from qad.mps.state import MOST_AMPLITUDES, MPS

if TYPE_CHECKING:
    from typing import Any, ClassVar, TypeVar

    from qad.mps.local import Site
    from qad.typing import Array, Number

    C = TypeVar("C", bound=Chain)
    from collections.abc import Iterable


@dataclass(frozen=True, eq=False, init=False)
class Memory:
    """What was found of an operator, and of which numbers.

    It has no fields, so that `qad.freeze` sees none of it: a function that captures an operator depends on its tensors.
    """

    if TYPE_CHECKING:
        numbers: ClassVar[list[bytes] | None]
        found: ClassVar[Any]

    def __init__(self, numbers: list[bytes] | None, found: Any):
        object.__setattr__(self, "numbers", numbers)
        object.__setattr__(self, "found", found)


NOTHING = Memory(None, None)


class MPO(Chain):
    """A matrix product operator ``<s'|H|s> = tr(W1[s1', s1] ... Wn[sn', sn])``.

    Parameters
    ----------
    tensors : sequence of arrays
        Site tensors with legs ``(left, right, out, in)``; outer bonds of dimension 1 for an open chain, any
        dimension that both ends share for a periodic one.

    Raises
    ------
    ShapeError
        If a tensor has not four legs, or a bond does not fit; the message names the site.

    Examples
    --------
    >>> import numpy as np, qad
    >>> x = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> qad.mps.MPO([x[None, None]] * 3)
    MPO(3 sites, open, bonds 1-1-1-1, float64)
    """

    __slots__ = ("_prepared", "_sites", "_conserving")  # what is remembered of it, and the numbers that it had then
    LEGS: tuple[str, ...] = ("left", "right", "out", "in")
    RIGHT: int = 1

    @property
    def prepared(self) -> Any:
        """What `qad.mps.energy` remembers of this operator, or None, also where its tensors were written into since."""
        memory = getattr(self, "_prepared", NOTHING)
        return memory.found if memory.numbers is not None and memory.numbers == numbers_of(self.tensors) else None

    @prepared.setter
    def prepared(self, hamiltonian: Any) -> Any:
        self._prepared = Memory(numbers_of(self.tensors), hamiltonian)

    @property
    def sites(self) -> tuple[Site, ...] | None:
        """What stands on every site, where the operator was made of a sum that says so; else None."""
        return getattr(self, "_sites", None)

    @sites.setter
    def sites(self, sites: tuple[Site, ...] | None) -> None:
        self._sites = sites

    @property
    def conserving(self) -> dict[Any, Any]:
        """What states of definite charge remember of this operator as its tensors are now, by what they conserve."""
        now = numbers_of(self.tensors)
        if now is None or getattr(self, "_conserving", NOTHING).numbers != now:
            self._conserving = Memory(now, {})
        return self._conserving.found

    def __add__(self, other: MPO) -> MPO:
        return on_sites_of(self, super().__add__(other))

    def __sub__(self, other: MPO) -> MPO:
        return on_sites_of(self, super().__sub__(other))

    def __mul__(self, factor: Number) -> MPO:
        return on_sites_of(self, super().__mul__(factor))

    __rmul__ = __mul__

    def to_dense(self) -> Array:
        """The matrix of the operator, rows ``out`` and columns ``in`` with site 0 most significant.

        Raises
        ------
        ArgumentError
            If it has more than 2**28 entries.
        """
        outs, ins = [t.shape[2] for t in self], [t.shape[3] for t in self]
        if (count := float(np.prod(np.array(outs + ins, float)))) > MOST_AMPLITUDES:
            raise ArgumentError(
                f"to_dense would write {count:.3g} entries, more than 2**28: qad.mps.expectation needs none of them"
            )
        pairs = join([t.transpose(0, 2, 3, 1) for t in self], self.bonds)
        n = len(self)
        legs = pairs.reshape([size for pair in zip(outs, ins, strict=True) for size in pair])
        return legs.transpose(*range(0, 2 * n, 2), *range(1, 2 * n, 2)).reshape(np.prod(outs), -1)

    def __matmul__(self, other: C) -> C:
        """The operator that applies `other` first, or the state that the operator makes; bond dimensions multiply."""
        if not isinstance(other, (MPO, MPS)):
            return NotImplemented
        for site, (upper, lower) in enumerate(zip_sites(self, other)):
            if upper.shape[3] != lower.shape[other.LEGS.index("out" if isinstance(other, MPO) else "physical")]:
                raise ShapeError(f"site {site}: an operator of shape {upper.shape} cannot act on {lower.shape}")
        apply = stacked if isinstance(other, MPO) else applied
        product = type(other)([apply(upper, lower) for upper, lower in zip(self, other, strict=True)])
        return on_sites_of(self, product) if isinstance(product, MPO) else product

    @property
    def mH(self) -> MPO:
        """The adjoint operator.

        Examples
        --------
        >>> import numpy as np, qad
        >>> H = 1j * qad.mps.heisenberg(3)
        >>> np.allclose(H.mH.to_dense(), H.to_dense().conj().T)
        True
        """
        return on_sites_of(self, MPO([tensor.conj().swapaxes(2, 3) for tensor in self]))


def on_sites_of(one: MPO, other: Any) -> Any:
    """An operator, on the same sites as another one."""
    if isinstance(other, MPO):
        other.sites = one.sites
    return other


def numbers_of(tensors: Iterable[Array]) -> list[bytes] | None:
    """The bytes of all different tensors, which tell whether one was written into; None of arrays that have none."""
    if any(type(t) is not np.ndarray for t in tensors):
        return None
    return [t.tobytes() for t in {id(t): t for t in tensors}.values()]


def stacked(upper: Array, lower: Array) -> Array:
    """The site tensor of a product of two operators: bonds paired, the inner physical legs contracted."""
    a, b, out, inner = upper.shape
    c, d, _, in_ = lower.shape
    product = upper.reshape(-1, inner) @ lower.transpose(2, 0, 1, 3).reshape(inner, -1)
    return product.reshape(a, b, out, c, d, in_).transpose(0, 3, 1, 4, 2, 5).reshape(a * c, b * d, out, in_)


def applied(upper: Array, lower: Array) -> Array:
    """The site tensor of an operator applied to a state."""
    a, b, out, inner = upper.shape
    c, _, d = lower.shape
    product = upper.reshape(-1, inner) @ lower.transpose(1, 0, 2).reshape(inner, -1)
    return product.reshape(a, b, out, c, d).transpose(0, 3, 2, 1, 4).reshape(a * c, out, b * d)
