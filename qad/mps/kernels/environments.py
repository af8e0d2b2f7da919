"""Environments: what stands on one side of a bond in ``<bra|H|ket>``, and how it is carried past a site.

On both sides the legs are ``(bra, operator, ket)``, without an operator ``(bra, ket)``.  Axes in front of them are
carried along, such as the legs where a ring was opened.  Site tensors are (left, physical, right), those of operators
(left, right, out, in); the bra's are conjugated here.  From the left a site is passed by three matrix products, between
which nothing is transposed (a, a' bonds of the bra, b, b' of the ket, w, w' of the operator)::

    (a w, b)    @ (b, s b')      the ket's tensor           ->  (a, w s, b')
    (t w', w s) @ (w s, b')      the operator, for every a  ->  (a, t w', b')
    (a', a t)   @ (a t, w' b')   the bra's conjugate        ->  (a', w', b')

From the right the same is done to the mirrored tensors.  All this is plain NumPy, differentiable to any order.
Symmetric tensors are passed in the same order, by an operator whose site tensors are symmetric too, or their few
entries.

U. Schollwöck, Ann. Phys. 326, 96 (2011), section 6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.symmetric.generic import join
from qad.symmetric.sparse import Entries, applied
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.symmetric.generic import Pairs
    from qad.typing import Array


def past_left(environment: Any, ket: Any, bra: Any = None, operator: Any = None) -> Any:
    """A left environment past one more site; the bra is the ket where it is not given."""
    bra = ket if bra is None else bra
    if type(ket) is SymTensor:
        half = join(environment, ket)  # bra u s b
        if operator is not None:
            half = through(operator, half, ((1, 2), (0, 3)), (0, 3, 2, 1))  # bra s' v b
        return join(bra.conj(), half, ((0, 1), (0, 1)))
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
        half = join(ket, environment, ((2,), (2,)))  # a s bra v
        half = through(operator, half, ((1, 3), (3, 1)), (3, 1, 2, 0))  # s' bra u a
        return join(bra.conj(), half, ((1, 2), (0, 1)))
    if operator is not None:
        return past_left(environment, ket.transpose(2, 1, 0), bra.transpose(2, 1, 0), operator.swapaxes(0, 1))
    left, phys, right = bra.shape
    half = bra.reshape(left * phys, right).conj() @ environment
    return half.reshape(*half.shape[:-2], left, -1) @ ket.reshape(ket.shape[0], -1).mT


def through(w: Any, x: Any, axes: Pairs, order: tuple[int, ...], rows: int = 2) -> Any:
    """A tensor past a site of an operator, or the few entries of one; its legs in another order, so many as rows."""
    return applied(w, x, axes, order, rows) if type(w) is Entries else join(x, w, axes).transpose(*order)


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
