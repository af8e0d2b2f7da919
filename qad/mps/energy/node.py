"""Energies of chains as one node of the tape.

``E = <psi|H|psi> / <psi|psi>`` is real, so its derivative is that by the bra, doubled:

    dE = 2 Re sum_i (d conj(A_i)) [<psi|(H - E)|psi> without conj(A_i)] / <psi|psi>

One sweep from the left gives the energy, and its environments serve the sweep from the right, which closes the
derivatives by all tensors: `qad.mps.energy.sweep` for both kinds of tensors, and of arrays a compiled table
(`qad.mps.energy.sweep_table`), five times as quick at bond 16 and 1.8 times at bond 128.  The Hessian comes from the
tape: the rule of the derivative differentiates the ordinary sweep of `qad.mps.chain.sandwich` along a direction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.extend import defvjp, jvp, primitive, value_of, vjp
from qad.mps.energy.hamiltonian import Hamiltonian, check_hermitian

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from qad.mps.energy.hamiltonian import Prepared
    from qad.mps.operators.mpo import MPO
    from qad.typing import Array, RealNumber


@primitive(keeps=True)
def energy_of(*data: np.ndarray, H: Prepared) -> tuple[float, Any]:
    """The energy of a chain of these numbers."""
    return H.swept(data)


@primitive
def slopes_of(g: RealNumber, energy: float, *data: np.ndarray, H: Prepared, kept: Any = None) -> tuple[np.ndarray, ...]:
    """`g` times the derivative of the energy by every array, unconjugated; the value of the energy is handed over."""
    return real_of(H.slopes(g, energy, H.swept(data)[1] if kept is None else kept), data)


def real_of(slopes: Iterable[np.ndarray], data: Iterable[np.ndarray]) -> tuple[np.ndarray, ...]:
    """Derivatives by real numbers are real."""
    return tuple(
        s.real if x.dtype.kind != "c" and s.dtype.kind == "c" else s for s, x in zip(slopes, data, strict=True)
    )


def _energy_vjp(needed, g, ans, *data, H, kept=None):
    slopes = slopes_of(g, ans, *data, H=H, kept=kept)
    return tuple(slopes[i] for i in needed)


def _slopes_vjp(needed, cotangents, ans, g, energy, *data, H, kept=None):
    return curvature(needed, cotangents, g, energy, data, H.quotient)


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


def prepared(H: MPO) -> bool | Hamiltonian:
    """What is remembered of a plain operator, of a periodic one that it is Hermitian; checked when it is first used."""
    found = H.remembered
    if Hamiltonian not in found:
        found[Hamiltonian] = check_hermitian(H.tensors) or True if H.periodic else Hamiltonian(H.tensors)
    return found[Hamiltonian]
