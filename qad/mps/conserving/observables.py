"""Numbers of states of definite charge: norms, overlaps, expectation values, energies, entropies; differentiable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import Tensor, stack_of, value_of
from qad.mps.conserving.environments import Operator, edges, past_left
from qad.mps.conserving.state import SymmetricMPS
from qad.symmetric.contraction import tensordot
from qad.symmetric.decompositions import qr, svd
from qad.symmetric.scaling import scale

if TYPE_CHECKING:
    from qad.mps.operator import MPO
    from qad.typing import Array, Real, Scalar

NOT_REAL = 1e-9  # of an expectation value: an imaginary part beyond it tells of an operator that is not Hermitian


def operator_for(psi: SymmetricMPS, H: MPO) -> Operator:
    """What an operator is for states that conserve this; found once, and remembered by the operator."""
    if any(type(w) is Tensor for w in H):
        raise ArgumentError("states of definite charge take operators of plain numbers: no derivative by them is known")
    if len(H) != len(psi) or tuple(w.shape[2] for w in H) != psi.phys:
        raise ShapeError(
            f"the state has sites of dimensions {psi.phys}, the operator {tuple(w.shape[2] for w in H)}: make both for "
            "the same sites"
        )
    if H.periodic:
        raise ShapeError("the operator is a ring: states of definite charge are open; write it by qad.mps.OpSum")
    key = psi.conserved
    found = H.conserving
    if key not in found:
        found[key] = Operator(list(H), key)
    return found[key]


def total_of(psi: SymmetricMPS) -> tuple[int, ...]:
    """The total charge."""
    return psi[-1].legs[2].charges[0]


def sandwich(bra: SymmetricMPS, operator: Operator, ket: SymmetricMPS) -> tuple[Scalar, float]:
    """``<bra|operator|ket>`` as a number and the logarithm of a factor, which was taken out on the way."""
    environment, log_scale = edges(total_of(ket), ket.conserved, ket.dtype)[0], 0.0
    for lower, upper, w in zip(ket, bra, operator.sites, strict=True):
        environment = past_left(environment, lower, w, upper)
        environment, log_scale = scaled(environment, log_scale)
    return environment.data.sum(), log_scale


def scaled(environment, log_scale):
    """An environment of size 1, and the logarithm of its size added up; the size is no part of the derivative."""
    size = float(np.linalg.norm(np.asarray(stack_of(value_of(environment.data)))))
    if not 0 < size < np.inf:
        return environment, log_scale
    return environment * (1 / size), log_scale + np.log(size)


def overlap(bra: SymmetricMPS, ket: SymmetricMPS) -> tuple[Scalar, float]:
    """``<bra|ket>`` as a number and the logarithm of a factor; states of different charges are orthogonal."""
    if not isinstance(bra, SymmetricMPS) or not isinstance(ket, SymmetricMPS) or bra.conserved != ket.conserved:
        raise ArgumentError(
            "an overlap takes two states that conserve the same on the same sites: give .without_symmetry() of both"
        )
    if total_of(bra) != total_of(ket):
        return np.result_type(bra.dtype, ket.dtype).type(0), 0.0
    carried, log_scale = None, 0.0
    for lower, upper in zip(ket, bra, strict=True):
        half = lower if carried is None else tensordot(carried, lower, 1)
        carried = tensordot(upper.conj(), half, ([0, 1], [0, 1]))
        carried, log_scale = scaled(carried, log_scale)
    return carried.data.sum(), log_scale


def expectation(psi: SymmetricMPS, H: MPO) -> Scalar:
    """``<psi|H|psi>``."""
    value, log_scale = sandwich(psi, operator_for(psi, H), psi)
    return value * np.exp(log_scale)


def energy(psi: SymmetricMPS, H: MPO) -> Real:
    """``<psi|H|psi> / <psi|psi>``, real."""
    value, one = sandwich(psi, operator_for(psi, H), psi)
    square, two = overlap(psi, psi)
    if not stack_of(value_of(square)).real > 0:
        raise ArgumentError("the state has norm zero, and no energy")
    ratio = value / square.real * np.exp(one - two)
    plain = value_of(ratio)
    if abs(plain.imag) > NOT_REAL * max(abs(plain), 1.0):
        raise ArgumentError(
            f"the expectation value {plain:.6g} is not real: the operator is not Hermitian; "
            "qad.mps.expectation takes any"
        )
    return ratio.real


def entropies(psi: SymmetricMPS, bond: int | None) -> Array:
    """Entanglement entropies in nats, of one bond or of all."""
    weights = schmidt_weights(psi)
    if bond is not None and not 1 <= bond < len(psi):
        raise ArgumentError(f"there is no bond {bond} in a chain of {len(psi)} sites: bonds are 1 to {len(psi) - 1}")
    found = [-sum(p * np.log(p) for p in np.concatenate(list(by.values())) if p > 0) for by in weights]
    return np.array(found) if bond is None else found[bond - 1]


def schmidt_weights(psi: SymmetricMPS) -> list[dict]:
    """For every inner bond the squared Schmidt values by the charge left of it; of all sectors they add up to 1."""
    tensors, carried, found = [], None, []
    for tensor in psi:
        tensor = tensor if carried is None else tensordot(carried, tensor, 1)
        tensor, carried = qr(tensor, 2)
        carried = carried * (1 / carried.norm())
        tensors.append(tensor)
    for site in reversed(range(1, len(tensors))):
        tensor = tensordot(tensors[site], carried, 1)
        left, values, _ = svd(tensor, 1)
        squares = values**2 / (values**2).sum()
        bond, start, here = left.legs[1], 0, {}
        for charge, dim in zip(bond.charges, bond.dims, strict=True):
            here[psi.conserved.symmetry.shown(charge)] = squares[start : start + dim]
            start += dim
        found.append(here)
        carried = scale(left, values)
    return found[::-1]
