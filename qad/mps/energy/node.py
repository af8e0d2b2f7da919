"""Energies of chains as one node of the tape.

``E = <psi|H|psi> / <psi|psi>`` is real, so its derivative is that by the bra, doubled:

    dE = 2 Re sum_i (d conj(A_i)) [<psi|(H - E)|psi> without conj(A_i)] / <psi|psi>

One sweep from the left gives the energy, and its environments serve the sweep from the right, which closes the
derivatives by all tensors: `qad.mps.energy.sweep` for both kinds of tensors, and of arrays a compiled table
(`qad.mps.energy.sweep_table`), five times as quick at bond 16 and 1.8 times at bond 128.  The Hessian comes from the
tape: the rule of the derivative differentiates the ordinary sweep of `qad.mps.chain.sandwich` along a direction.

In programs of `qad.freeze` the operator may be an argument of the frozen function.  Its tensors are operands there,
like those of the state, and what is remembered of it is found by what they hold: a step for the value, and one for all
slopes.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qad.extend import Tensor, any_traced, defvjp, is_foreign, jvp, primitive, stack_of, value_of, vjp
from qad.mps.chain.sandwich import operator_matrices, quotient
from qad.mps.energy.hamiltonian import ChargedHamiltonian, Hamiltonian, Prepared, check_hermitian
from qad.mps.kernels.operators import sites_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.chain.state import MPS
    from qad.mps.operators.mpo import MPO
    from qad.typing import Array, Real, RealNumber

Operator: TypeAlias = "Prepared | int"  # prepared, or how many arrays stand before its own among the operands


def energy(psi: MPS, H: MPO) -> Real:
    """``<psi|H|psi> / <psi|psi>`` of a state and an operator on its sites."""
    charged = psi.conserved is not None
    data: list[Any] = [t.data if charged else t for t in psi]
    if not has_node(psi, H, data):
        if not charged and all(type(w) is np.ndarray for w in H):
            prepared(H)  # which checks it
        return quotient(psi.tensors, sites_for(psi, H) if charged else operator_matrices(H, psi.dtype))
    if not charged and any_traced(*data):
        return energy_of(*data, *H.tensors, H=len(psi))
    node = ChargedHamiltonian(psi, H) if charged else prepared(H)
    if any(type(x) is Tensor for x in data) or any_traced(*data):
        return energy_of(*data, H=node)
    return node.swept(data, keep=False)[0]


def has_node(psi: MPS, H: MPO, data: Sequence[Array]) -> bool:
    """Whether the energy is one node: an open chain and an operator that is not recorded, of NumPy's arrays.

    Where `qad.freeze` records the operator and not the state, it records all products.
    """
    if psi.periodic or H.periodic or any(type(w) is Tensor for w in H) or (any_traced(*H) and not any_traced(*data)):
        return False
    return not any(is_foreign(stack_of(value_of(x))) for x in (*data, *H))


@primitive(keeps=True)
def energy_of(*data: np.ndarray, H: Operator) -> tuple[float, Any]:
    """The energy of a chain of these numbers."""
    node, numbers = parted(data, H)
    return node.swept(numbers)


@primitive
def slopes_of(g: RealNumber, energy: float, *data: np.ndarray, H: Operator, kept: Any = None) -> tuple[np.ndarray, ...]:
    """`g` times the derivative of the energy by every array, unconjugated; the value of the energy is handed over."""
    node, numbers = parted(data, H)
    slopes = node.slopes(g, energy, node.swept(numbers)[1] if kept is None else kept)
    pairs = zip(slopes, numbers, strict=True)  # derivatives by real numbers are real
    return tuple(s.real if x.dtype.kind != "c" and s.dtype.kind == "c" else s for s, x in pairs)


def parted(data: tuple[np.ndarray, ...], H: Operator) -> tuple[Prepared, tuple[np.ndarray, ...]]:
    """The operator of some operands, prepared once for all that hold the same numbers, and those of the state."""
    if isinstance(H, Prepared):
        return H, data
    return of_contents(tuple([(t.shape, t.dtype, t.tobytes()) for t in data[H:]])), data[:H]


@lru_cache(maxsize=16)
def of_contents(held: tuple[Any, ...]) -> Hamiltonian:
    """The operator of tensors of these shapes, dtypes and bytes."""
    made = {each: np.frombuffer(each[2], each[1]).reshape(each[0]) for each in set(held)}
    return Hamiltonian([made[each] for each in held])


def _energy_vjp(needed, g, ans, *data, H, kept=None):
    slopes = slopes_of(g, ans, *data, H=H, kept=kept)
    return tuple(slopes[i] for i in needed)


def _slopes_vjp(needed, cotangents, ans, g, energy, *data, H, kept=None):
    """The product of the Hessian with the cotangents, which stand for a direction; the Hessian is symmetric."""
    tensors = data[: len(cotangents)]
    direction = tuple(0.0 * t if c is None else c for c, t in zip(cotangents, tensors, strict=True))

    def value(*chain):
        if isinstance(H, Prepared):
            return H.quotient(chain)
        return quotient(chain, operator_matrices(data[H:], np.result_type(*{t.dtype for t in chain})))

    def along(*tensors):
        return jvp(value, tensors, direction)[1]

    out = {1: 0.0 * energy}  # the energy follows from the tensors, and was counted there
    if 0 in needed:
        out[0] = along(*tensors)
    if max(needed) > 1:
        _, pullback = vjp(along, *tensors)
        products = pullback(np.ones_like(value_of(energy)))
        out |= {i: g * products[i - 2].conj() for i in needed if i > 1}
    return tuple(out[i] for i in needed)


defvjp(energy_of, shared=_energy_vjp)
defvjp(slopes_of, shared=_slopes_vjp)


def prepared(H: MPO) -> bool | Hamiltonian:
    """What is remembered of a plain operator, of a periodic one that it is Hermitian; checked when it is first used."""
    found = H.remembered
    if Hamiltonian not in found:
        found[Hamiltonian] = check_hermitian(H.tensors) or True if H.periodic else Hamiltonian(H.tensors)
    return found[Hamiltonian]
