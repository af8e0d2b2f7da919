"""Energies of small circuits as one node of the tape: there the calls take longer than the state.

The state and its image under the Hamiltonian are further outputs, which the gradient reads.  So a value and a gradient
are three calls of the engine, and every order follows from `qad.circuit.engines.evolution` and
`qad.circuit.observables.apply`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.engines.evolution import evolve, on_host, pullback
from qad.circuit.observables.apply import apply, energy, transposed
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
    """``<psi|H|psi>``, psi (1, 1, 2**n) and ``H psi`` (1, 2**n), of parameters (P,) and constant coefficients (T,).

    The circuit acts on psi (1, 1, 1), a multiple of |0...0>.
    """
    on_host(theta)
    states = engine.forward(program, theta[None, None], psi)
    image = engine.apply_sum(c, states[0], strings)
    return np.vdot(states, image).real, states, image


def in_steps(theta: Array, c: Array, *, psi: np.ndarray, program: CircuitProgram, **options: Any) -> tuple[Array, ...]:
    """The same as three nodes."""
    states = evolve(theta[None, None], psi, program=program, engine=options["engine"])
    return energy(c, states, shape=(), **options), states, apply(c, states[0], **options)


def _vjp(needed, g, ans, theta, c, *, psi, program, strings, engine):
    of_value, of_state, of_image = g
    parts = [] if of_value is None else [2 * of_value * ans[2].conj()]
    parts += [] if of_state is None else [of_state[0]]
    parts += [] if of_image is None else [apply(transposed(c, strings), of_image, strings=strings, engine=engine)]
    g = parts[0] if len(parts) == 1 else sum(parts)
    return [pullback(theta[None, None], psi, ans[1], g[None], program=program, engine=engine)[0][0, 0]]


def _jvp(tangents, ans, theta, c, *, psi, program, strings, engine):
    given = {"program": program, "engine": engine}
    moving = jvp(lambda x: evolve(x[None, None], psi, **given), (theta,), (tangents[0],))[1]
    image = apply(c, moving[0], strings=strings, engine=engine)
    return 2 * (ans[2].conj() * moving[0]).sum().real, moving, image


def _batch(batched, *operands, **options):
    return vmap(lambda *x: in_steps(*x, **options), tuple(0 if given else None for given in batched))(*operands)


rule(energy_of_angles, shared=_vjp, forward_shared=_jvp, batch=_batch)
