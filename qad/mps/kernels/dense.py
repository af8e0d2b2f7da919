"""Environments: what stands on one side of a bond in ``<bra|H|ket>``, and how it is carried past a site.

On both sides the legs are ``(bra, operator, ket)``, without an operator ``(bra, ket)``.  Axes in front of them are
carried along, such as the legs where a ring was opened.  Site tensors are (left, physical, right), those of operators
(left, right, out, in); the bra's are conjugated here.  From the left a site is passed by three matrix products, between
which nothing is transposed (a, a' bonds of the bra, b, b' of the ket, w, w' of the operator)::

    (a w, b)    @ (b, s b')      the ket's tensor           ->  (a, w s, b')
    (t w', w s) @ (w s, b')      the operator, for every a  ->  (a, t w', b')
    (a', a t)   @ (a t, w' b')   the bra's conjugate        ->  (a', w', b')

From the right the same is done to the mirrored tensors.  All this is plain NumPy, differentiable to any order.

What acts on a centre between two environments is made in `qad.mps.kernels.dense_terms`, of `qad.mps.kernels.terms`.

U. Schollwöck, Ann. Phys. 326, 96 (2011), section 6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.extend import is_foreign
from qad.mps.kernels.dense_terms import DenseTerms, left_block, right_block
from qad.mps.kernels.terms import CentreKernel

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qad.mps.kernels.terms import CentreTerms, Identities
    from qad.typing import Array, DTypeLike


def past_left(environment: Array, ket: Array, bra: Array | None = None, operator: Array | None = None) -> Array:
    """A left environment past one more site; the bra is the ket where it is not given."""
    bra = ket if bra is None else bra
    if operator is None:
        return adjoint(bra) @ acted(environment, ket)
    matrix = operator_matrix(operator), *operator.shape[:2]
    passed = adjoint(bra) @ acted(environment.reshape(*environment.shape[:-2], -1), ket, matrix)
    return passed.reshape(*passed.shape[:-1], operator.shape[1], ket.shape[2])


def past_right(environment: Array, ket: Array, bra: Array | None = None, operator: Array | None = None) -> Array:
    """A right environment past one more site; the bra is the ket where it is not given."""
    bra = ket if bra is None else bra
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

    def with_label(self, size: int) -> DenseKernel:
        """The operator on a chain with one more site in front, which it leaves as it is."""
        return DenseKernel([np.eye(size)[None, None], *self.sites], self.sites[0].dtype)

    def sites_of(self, H: Sequence[Any]) -> list[Any]:
        """The site tensors of this operator, recorded or plain."""
        return list(H)

    def terms_of(self, row: CentreTerms, site: int) -> DenseTerms:
        """The terms of a centre."""
        return DenseTerms(row)

    def past_left(self, environment: np.ndarray, site: int, tensor: np.ndarray) -> np.ndarray:
        """A left environment past a site."""
        return past_left(environment, tensor, operator=self.sites[site])

    def past_right(self, environment: np.ndarray, site: int, tensor: np.ndarray) -> np.ndarray:
        """A right environment past a site."""
        return past_right(environment, tensor, operator=self.sites[site])

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
