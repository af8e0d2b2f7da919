"""Matrix product operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from qad.core.errors import ShapeError
from qad.elsewhere import attributes_told
from qad.extend import Tensor, value_of
from qad.keywords import keywords_told
from qad.mps.chain.canonical import truncated
from qad.mps.chain.chain import Chain, added, site_count, zip_sites
from qad.mps.chain.methods import OFFERED
from qad.mps.chain.row import check_standing, distinct_map, is_number
from qad.mps.chain.site_tensors import applied, stacked
from qad.mps.chain.state import MPS
from qad.mps.operators.automaton import has_form

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike, DTypeLike, Number, Real

    C = TypeVar("C", bound=Chain)
    from collections.abc import Iterable, Sequence


class OperatorChain(Chain):
    """Site tensors of an operator."""

    LEGS: tuple[str, ...] = ("left", "right", "out", "in")
    RIGHT: int = 1


@attributes_told
class MPO(OperatorChain):
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

    DERIVED = ("_memory",)  # which says nothing new to a frozen function
    _memory: tuple[list[bytes] | None, dict[Any, Any]] = (None, {})  # what was found of it, and of which numbers

    @property
    def remembered(self) -> dict[Any, Any]:
        """What was found of this operator as its tensors are now: what energies need, and states that conserve."""
        now = numbers_of(self.tensors)
        if now is None or self._memory[0] != now:
            self._memory = now, {}
        return self._memory[1]

    @classmethod
    def identity(cls, n: int, phys: int | Sequence[int] = 2, dtype: DTypeLike = float) -> MPO:
        """The operator that changes nothing, all bonds 1.

        Parameters
        ----------
        n : int
            Number of sites.
        phys : int or sequence of ints
            Dimension of every site, or of each.
        dtype : dtype

        Examples
        --------
        >>> import qad
        >>> qad.mps.MPO.identity(3) - 0.5 * qad.mps.heisenberg(3)
        MPO(3 sites, open, bonds 1-6-6-1, float64)
        """
        dims = [phys] * site_count(n, 1, "n") if np.ndim(phys) == 0 else list(phys)
        if len(dims) != n:
            raise ShapeError(f"{len(dims)} dimensions were given for {n} sites: give one for all, or one each")
        return cls([np.eye(site_count(size, 1, "phys"), dtype=dtype)[None, None] for size in dims])

    @classmethod
    @keywords_told
    def from_dense(
        cls, matrix: ArrayLike, phys: int | Sequence[int] = 2, bond: int | None = None, cutoff: float = 1e-14
    ) -> MPO:
        """The open operator of a dense matrix, by singular value decompositions from the left.

        Parameters
        ----------
        matrix : array (d, d)
            Rows ``out``, site 0 most significant, as `to_dense` gives it.
        phys : int or sequence of ints
            Dimension of every site, or of each.
        bond, cutoff
            As in `truncate`; a recorded array keeps directions without weight, which a change may fill.

        Raises
        ------
        ShapeError
            If the matrix is not square, or not of the sites' dimensions.

        Examples
        --------
        >>> import numpy as np, qad
        >>> H = qad.mps.MPO.from_dense(qad.mps.heisenberg(6).to_dense())
        >>> H, np.allclose(H.to_dense(), qad.mps.heisenberg(6).to_dense())
        (MPO(6 sites, open, bonds 1-4-5-5-5-4-1, float64), True)
        """
        matrix = matrix if hasattr(matrix, "dtype") else np.asarray(matrix)
        size = matrix.shape[0] if matrix.ndim == 2 else 0
        given = [site_count(d, 1, "phys") for d in (phys if np.ndim(phys) else [phys])]
        dims = given if np.ndim(phys) else given * max(1, round(np.log(max(size, 1)) / np.log(max(*given, 2))))
        if matrix.shape != (int(np.prod(dims)),) * 2:
            raise ShapeError(
                f"a matrix of shape {matrix.shape} is none of sites of dimensions {dims}: give phys=, one number for "
                "all sites or one for each"
            )
        n = len(dims)
        pairs = matrix.reshape(*dims, *dims).transpose([axis for i in range(n) for axis in (i, n + i)])
        return cls(unpaired(MPS.from_dense(pairs.reshape([d * d for d in dims]), bond, cutoff), dims))

    @keywords_told
    def truncate(self, bond: int | None = None, cutoff: float = 1e-14) -> tuple[MPO, Real]:
        """The operator with smaller bonds that is nearest to this one, bond by bond.

        Parameters
        ----------
        bond : int, optional
            Keep at most so many singular values on a bond.
        cutoff : float
            Keep those above ``cutoff`` times the largest.

        Returns
        -------
        operator : MPO
        error : real scalar
            The root mean square ``sqrt(tr(D^H D) / d)`` of the singular values of the difference D, where d is the
            dimension of the chain: what it does to states on average.

        Raises
        ------
        ShapeError
            If the operator is a ring.
        ArgumentError
            In a derivative, if `bond` cuts through equal singular values, or a direction without weight could gain
            some.

        Notes
        -----
        The truncation of states, of the operator as a vector; every site is divided by the square root of its dimension
        meanwhile, so that the identity has norm 1 on any number of sites.  Differentiable like that.

        Examples
        --------
        >>> import qad
        >>> H = qad.mps.heisenberg(8)
        >>> square, error = (H @ H).truncate()
        >>> square.bond, (H @ H).bond, bool(error < 1e-12)
        (9, 25, True)
        """
        bond = None if bond is None else site_count(bond, 1, "bond")
        dims = [t.shape[2] for t in self]
        if dims != [t.shape[3] for t in self]:
            raise ShapeError("an operator between sites of different dimensions is not truncated")
        rows = [t * float(d**-0.5) for t, d in zip(self._pairs(), dims, strict=True)]
        smaller, error = truncated(rows, bond, cutoff)
        smaller = [t * float(d**0.5) for t, d in zip(smaller, dims, strict=True)]
        return self._made_of(unpaired(smaller, dims)), error

    def to_dense(self) -> Array:
        """The matrix of the operator, rows ``out`` and columns ``in`` with site 0 most significant.

        Raises
        ------
        ArgumentError
            If it has more than 2**28 entries.
        """
        outs, ins = [t.shape[2] for t in self], [t.shape[3] for t in self]
        legs = MPS(self._pairs()).to_dense().reshape([size for pair in zip(outs, ins, strict=True) for size in pair])
        n = len(self)
        return legs.transpose(*range(0, 2 * n, 2), *range(1, 2 * n, 2)).reshape(np.prod(outs), -1)

    def _pairs(self) -> list[Array]:
        """The site tensors of the operator as a state, whose basis states are pairs (out, in)."""
        return [t.transpose(0, 2, 3, 1).reshape(t.shape[0], -1, t.shape[1]) for t in self]

    def __add__(self, other: MPO | Number) -> MPO:
        """The sum of two operators, or of one and so many times the identity."""
        if not is_number(other):
            return super().__add__(other)
        last = len(self) - 1
        if all(has_form(value_of(w), site == 0, site == last) for site, w in enumerate(self)):
            whole = np.zeros(self[0].shape)
            whole[0, -1] = np.eye(len(whole[0, -1]))
            return self._made_of([self[0] + other * whole, *self[1:]])
        dims = [w.shape[2] for w in self]
        return self._made_of(added(self, other * MPO.identity(len(self), dims), self.RIGHT, self.periodic))

    __radd__ = __add__

    def __matmul__(self, other: C) -> C:
        """The operator that applies `other` first, or the state that the operator makes; bond dimensions multiply."""
        if not isinstance(other, (MPO, MPS)):
            return NotImplemented
        if other.conserved is not None:
            return OFFERED["after"](other, self)
        if isinstance(other, MPO):
            check_standing(self, other, "the other operator", "the operator")
        else:
            check_standing(other, self, "the operator")
        for site, (upper, lower) in enumerate(zip_sites(self, other)):
            if upper.shape[3] != lower.shape[other.LEGS.index("out" if isinstance(other, MPO) else "physical")]:
                raise ShapeError(f"site {site}: an operator of shape {upper.shape} cannot act on {lower.shape}")
        apply = stacked if isinstance(other, MPO) else applied
        return other._made_of(distinct_map(apply, self, other))

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
        return self._made_of([tensor.conj().swapaxes(2, 3) for tensor in self])

    def dagger(self) -> MPO:
        """The adjoint operator, as `mH`.

        Examples
        --------
        >>> import qad
        >>> step = qad.mps.mpo_exp(qad.mps.heisenberg(4), -0.1j)
        >>> bool(abs(qad.mps.MPS.product([0, 1, 0, 1]).expectation(step.dagger() @ step) - 1) < 1e-3)
        True
        """
        return self.mH


def plain_of(H: MPO) -> MPO:
    """The operator of plain numbers behind one that is recorded; itself where it is none."""
    return H._made_of([value_of(w) for w in H]) if any(type(w) is Tensor for w in H) else H


def unpaired(tensors: Iterable[Array], dims: Sequence[int]) -> list[Array]:
    """Site tensors (left, out in, right) of an operator as a vector, as those of the operator."""
    shaped = [t.reshape(t.shape[0], d, d, t.shape[2]) for t, d in zip(tensors, dims, strict=True)]
    return [t.transpose(0, 3, 1, 2) for t in shaped]


def numbers_of(tensors: Iterable[Array]) -> list[bytes] | None:
    """The bytes of all different tensors, which tell whether one was written into; None of arrays that have none."""
    if any(type(t) is not np.ndarray for t in tensors):
        return None
    return [t.tobytes() for t in {id(t): t for t in tensors}.values()]
