"""Environments of the cell: dominant eigenvectors of the transfer operator, and their way through the cell."""

from __future__ import annotations

from functools import partial, reduce
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
import scipy

from qad.core.errors import ArgumentError, BatchError
from qad.extend import like, stack_of, value_of
from qad.linalg import dominant_eig, linear_solve
from qad.mps.kernels.environments import past_left, past_right, through_left
from qad.symmetric.blocks.layout import layout
from qad.symmetric.create import eye
from qad.symmetric.generic import laid_out, numbers, with_numbers
from qad.symmetric.tensor import SymTensor, bare

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeAlias

    from qad.mps.chain.densities import Sides
    from qad.mps.uniform.state import UniformMPS
    from qad.symmetric.groups import Charge
    from qad.typing import Array, DTypeLike

    Flat: TypeAlias = Callable[[np.ndarray], np.ndarray]  # an operator on the numbers of environments

SINGLE = 1 - 1e-12  # ratio of the eigenvalues of a transfer operator, above which they count as equal
LARGE = 128  # sizes of matrices of transfer operators at most
SMALL = 16  # sizes of matrices that are diagonalised as they are


# -- environments ------------------------------------------------------------------------------------------------------


def identity(x: Any, axis: int, flow: int = 1) -> Any:
    """The identity on a leg of a tensor, on which its first leg has this flow."""
    if type(x) is SymTensor:
        leg = x.legs[axis]
        return eye(leg if leg.flow == flow else leg.conj(), x.dtype)
    return like(x).eye(x.shape[axis], dtype=value_of(x).dtype)


def passed(environment: Any, tensor: Any, ahead: bool) -> Any:
    """An environment (bra, ket) past one more site, from the left (`ahead`) or from the right."""
    return laid_out((past_left if ahead else past_right)(environment, tensor), 1)


def environments(psi: UniformMPS, start: Any = None) -> tuple[list[Any], list[Any]]:
    """Left environments of sites 0..k-1 and right environments of sites 0..k-1, of any scale; differentiable.

    Parameters
    ----------
    psi : UniformMPS
    start : array (bond, bond), optional
        Where the search for the left fixed point begins.

    Returns
    -------
    lefts, rights : lists of arrays or SymTensors (bond, bond)
        ``lefts[i]`` of everything left of site i, ``rights[i]`` of everything right of it.
    """

    ahead, back = (partial(passed, ahead=ahead) for ahead in (True, False))
    one, two = identity(psi[0], 0), identity(psi[0], 0, -1)
    _, left = dominant_eig(lambda x: reduce(ahead, psi.tensors, x), one if start is None else start)
    _, right = dominant_eig(lambda x: reduce(back, psi.tensors[::-1], x), two)
    return along(psi, left, right)


def sides_of(psi: UniformMPS) -> Sides:
    """Left environments, site tensors and right environments of the ordinary state of norm 1, which every cut has."""
    psi = psi.without_symmetry()
    check_single(psi)
    lefts, rights = environments(psi)
    left, right = lefts[0], rights[-1]
    size = (left * right).sum()
    scale = ((passed(lefts[-1], psi[-1], True) * right).sum() / size).real ** (-0.5 / len(psi))
    psi = psi._made_of([t * scale for t in psi])
    lefts, rights = along(psi, left / size, right)
    return lefts, list(psi.tensors), rights


def isometric_environments(psi: UniformMPS, start: np.ndarray | None = None) -> tuple[list[Array], list[Array]]:
    """`environments` of a right-canonical cell: the right fixed point is known, the left one solves a linear system.

    ``left - E(left) + tr(left) / bond = 1 / bond``, whose trace says ``tr(left) = 1``.  Derivatives hold along
    changes that keep the cell right-canonical.
    """
    eye = np.eye(psi.bonds[0], dtype=value_of(psi[0]).dtype)
    share = eye / len(eye)
    left = linear_solve(lambda x: x - through_left(x, psi.tensors) + np.trace(x) * share, share, start, tol=1e-11)
    return along(psi, left, eye)


def along(psi: UniformMPS, left: Any, right: Any) -> tuple[list[Any], list[Any]]:
    """Environments of every site from those of the cell."""
    ahead, back = (partial(passed, ahead=ahead) for ahead in (True, False))
    rights = accumulate(psi.tensors[:0:-1], back, initial=right)
    return list(accumulate(psi.tensors[:-1], ahead, initial=left)), list(rights)[::-1]


# -- plain numbers -----------------------------------------------------------------------------------------------------


def transfer_of(kets: Sequence[Any], bras: Sequence[Any], like: Any, ahead: bool, often: bool = False) -> Flat:
    """The transfer operator of a cell on the numbers of environments as `like`, of the left (`ahead`) or the right.

    It may be a matrix where it is called so `often` that its making pays.
    """
    past, rows = (past_left, 1) if ahead else (past_right, 2)  # as products take the legs of symmetric tensors
    pairs = [(laid_out(x, rows), laid_out(y, 3 - rows)) for x, y in zip(kets, bras, strict=True)][:: 1 if ahead else -1]

    def apply(v: np.ndarray) -> np.ndarray:
        x = with_numbers(like, v)
        for ket, bra in pairs:
            x = past(x, ket, bra)
        return numbers(laid_out(x, 1))

    size, dtype = numbers(like).size, np.result_type(kets[0].dtype, bras[0].dtype)
    return matrix_of(apply, size, dtype).dot if often and size <= LARGE else apply


def matrix_of(apply: Flat, size: int, dtype: DTypeLike) -> np.ndarray:
    """The matrix of a linear function of vectors."""
    return np.array([apply(row) for row in np.eye(size, dtype=dtype)]).T


def leading(
    kets: Sequence[Any], bras: Sequence[Any], count: int = 1, charge: Charge | None = None
) -> tuple[np.ndarray, Any]:
    """Eigenvalues of the largest magnitudes of the mixed transfer operator, or all, and the first one's vector.

    Of what carries a charge, by default none.  The vector has legs (bra, ket), and is a right environment.
    """
    dtype = np.result_type(*{t.dtype for t in (*kets, *bras)}, np.float64)
    shape = nothing_between(bras[0], 0, kets[0], 0, charge)
    size = numbers(shape).size
    if not size:
        return np.zeros(0), shape
    apply = transfer_of(kets, bras, shape, False)
    if size < max(SMALL, 4 * count):
        values, vectors = np.linalg.eig(matrix_of(apply, size, dtype))
    else:
        operator = scipy.sparse.linalg.LinearOperator((size, size), apply, dtype=dtype)
        start = np.random.default_rng(0).standard_normal(size).astype(dtype)  # the identity might lack the second
        values, vectors = scipy.sparse.linalg.eigs(operator, count, v0=start)
    return values, with_numbers(shape, vectors[:, np.argmax(abs(values))])


def nothing_between(one: Any, axis: int, other: Any, beside: int, charge: Charge | None = None) -> Any:
    """A matrix of zeros from what joins a leg of one tensor to a leg of another, that carries a charge, or none."""
    if type(one) is not SymTensor:
        return np.zeros((one.shape[axis], other.shape[beside]))
    legs, group = (one.legs[axis].conj(), other.legs[beside]), one.symmetry
    where = layout(legs, 1, group.neutral if charge is None else charge, group)
    return bare(where, np.zeros(where.size))


def largest_two(kets: Sequence[Any], bras: Sequence[Any] | None = None) -> np.ndarray:
    """The magnitudes of the second and of the first eigenvalue of the transfer operator of the cell.

    With tensors of another state as the bra, those of the mixed one.  Of states with charges they are those on what
    carries none.
    """
    return np.sort(np.append(abs(leading(kets, kets if bras is None else bras, 2)[0]), (0.0, 0.0)))[-2:]


def decays(psi: UniformMPS, count: int, charge: object = None) -> np.ndarray:
    """The largest eigenvalues of the transfer operator relative to the first one, which is positive and left out.

    Of what carries a `charge`; without one, of all.
    """
    values = leading(psi.tensors, psi.tensors, count + 1)[0]
    largest = abs(values).max()
    others = by_size(values / largest)[1:]
    if psi.conserved is None:
        return others[:count]
    group, bond = psi.conserved.symmetry, psi[0].legs[0].charges
    wanted = {group.minus(q, p) for q in bond for p in bond} if charge is None else {group.charge(charge)}
    charged = [leading(psi.tensors, psi.tensors, count + 1, q)[0] / largest for q in sorted(wanted - {group.neutral})]
    return by_size(np.concatenate([others if group.neutral in wanted else others[:0], *charged]))[:count]


def by_size(values: np.ndarray) -> np.ndarray:
    """Numbers by their magnitudes, descending; of equal ones those of the smallest angles first."""
    angles = np.angle(values)
    return values[np.lexsort((angles, abs(angles), -abs(values).round(12)))]


# -- what states are refused -------------------------------------------------------------------------------------------


def refuse_batch(*arrays: Any) -> None:
    """Raise for arrays that hold one for each example of `qad.vmap`."""
    if any(np.ndim(stack_of(x)) > np.ndim(x) for x in map(numbers, arrays)):
        raise BatchError(
            "an infinite chain under qad.vmap: its environments are found by iterations, whose number differs from "
            "example to example: write a loop over the examples, as in np.stack([f(x) for x in examples])"
        )


def check_finite(psi: UniformMPS) -> None:
    """Raise where a state holds inf or nan."""
    if not all(np.isfinite(numbers(t)).all() for t in psi):
        raise ArgumentError("the cell holds inf or nan")


def check_single(psi: UniformMPS) -> None:
    """Raise where a plain state is a sum of several, of which every result would be that of an arbitrary one."""
    refuse_batch(*psi)
    if any(type(numbers(t)) is not np.ndarray for t in psi):
        return
    check_finite(psi)
    if psi.bonds[0] == 1:
        return
    second, first = largest_two(psi.tensors)
    if second > SINGLE * first:
        raise ArgumentError(
            "the state is a sum of several ones (its transfer operator has more than one eigenvalue of the largest "
            "magnitude), so that it has no values of its own: take one of them, or a larger cell"
        )
