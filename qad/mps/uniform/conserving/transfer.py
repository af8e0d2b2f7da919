"""The transfer operator of a cell of definite charge, on flat arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy

from qad.symmetric.contraction import contraction
from qad.symmetric.create import eye
from qad.symmetric.layout import layout
from qad.symmetric.tensor import SymTensor, bare

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.mps.charges.quantities import Charge
    from qad.mps.uniform.conserving.state import SymmetricUniformMPS
    from qad.symmetric.layout import Layout

SMALL = 16  # sizes of matrices that are diagonalised as they are


def transfer_of(
    kets: Sequence[SymTensor], bras: Sequence[SymTensor], where: Layout, ahead: bool
) -> Callable[[np.ndarray], np.ndarray]:
    """The transfer operator of a cell on environments (bra, ket) of a layout, from the left (`ahead`) or the right."""
    products, turn = [], slice(None) if ahead else slice(None, None, -1)
    for ket, upper in zip(kets[turn], bras[turn], strict=True):
        ket, bra = ket.resplit(1 if ahead else 2), upper.resplit(2 if ahead else 1).conj()  # as products take them
        if ahead:
            first = contraction(where, ket.layout, (1,), (0,))  # bra s b
            second = contraction(bra.layout, first.out, (0, 1), (0, 1))
        else:
            first = contraction(ket.layout, where, (2,), (1,))  # a s bra
            second = contraction(bra.layout, first.out, (1, 2), (1, 2))
        products.append((first, ket.data, second, bra.data))
        where = second.out

    def apply(x: np.ndarray) -> np.ndarray:
        for first, ket, second, bra in products:
            x = second.run(bra, first.run(x, ket) if ahead else first.run(ket, x))
        return x

    return apply


def legs_of(kets: Sequence[SymTensor], bras: Sequence[SymTensor], charge: Charge, ahead: bool) -> Layout:
    """The layout of environments (bra, ket) of a total charge beside a cell."""
    bra, ket = bras[0].legs[0], kets[0].legs[0]
    legs = (bra, ket.conj()) if ahead else (bra.conj(), ket)
    return layout(legs, 1, charge, ket.symmetry)


def fixed_point(kets: Sequence[SymTensor], ahead: bool) -> SymTensor:
    """The environment of a cell from the left (`ahead`) or the right, Hermitian and of trace 1."""
    leg = kets[0].legs[0]
    one = eye(leg if ahead else leg.conj(), kets[0].dtype)
    apply = transfer_of(kets, kets, one.layout, ahead)
    if one.size < SMALL:
        values, vectors = np.linalg.eig(np.array([apply(x) for x in np.eye(one.size, dtype=one.dtype)]).T)
        found = vectors[:, np.argmax(abs(values))]
    else:
        operator = scipy.sparse.linalg.LinearOperator((one.size,) * 2, apply, dtype=one.dtype)
        found = scipy.sparse.linalg.eigs(operator, 1, v0=one.data)[1][:, 0]
    found = found / np.vdot(one.data, found)
    whole = bare(one.layout, found.real if one.dtype.kind == "f" else found)
    adjoint = whole.conj().transpose(1, 0).resplit(1)
    return bare(one.layout, (whole.data + adjoint.data) / 2)


def largest_two(kets: Sequence[SymTensor], bras: Sequence[SymTensor]) -> np.ndarray:
    """The magnitudes of the second and the first eigenvalue of the transfer operator, on what carries no charge.

    There it is 1 as often as the state is a sum of others.
    """
    where = legs_of(kets, bras, kets[0].symmetry.neutral, False)
    apply, dtype = transfer_of(kets, bras, where, False), np.result_type(kets[0].dtype, bras[0].dtype)
    values = leading(apply, where.size, dtype, 2)
    return np.sort(np.append(abs(values), (0.0, 0.0)))[-2:]


def largest_by_charge(psi: SymmetricUniformMPS, charge: object) -> tuple[float, float]:
    """The largest magnitude of an eigenvalue below the first one, among what carries a charge; and the first one.

    Without a `charge`, the largest among all; the first one is left out where nothing is carried.
    """
    kets, group, bond = psi.tensors, psi.conserved.symmetry, psi[0].legs[0].charges
    second, first = largest_two(kets, kets)
    everything = {group.minus(q, p) for q in bond for p in bond}
    wanted = everything if charge is None else {group.charge(charge)}
    sizes = [second] if group.neutral in wanted else [0.0]
    for total in wanted - {group.neutral}:
        where = legs_of(kets, kets, total, False)
        if where.size:
            found = leading(transfer_of(kets, kets, where, False), where.size, kets[0].dtype, 1)
            sizes.append(abs(found).max())
    return float(max(sizes)), float(first)


def leading(apply: Callable[[np.ndarray], np.ndarray], size: int, dtype: np.dtype, count: int) -> np.ndarray:
    """Eigenvalues of the largest magnitudes of an operator on vectors."""
    if size < SMALL:
        return np.linalg.eigvals(np.array([apply(row) for row in np.eye(size, dtype=dtype)])) if size else np.zeros(0)
    operator = scipy.sparse.linalg.LinearOperator((size, size), apply, dtype=dtype)
    start = np.random.default_rng(0).standard_normal(size).astype(dtype)  # the identity might lack the second
    return scipy.sparse.linalg.eigs(operator, count, v0=start, return_eigenvectors=False)
