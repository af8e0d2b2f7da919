"""An operator prepared for energies: checked once, with a channel for the norm, and a route for every site."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qad.contract.run.compiler import has_compiler
from qad.core.errors import ArgumentError
from qad.extend import like
from qad.mps.chain.row import distinct_map
from qad.mps.chain.sandwich import check_quotient, in_precision, operator_matrices, quotient
from qad.mps.charges.channels import Channels
from qad.mps.energy.sweep import Sweep
from qad.mps.energy.sweep_table import Sparse, Table
from qad.mps.kernels.operators import operator_for
from qad.symmetric.sparse import Entries
from qad.symmetric.tensor import aligned, bare

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.mps.chain.state import MPS
    from qad.mps.kernels.charged import ChargedKernel
    from qad.mps.operators.mpo import MPO
    from qad.symmetric.blocks.layout import Layout
    from qad.symmetric.tensor import SymTensor
    from qad.typing import Array, RealNumber

    Swept: TypeAlias = "tuple[Table | Sweep, Any, RealNumber]"  # how, the environments from the left, and the square

HERMITIAN = 1e-6  # |H - H^dagger| / |H| in the Frobenius norm, up to which an operator counts as Hermitian
EXTREME = 200  # powers of 2 in the size of terms beyond which every site takes its share


class Prepared:
    """An operator prepared for states of one kind, whose numbers are arrays; what the node of the tape is told.

    `on` says how a state of these numbers is swept, and of which tensors, `numbers_of` what the numbers of derivatives
    by these are, and `quotient` is the energy in operations that the tape differentiates.
    """

    on: Callable[[Sequence[np.ndarray]], tuple[Table | Sweep, Sequence[Any]]]
    quotient: Callable[[Sequence[Array]], Array]

    def swept(self, data: Sequence[np.ndarray], keep: bool = True) -> tuple[float, Swept]:
        """The energy of a state of these numbers, and with `keep` what its derivative needs."""
        route, tensors = self.on(data)
        (square, value), environments = route.forward(tensors, keep)
        check_quotient(value, square)
        return value.real / square.real, (route, environments, square.real)

    def slopes(self, g: RealNumber, energy: float, kept: Swept) -> list[np.ndarray]:
        """`g` times the derivative of the energy by all numbers, from what the sweep from the left left."""
        route, environments, square = kept
        seeds = np.array([-energy, 1.0], route.dtype) * (2 * g / square).astype(square.dtype)
        return self.numbers_of(route.backward(environments, seeds))

    def numbers_of(self, slopes: list[Any]) -> list[np.ndarray]:
        """Derivatives by arrays as they are."""
        return slopes


class Hamiltonian(Prepared):
    """What `energy` remembers of an MPO, for states of arrays.

    Parameters
    ----------
    tensors : sequence of plain site tensors (left, right, out, in)
        An open chain.

    Raises
    ------
    ArgumentError
        If the operator is not Hermitian.
    """

    def __init__(self, tensors: Sequence[np.ndarray]):
        check_hermitian(tensors)
        self.tensors: list[np.ndarray] = with_norm(tensors)
        self.given: list[np.ndarray] = distinct_map(np.copy, tensors)  # whoever gave them may write into them
        self.routes: dict[tuple[tuple[int, ...], np.dtype[Any]], Table | Sweep] = {}

    def on(self, data: Sequence[np.ndarray]) -> tuple[Table | Sweep, Sequence[np.ndarray]]:
        """How a state of these tensors is swept, and these."""
        return self.route((1, *(t.shape[2] for t in data)), precision(data)), data

    def quotient(self, data: Sequence[Array]) -> Array:
        """The energy in operations that the tape differentiates."""
        return quotient(data, operator_matrices(self.given, np.result_type(*{t.dtype for t in data})))

    def route(self, bonds: tuple[int, ...], dtype: np.dtype[Any]) -> Table | Sweep:
        """How a state of these bonds is swept: a `Table` where there is a compiler."""
        key = bonds, dtype
        if key not in self.routes:
            cast = in_precision(self.tensors, dtype)
            work = np.result_type(dtype, *{t.dtype for t in cast})
            # it runs with ket and bra exchanged, so that it ends in the tape's unconjugated cotangents
            sparse = distinct_map(lambda t: Sparse(t.conj()), cast)
            self.routes[key] = Table(sparse, bonds, work) if has_compiler() else Sweep(cast, work)
        return self.routes[key]


def precision(data: Sequence[np.ndarray]) -> np.dtype[Any]:
    """The floating dtype in which these arrays fit."""
    return np.result_type(np.float32, *{x.dtype for x in data})


def with_norm(tensors: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The operator with two channels at its right end: 0 is the identity, whose value is the norm, 1 the operator.

    Operators made of sums carry the identity of all sites swept so far as state 0 of their bonds.  Where that is seen
    in the tensors it becomes channel 0; else an identity is added beside the operator.
    """
    *others, last = tensors
    if all(distinct_map(starts_with_identity, others)):
        beside = np.zeros_like(last)
        beside[0, 0] = like(last).eye(*last.shape[2:])
        return [*others, np.concatenate([beside, last], axis=1)]
    first, *others = distinct_map(beside_identity, tensors)
    return [first[:1] + first[1:], *others]


def beside_identity(tensor: np.ndarray) -> np.ndarray:
    """A site tensor with an identity as channel 0 of both bonds."""
    left, right, *legs = tensor.shape
    wider = like(tensor).zeros((left + 1, right + 1, *legs), tensor.dtype)
    wider[0, 0] = like(tensor).eye(*legs)
    wider[1:, 1:] = tensor
    return wider


def starts_with_identity(tensor: np.ndarray) -> bool:
    """Whether state 0 of the right bond follows, by the identity, only from state 0 of the left one."""
    return not tensor[1:, 0].any() and np.array_equal(tensor[0, 0], like(tensor).eye(*tensor.shape[2:]))


def check_hermitian(tensors: Sequence[np.ndarray]) -> None:
    """Raise unless the operator is its own adjoint, by ``|H - H^dagger|**2 = 2 tr H^dagger H - 2 Re tr H H``."""
    square = same = ends(tensors)
    for tensor in balanced(tensors)[0]:
        square, same = summed(square, tensor, tensor.conj()), summed(same, tensor, tensor.swapaxes(2, 3))
        size = np.linalg.norm(square)
        square, same = square / (size or 1.0), same / (size or 1.0)
    if not np.isfinite(square).all() or not np.isfinite(same).all():
        raise ArgumentError("the operator has tensors that hold inf or nan, or are too large")
    square, part = closed(square), 2 * closed(square - same)
    if part > HERMITIAN**2 * square:
        raise ArgumentError(
            f"the operator is not Hermitian: |H - H^dagger| / |H| is {np.sqrt(part / square):.2g}; energies and time "
            "evolution need a Hermitian one, such as (H + H.mH) / 2; qad.mps.expectation takes any, and evolve with "
            "hermitian=False"
        )


def strength(tensors: Sequence[np.ndarray]) -> float:
    """The size of the terms of an operator, the root of ``tr H^dagger H / n`` per state, H without its trace."""
    tensors, exponent = balanced(tensors)
    square, trace = ends(tensors), like(tensors[0]).eye(tensors[0].shape[0])
    for tensor in tensors:
        square = summed(square, tensor, tensor.conj()) / tensor.shape[2]
        trace = trace @ np.trace(tensor, axis1=2, axis2=3) / tensor.shape[2]
    size = np.sqrt(max(closed(square) - abs(np.trace(trace)) ** 2, 0.0) / len(tensors))
    return float(np.ldexp(size, exponent))


def balanced(tensors: Sequence[np.ndarray]) -> tuple[list[np.ndarray], int]:
    """An operator, by powers of 2 in another gauge in which no entry is larger than 1, and the power taken out of it.

    So the squares of terms of 1e-300, beside an identity, do not vanish.
    """
    found, before = [], like(tensors[0]).zeros(tensors[0].shape[0])
    for site, tensor in enumerate(tensors):
        with np.errstate(divide="ignore"):
            after = (before[:, None] + np.ceil(np.log2(np.abs(tensor).max(axis=(2, 3))))).max(axis=0)
        if site + 1 == len(tensors):
            after = np.where(True, after.max(), after)  # the same for all
        half = (before[:, None] - np.where(np.isfinite(after), after, 0.0))[:, :, None, None] / 2
        found.append(tensor * np.exp2(np.floor(half)) * np.exp2(np.ceil(half)))
        before = after  # -inf where no term leads
    return found, int(before[0]) if np.isfinite(before[0]) else 0


def of_order_one(tensors: Sequence[np.ndarray]) -> tuple[list[np.ndarray], float]:
    """An operator whose terms are of order 1, and the power of 8 that gives the one that it was made of."""
    if not 0 < (size := strength(tensors)) < np.inf:
        return list(tensors), 1.0
    unit = 8.0 ** int(np.clip(round(np.log2(size) / 3), -340, 340))
    exponent = 0
    if abs(np.log2(unit)) > EXTREME:  # else the gauge stays, of which mixers know
        tensors, exponent = balanced(tensors)
    return [tensors[0] * (2.0**exponent / unit), *tensors[1:]], unit


def touching(tensors: Sequence[np.ndarray]) -> float:
    """The size of all terms that act on one site, of the site where it is largest.

    That of the terms which do not is the norm of the trace over that site.
    """
    rights = [np.ones((1, 1))]
    for w in tensors[:0:-1]:
        rights.append(np.einsum("acoi,bdoi,cd->ab", w, w.conj(), rights[-1], optimize=True) / w.shape[2])
    left, most = np.ones((1, 1)), 0.0
    for w, right in zip(tensors, reversed(rights), strict=True):
        whole, trace = np.einsum("ab,acoi,bdoi->cd", left, w, w.conj(), optimize=True) / w.shape[2], w.trace(0, 2, 3)
        without = np.einsum("ab,ac,bd->cd", left, trace, trace.conj(), optimize=True) / w.shape[2] ** 2
        most, left = max(most, np.vdot(right.conj(), whole - without).real), whole
    return float(np.sqrt(max(most, 0.0)))


def ends(tensors: Sequence[np.ndarray]) -> np.ndarray:
    """The environment that two layers of an operator begin with, one for each pair of outer bonds."""
    bond = tensors[0].shape[0]
    return like(tensors[0]).eye(bond**2).reshape(-1, bond, bond)


def summed(environments: np.ndarray, one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """The environments of ``sum_ij one_ij two_ij`` carried past a site."""
    return np.tensordot(np.tensordot(environments, one, (1, 0)), two, ((1, 3, 4), (0, 2, 3)))


def closed(environments: np.ndarray) -> float:
    """The value of two layers of an operator, the ends of the ring put together; real."""
    return np.trace(environments.reshape(len(environments), -1)).real


# -- symmetric states --------------------------------------------------------------------------------------------------


class ChargedHamiltonian(Prepared):
    """What `energy` knows of an operator and of a symmetric state besides its numbers.

    Parameters
    ----------
    psi : MPS
    H : MPO
        Of plain numbers.

    Raises
    ------
    ArgumentError
        If the operator is not Hermitian, or does not conserve what the state does.
    """

    def __init__(self, psi: MPS, H: MPO):
        self.layouts: list[Layout] = [t.layout for t in psi]
        self.kernel: ChargedKernel = operator_for(psi, H)
        self.H: MPO = H
        if not self.kernel.swept:
            check_hermitian(self.kernel.tensors)

    def on(self, data: Sequence[np.ndarray]) -> tuple[Sweep, list[SymTensor]]:
        """How a state of these numbers is swept, and its tensors."""
        dtype, tensors = precision(data), [bare(where, x) for where, x in zip(self.layouts, data, strict=True)]
        if dtype not in self.kernel.swept:  # with a channel for the norm, in the precision of the state
            sites = Channels(with_norm(in_precision(self.H, dtype)), self.kernel.channels.conserved).sites()
            self.kernel.swept[dtype] = distinct_map(Entries, sites)
        return Sweep(self.kernel.swept[dtype], dtype), tensors

    def numbers_of(self, slopes: list[Any]) -> list[np.ndarray]:
        """The numbers of derivatives in the order of those of the state."""
        own = [where.conj if site % 2 else where for site, where in enumerate(self.layouts)]
        return [aligned(bare(where, None), slope, "energy") for where, slope in zip(own, slopes, strict=True)]

    def quotient(self, data: Sequence[Array]) -> Array:
        """The energy in operations that the tape differentiates."""
        return quotient([bare(where, x) for where, x in zip(self.layouts, data, strict=True)], self.kernel.sites)
