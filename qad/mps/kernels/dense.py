"""Environments: what stands on one side of a bond in ``<bra|H|ket>``, and how it is carried past a site.

On both sides the legs are ``(bra, operator, ket)``, without an operator ``(bra, ket)``.  Axes in front of them are
carried along, such as the legs where a ring was opened.  Site tensors are (left, physical, right), those of operators
(left, right, out, in); the bra's are conjugated here.  From the left a site is passed by three matrix products, between
which nothing is transposed (a, a' bonds of the bra, b, b' of the ket, w, w' of the operator)::

    (a w, b)    @ (b, s b')      the ket's tensor           ->  (a, w s, b')
    (t w', w s) @ (w s, b')      the operator, for every a  ->  (a, t w', b')
    (a', a t)   @ (a t, w' b')   the bra's conjugate        ->  (a', w', b')

From the right the same is done to the mirrored tensors.  All this is plain NumPy, differentiable to any order.
Symmetric tensors are passed in the same order.

What acts on a centre between two environments is made of `qad.mps.kernels.terms`.

U. Schollwöck, Ann. Phys. 326, 96 (2011), section 6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qad.extend import is_foreign, like
from qad.mps.kernels.terms import CentreKernel
from qad.symmetric.generic import join, permuted
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qad.mps.kernels.terms import Apply, CentreTerms, Identities
    from qad.typing import Array, DTypeLike

    Live: TypeAlias = tuple[np.ndarray, np.ndarray]  # channels, and what goes with each of them
    Block: TypeAlias = np.ndarray | None


def past_left(environment: Any, ket: Any, bra: Any = None, operator: Any = None) -> Any:
    """A left environment past one more site; the bra is the ket where it is not given."""
    bra = ket if bra is None else bra
    if type(ket) is SymTensor:
        half = join(environment, ket)
        if operator is None:
            return join(bra.conj(), half, ((0, 1), (0, 1)))
        half = join(half, operator, ((1, 2), (0, 3)))  # bra b v s'
        return permuted(join(bra.conj(), half, ((0, 1), (0, 3))), 0, 2, 1)
    if operator is None:
        return adjoint(bra) @ acted(environment, ket)
    matrix = operator_matrix(operator), *operator.shape[:2]
    passed = adjoint(bra) @ acted(environment.reshape(*environment.shape[:-2], -1), ket, matrix)
    return passed.reshape(*passed.shape[:-1], operator.shape[1], ket.shape[2])


def past_right(environment: Any, ket: Any, bra: Any = None, operator: Any = None) -> Any:
    """A right environment past one more site; the bra is the ket where it is not given."""
    bra = ket if bra is None else bra
    if type(ket) is SymTensor:
        if operator is None:
            return join(bra.conj(), join(ket, environment, ((2,), (1,))), ((1, 2), (1, 2)))
        half = join(join(ket, environment, ((2,), (2,))), operator, ((1, 3), (3, 1)))  # a bra u s'
        return permuted(join(bra.conj(), half, ((1, 2), (3, 1))), 0, 2, 1)
    if operator is not None:
        return past_left(environment, mirror(ket), mirror(bra), operator.swapaxes(0, 1))
    left, phys, right = bra.shape
    half = bra.reshape(left * phys, right).conj() @ environment
    return half.reshape(*half.shape[:-2], left, -1) @ ket.reshape(ket.shape[0], -1).mT


def through_left(environment: Array, kets: Sequence[Array], bras: Sequence[Array] | None = None) -> Array:
    """A left environment past a row of sites."""
    for ket, bra in zip(kets, kets if bras is None else bras, strict=True):
        environment = past_left(environment, ket, bra)
    return environment


def through_right(environment: Array, kets: Sequence[Array], bras: Sequence[Array] | None = None) -> Array:
    """A right environment past a row of sites, the last one first."""
    for ket, bra in zip(reversed(kets), reversed(kets if bras is None else bras), strict=True):
        environment = past_right(environment, ket, bra)
    return environment


def acted(environment: Array, ket: Array, operator: tuple[Array, int, int] | None = None) -> Array:
    """A left environment, its legs (operator, ket) as one, past the ket and the operator of a site: ``(a t, w' b')``.

    The operator is its `operator_matrix` with the dimensions of its bonds, (matrix, left, right).
    """
    left, phys, right = ket.shape
    *lead, rows, _ = environment.shape
    flat = environment if environment.shape[-1] == left and not lead else environment.reshape(-1, left)
    half = flat @ ket.reshape(left, phys * right)
    if operator is None:
        return half.reshape(*lead, rows * phys, right)
    matrix, bond, next_bond = operator
    half = times(matrix, half.reshape(-1, bond * phys, right))
    return half.reshape(*lead, -1, next_bond * right)


def times(matrix: Array, rows: Array) -> Array:
    """``matrix @ rows``; among plain arrays a real matrix is not made complex for it."""
    if type(rows) is type(matrix) is np.ndarray and matrix.dtype.kind == "f" and rows.dtype.kind == "c":
        found = matrix @ rows.view(rows.real.dtype)
        return found.view(np.result_type(found, np.complex64))
    return matrix @ rows


def operator_matrix(tensor: Array) -> Array:
    """A site tensor (left, right, out, in) as the matrix ``(out right, left in)``."""
    left, right, out, in_ = tensor.shape
    return tensor.transpose(2, 1, 0, 3).reshape(out * right, left * in_)


def adjoint(tensor: Array) -> Array:
    """The bra's part in `past_left`, a matrix (right, left physical)."""
    return tensor.reshape(-1, tensor.shape[2]).conj().mT


def mirror(tensor: Array) -> Array:
    """A site tensor read from the right."""
    return tensor.transpose(2, 1, 0)


def edge(dtype: DTypeLike, create: Any = np) -> Array:
    """The environment beyond an end of the chain, legs (bra, operator, ket)."""
    return create.ones((1, 1, 1), dtype)


class DenseKernel(CentreKernel):
    """The kernel of states of arrays.

    Parameters
    ----------
    H : sequence of arrays (left, right, out, in)
    dtype : dtype
        Of states; the sites of the operator have its precision at least.
    identities : pair of lists of arrays, optional
        As in `CentreKernel`.
    """

    sites: list[np.ndarray]

    def __init__(self, H: Iterable[np.ndarray], dtype: DTypeLike, identities: Identities | None = None):
        self.sites = [w.astype(np.result_type(w.dtype, dtype), copy=False) for w in H]
        super().__init__([on_host(w) for w in self.sites], identities)

    def sites_of(self, H: Sequence[Any]) -> list[Any]:
        """The site tensors of this operator, recorded or plain."""
        return list(H)

    def terms_of(self, row: CentreTerms, site: int) -> DenseTerms:
        """The terms of a centre."""
        return DenseTerms(row)

    def past_left(
        self, environment: np.ndarray, site: int, tensor: np.ndarray, bra: np.ndarray | None = None
    ) -> np.ndarray:
        """A left environment past a site; the bra is its tensor where it is not given."""
        return past_left(environment, tensor, bra, self.sites[site])

    def past_right(
        self, environment: np.ndarray, site: int, tensor: np.ndarray, bra: np.ndarray | None = None
    ) -> np.ndarray:
        """A right environment past a site; the bra is its tensor where it is not given."""
        return past_right(environment, tensor, bra, self.sites[site])

    def mixed_left(self, site: int, left: np.ndarray, centre: np.ndarray) -> np.ndarray:
        """The density on (a, s) of what the operators of this site and all left of it make of a centre."""
        a, s = centre.shape[:2]
        found = (left_block(left, self.sites[site]) @ centre.reshape(a * s, -1)).reshape(a * s, -1)
        return (found @ found.conj().T).reshape(a, s, a, s)

    def mixed_right(self, site: int, right: np.ndarray, centre: np.ndarray) -> np.ndarray:
        """The conjugate of the density on (s, b) of what those of this site and all right of it make of a centre."""
        s, b = centre.shape[-2:]
        block = right_block(self.sites[site], right)  # v s b, s' b'
        found = (centre.reshape(-1, s * b) @ block.reshape(-1, s * b, s * b)).reshape(-1, s * b)
        return (found.conj().T @ found).reshape(s, b, s, b)


def on_host(tensor: np.ndarray) -> np.ndarray:
    """A small array as NumPy's own."""
    if not is_foreign(tensor):
        return np.asarray(tensor)
    flat = tensor.reshape(-1)
    return np.array([flat[i].item() for i in range(flat.size)], tensor.dtype).reshape(tensor.shape)


# -- effective operators -----------------------------------------------------------------------------------------------


class DenseTerms:
    """What the terms of an operator do on a centre of at most two neighbours, as arrays.

    Attributes
    ----------
    left, right : pair of arrays (channels,) and (channels, out, in), or None
        What goes with some channels on the left, and on the right, on the sites that are theirs.
    inner : array (s' t', s t) or None
        What couples both sites where these stand apart.
    crossing : two pairs of channels of an environment and a site tensor of them, or None
        What is applied channel by channel.
    """

    left: Live | None
    right: Live | None

    def __init__(self, row: CentreTerms):
        self.left, self.right = (live(terms) for terms in row.sides)
        inner = row.inner
        self.inner: Block = None if inner is None else inner.reshape(inner.shape[0] * inner.shape[1], -1)
        self.crossing: tuple[Live, Live] | None = None
        if row.crossing is not None:
            one, two = row.crossing
            through = one.any(axis=(0, 2, 3)) & two.any(axis=(1, 2, 3))
            rows, columns = one.any(axis=(1, 2, 3)), two.any(axis=(0, 2, 3))
            before, after = np.flatnonzero(rows), np.flatnonzero(columns)
            self.crossing = (before, one[rows][:, through]), (after, two[through][:, columns])

    def effective(self, left: np.ndarray, right: np.ndarray, centre: np.ndarray) -> tuple[Apply, np.ndarray]:
        """The effective operator between two environments, and the centre, whose numbers it takes."""
        on_left = on_right = chain = None
        if self.left is not None:
            on_left = grown_left(left[:, self.left[0]], self.left[1])
        if self.right is not None:
            on_right = grown_right(right[:, self.right[0]], self.right[1])
        if self.crossing is not None:
            (before, one), (after, two) = self.crossing
            chain = left_block(left[:, before], one), right_block(two, right[:, after])
        a, *legs, b = centre.shape
        return summed(on_left, on_right, self.inner, chain, (a, *legs, *[1] * (2 - len(legs)), b)), centre


def live(terms: np.ndarray) -> Live | None:
    """The channels with which anything goes, and that; None where nothing does."""
    channels = np.flatnonzero(terms.any(axis=(1, 2)))
    return (channels, terms[channels]) if len(channels) else None


def grown_left(environment: np.ndarray, operators: np.ndarray) -> np.ndarray:
    """``sum_u L[u] x O[u]`` as a matrix, rows (a', s') and columns (a, s); the operators are (u, s', s)."""
    operators = like(environment).asarray(operators.astype(environment.dtype, copy=False))
    grown = environment.transpose(0, 2, 1)[:, None] @ operators.transpose(1, 0, 2)  # a' s' (a s)
    return grown.reshape(grown.shape[0] * grown.shape[1], -1)


def grown_right(environment: np.ndarray, operators: np.ndarray) -> np.ndarray:
    """``sum_w O[w] x R[w]`` as a matrix that acts from the right, rows (t, b) and columns (t', b')."""
    operators = like(environment).asarray(operators.astype(environment.dtype, copy=False))
    grown = operators.transpose(1, 2, 0)[:, None] @ environment  # t' b' (t b)
    return grown.reshape(grown.shape[0] * grown.shape[1], -1).T


def left_block(environment: np.ndarray, w: np.ndarray) -> np.ndarray:
    """A left environment (a', u, a) and the site operator `w` right of it, as ``(a' s' v, a s)``."""
    return grown_left(environment, w.transpose(0, 2, 1, 3).reshape(len(w), -1, w.shape[3]))


def right_block(w: np.ndarray, environment: np.ndarray) -> np.ndarray:
    """The site operator `w` and the right environment (b', w, b) right of it, as ``(v s b, s' b')``."""
    return grown_right(environment, w.transpose(1, 2, 0, 3).reshape(w.shape[1], w.shape[2], -1))


def summed(
    on_left: Block, on_right: Block, inner: Block, chain: tuple[np.ndarray, np.ndarray] | None, shape: tuple[int, ...]
) -> Apply:
    """The sum of the parts of an effective operator as a function of vectors.

    Parameters
    ----------
    on_left, on_right : arrays (rows, rows) and (columns, columns), or None
        Of the legs (a, s) or (a, s, t), and (t, b) or (s, t, b).
    inner : array (s' t', s t) or None
    chain : pair of arrays, or None
        Blocks (a' s' v, a s) and (v t b, t' b').
    shape : tuple (a, s, t, b)
    """
    a, s, t, b = shape

    def apply(x):
        out = None
        if on_left is not None:
            out = (on_left @ x.reshape(len(on_left), -1)).reshape(-1)
        if on_right is not None:
            out = added(out, (x.reshape(-1, len(on_right)) @ on_right).reshape(-1))
        if chain is not None:
            half = (chain[0] @ x.reshape(a * s, t * b)).reshape(a * s, -1)
            out = added(out, (half @ chain[1]).reshape(-1))
        if inner is not None:
            out = added(out, (like(x).asarray(inner) @ x.reshape(a, s * t, b)).reshape(-1))
        return 0 * x if out is None else out

    return apply


def added(total: np.ndarray | None, more: np.ndarray) -> np.ndarray:
    """A sum, in the place of the first if there is one."""
    if total is None:
        return more
    total += more
    return total
