"""Energies of small circuits as one node of the tape: there the calls take longer than the state.

The state and its cotangent are further outputs, which the gradient reads.  So a value and a gradient are three calls of
the engine, and every order follows from `qad.circuit.engines.evolution` and `qad.circuit.observables.apply`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.engines.evolution import evolve, on_host, pullback
from qad.circuit.observables.apply import apply, energy, slope, transposed
from qad.extend import jvp, primitive, rule, vmap

if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from qad.circuit.observables.masks import Strings
    from qad.circuit.program.ir import CircuitProgram
    from qad.typing import Array

SMALL = 2**11  # amplitudes


@primitive
def energy_of_angles(
    theta: Array, c: Array, *, psi: np.ndarray, program: CircuitProgram, strings: Strings, engine: ModuleType
) -> tuple[Array, Array, Array]:
    """``<psi|H|psi>``, psi and ``2 conj(H psi)`` (1, 1, 2**n), of parameters (P,) and constant coefficients (T,).

    The circuit acts on psi (1, 1, 1), a multiple of |0...0>.
    """
    on_host(theta)
    states = engine.forward(program, theta[None, None], psi)
    bra = engine.apply_sum(c, states[0], strings)[None]
    value = np.vdot(states, bra).real
    np.conjugate(bra, out=bra)
    bra *= 2
    return value, states, bra


def in_steps(theta: Array, c: Array, *, psi: np.ndarray, program: CircuitProgram, **options: Any) -> tuple[Array, ...]:
    """The same as three nodes."""
    states = evolve(theta[None, None], psi, program=program, engine=options["engine"])
    return energy(c, states, shape=(), **options), states, slope(np.ones(1), c, states[0], **options)[None]


def _vjp(needed, g, ans, theta, c, *, psi, program, strings, engine):
    of_value, of_state, of_bra = g
    parts = [] if of_value is None else [of_value * ans[2]]
    parts += [] if of_state is None else [of_state]
    if of_bra is not None:
        parts.append(apply(transposed(c, strings), 2 * of_bra[0].conj(), strings=strings, engine=engine)[None])
    g = parts[0] if len(parts) == 1 else sum(parts)
    return [pullback(theta[None, None], psi, ans[1], g, program=program, engine=engine)[0][0, 0]]


def _jvp(tangents, ans, theta, c, *, psi, program, strings, engine):
    given = {"program": program, "engine": engine}
    moving = jvp(lambda x: evolve(x[None, None], psi, **given), (theta,), (tangents[0],))[1]
    bra = 2 * apply(c, moving[0], strings=strings, engine=engine).conj()[None]
    return (ans[2] * moving).sum().real, moving, bra


def _batch(batched, *operands, **options):
    return vmap(lambda *x: in_steps(*x, **options), tuple(0 if given else None for given in batched))(*operands)


rule(energy_of_angles, shared=_vjp, forward_shared=_jvp, batch=_batch)
