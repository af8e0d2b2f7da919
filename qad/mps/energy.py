"""Energies of chains as one node of the tape.

``E = <psi|H|psi> / <psi|psi>`` is real, so its derivative is that by the bra, doubled:

    dE = 2 Re sum_i (d conj(A_i)) [<psi|(H - E)|psi> without conj(A_i)] / <psi|psi>

One sweep from the left gives the energy, and its environments serve the sweep from the right, which closes the
derivatives by all tensors (`qad.mps.channel_sweep` says how a site is passed).  The Hessian comes from the tape: the
rule of the derivative differentiates the ordinary sweep of `qad.mps.sandwich` along a direction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import Tensor, any_traced, defvjp, is_foreign, jvp, primitive, stack_of, value_of, vjp
from qad.mps.hamiltonian import Hamiltonian, check_hermitian
from qad.mps.sandwich import operator_matrices, sandwich
from qad.mps.scales import factor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from qad.mps.chain import SiteTensors
    from qad.mps.operator import MPO
    from qad.mps.state import MPS
    from qad.mps.sweep_compiled import Table
    from qad.mps.sweep_numpy import Steps
    from qad.typing import Array, RealNumber


class Swept(NamedTuple):
    """What the sweep from the left leaves for the sweep from the right."""

    route: Table | Steps
    environments: Any
    square: float


def swept(tensors: Sequence[np.ndarray], H: Hamiltonian, keep: bool = True) -> tuple[float, Swept]:
    """The energy by a `Hamiltonian`, and with `keep` what its derivative needs."""
    route = H.route(bonds_of(tensors), np.result_type(*{t.dtype for t in tensors}))
    (square, value), environments = route.forward(tensors, keep)
    check_quotient(value, square)
    return value.real / square.real, Swept(route, environments, square.real)


@primitive(keeps=True)
def energy_of(*tensors: np.ndarray, H: Hamiltonian) -> tuple[float, Swept]:
    """The energy of a chain of these tensors by a `Hamiltonian`."""
    return swept(tensors, H)


@primitive
def slopes_of(
    g: RealNumber, energy: float, *tensors: np.ndarray, H: Hamiltonian, kept: Swept | None = None
) -> tuple[np.ndarray, ...]:
    """`g` times the derivative of the energy by every tensor, unconjugated; the value of the energy is handed over."""
    return slopes_by_sweep(g, energy, tensors, swept(tensors, H)[1] if kept is None else kept)


def slopes_by_sweep(g: RealNumber, energy: float, tensors: Sequence[np.ndarray], kept: Swept) -> tuple[np.ndarray, ...]:
    """`g` times the derivative of the energy by every tensor, from what the sweep from the left left."""
    route, environments, square = kept
    seeds = np.array([-energy, 1.0], route.dtype) * (2 * g / square).astype(square.dtype)
    slopes = route.backward(environments, seeds)
    return tuple(
        s.real if t.dtype.kind == "f" and s.dtype.kind == "c" else s for s, t in zip(slopes, tensors, strict=True)
    )


def _energy_vjp(needed, g, ans, *tensors, H, kept=None):
    slopes = slopes_of(g, ans, *tensors, H=H, kept=kept)
    return tuple(slopes[i] for i in needed)


def _slopes_vjp(needed, cotangents, ans, g, energy, *tensors, H, kept=None):
    return curvature(needed, cotangents, g, energy, tensors, lambda chain: quotient(chain, H.given))


def curvature(
    needed: Sequence[int],
    cotangents: Sequence[Array | None],
    g: Array,
    energy: Array,
    tensors: tuple[Array, ...],
    function: Callable[[tuple[Array, ...]], Array],
) -> tuple[Array, ...]:
    """The product of the Hessian with the cotangents, which stand for a direction; the Hessian is symmetric.

    `function` gives the energy of the tensors in operations that the tape differentiates.
    """
    direction = tuple(0.0 * t if c is None else c for c, t in zip(cotangents, tensors, strict=True))

    def along(*tensors):
        return jvp(lambda *chain: function(chain), tensors, direction)[1]

    out = {}
    if 0 in needed:
        out[0] = along(*tensors)
    if 1 in needed:
        out[1] = 0.0 * energy  # the energy follows from the tensors, and was counted there
    if max(needed) > 1:
        _, pullback = vjp(along, *tensors)
        products = pullback(np.ones_like(value_of(energy)))
        out |= {i: g * products[i - 2].conj() for i in needed if i > 1}
    return tuple(out[i] for i in needed)


defvjp(energy_of, shared=_energy_vjp)
defvjp(slopes_of, shared=_slopes_vjp)


def quotient(tensors: Sequence[Array], operator: SiteTensors) -> Array:
    """The energy by the ordinary sweep, which the tape differentiates to any order and by the operator too."""
    dtype = np.result_type(*{t.dtype for t in tensors})
    (square,), square_scale = sandwich(tensors, None, tensors)
    (value,), value_scale = sandwich(tensors, operator_matrices(operator, dtype), tensors)
    value = value * factor(value, value_scale - square_scale)
    check_quotient(stack_of(value), stack_of(square))
    return value.real / square.real


def prepared(H: MPO) -> bool | Hamiltonian:
    """What is remembered of a plain operator, of a periodic one that it is Hermitian; checked when it is first used."""
    found = H.prepared
    if found is None:
        found = H.prepared = check_hermitian(H.tensors) or True if H.periodic else Hamiltonian(H.tensors)
    return found


def is_plain(H: Iterable[Array]) -> bool:
    """Whether an operator is neither recorded nor batched nor traced."""
    return all(type(w) is np.ndarray for w in H)


def has_own_node(psi: MPS, H: MPO) -> bool:
    """Whether the energy is one node: an open chain and an operator that is not recorded, of NumPy's arrays.

    Where `qad.freeze` records the operator and not the state, it records all products.
    """
    if psi.periodic or H.periodic or any(type(w) is Tensor for w in H) or (any_traced(*H) and not any_traced(*psi)):
        return False
    return not any(is_foreign(stack_of(x)) for x in (*psi, *H))


def bonds_of(tensors: Iterable[np.ndarray]) -> tuple[int, ...]:
    """Dimensions of the bonds of a state, the outer ones included."""
    return (1, *(t.shape[2] for t in tensors))


def check_quotient(value: np.ndarray, square: np.ndarray) -> None:
    """Raise where the quotient of `value` and `square` (of any example of a batch) is no energy."""
    if np.any(square.real == 0):
        raise ArgumentError("the state has norm zero (or underflows): an energy needs a norm above zero")
    if not (np.isfinite(square).all() and np.isfinite(value).all()):
        raise ArgumentError(
            f"the sweep ended in <psi|psi> = {square}, <psi|H|psi> = {value}: tensors of psi or H hold inf or nan, or "
            "are so large that a few of them overflow; divide them by their norms"
        )
    if np.any(abs(value.imag) > 1e-4 * abs(value.real) + np.sqrt(np.finfo(value.dtype).eps) * square.real):
        raise ArgumentError(
            "the expectation value has an imaginary part, so the operator is not Hermitian: energies need a Hermitian "
            "one; qad.mps.expectation takes any"
        )
