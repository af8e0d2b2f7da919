"""Energies of small circuits as one node of the tape: where Python would take longer than the state.

A value and a gradient are two calls of the engine in place of five, and two steps of a frozen function.  Everything
else, batches and the second order, goes the way of `qad.circuit.evolution` and `qad.circuit.pauli_apply`.  Without
this file (`small_energy` giving None) nothing changes but the time: four qubits and four layers take 1.9 times as long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.evolution import dual, evolve_angles, pullback_angles, serving
from qad.circuit.pauli_apply import energy, slope
from qad.extend import One, defbatch, defjvp, defvjp, defvjp_tuned, primitive

if TYPE_CHECKING:
    from typing import Any

    from qad.circuit.ir import Program
    from qad.circuit.pauli_masks import Strings


class Problem:
    """What is asked: the energy of real coefficients `c` (T,) in the state that a circuit makes of `psi` (1, 1, 1)."""

    __slots__ = ("program", "c", "strings", "engine", "psi", "whole", "w")

    def __init__(self, program: Program, c: np.ndarray, strings: Strings, engine: Any, psi: np.ndarray, whole: Any):
        self.program, self.strings, self.engine, self.psi, self.whole = program, strings, engine, psi, whole
        self.c, self.w = c.copy(), whole.weights(c)  # the caller may change it before a gradient is taken


def small_energy(theta: Any, program: Program, c: Any, strings: Strings, engine: Any, psi: np.ndarray) -> Any:
    """The energy of parameters (P,) and coefficients (T,), where the engine takes the circuit as a whole, else None."""
    whole = engine.whole(program, strings, psi.dtype)
    if whole is None or theta.ndim != 1 or theta.dtype != float or type(c) is not np.ndarray:
        return None
    return energy_of_angles(theta, problem=Problem(program, c, strings, engine, psi, whole))


@primitive
def energy_of_angles(theta, *, problem):
    """``<psi|H|psi>`` of the state that a circuit with parameters (P,) makes of |0...0>."""
    return problem.whole.energy(theta, problem.w)


@primitive
def slopes_of_angles(theta, *, problem):
    """The derivatives of that with respect to all parameters (P,)."""
    return problem.whole.slopes(theta, problem.w)


def curvature(theta, direction, problem):
    """The Hessian of the energy times a direction (P,): slopes over dual numbers, see `qad.circuit.evolution`."""
    program, psi, engine = problem.program, problem.psi, serving(problem.engine, problem.program, 2)
    theta, direction = theta.reshape(1, 1, -1), direction.reshape(1, 1, -1)
    given = dual(theta, direction), dual(psi, None)
    out = evolve_angles(*given, program=program, engine=engine)
    bra = slope(np.ones(2), problem.c, out[:, 0], strings=problem.strings, engine=problem.engine)[:, None]
    found = pullback_angles(*given, out, bra[::-1], program=program, engine=engine)[0]
    return found[0, 0]


defvjp_tuned(
    energy_of_angles, lambda g, ans, theta, *, problem: g * slopes_of_angles(theta, problem=problem),
    fresh=True, lazy=(One,),
)  # fmt: skip
defjvp(energy_of_angles, lambda t, ans, theta, *, problem: (slopes_of_angles(theta, problem=problem) * t).sum())
defvjp(slopes_of_angles, lambda g, ans, theta, *, problem: curvature(theta, g, problem))
defjvp(slopes_of_angles, lambda t, ans, theta, *, problem: curvature(theta, t, problem))


# -- under qad.vmap ---------------------------------------------------------------------------------------------------


def states_of(theta, problem):
    """The final states (1, B, 2**n) of examples of parameters (B, P)."""
    return evolve_angles(theta[None], problem.psi, program=problem.program, engine=problem.engine)


def energy_rule(batched, theta, *, problem):
    """Energies (B,) of examples of parameters (B, P)."""
    states, engine = states_of(theta, problem), problem.engine
    return energy(problem.c, states, strings=problem.strings, engine=engine, shape=(len(theta),))


def slopes_rule(batched, theta, *, problem):
    """Slopes (B, P) of these examples."""
    states, engine = states_of(theta, problem), problem.engine
    bra = slope(np.ones(len(theta)), problem.c, states[0], strings=problem.strings, engine=engine)[None]
    return pullback_angles(theta[None], problem.psi, states, bra, program=problem.program, engine=engine)[0][0]


defbatch(energy_of_angles, energy_rule)
defbatch(slopes_of_angles, slopes_rule)
