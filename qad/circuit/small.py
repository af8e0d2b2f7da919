"""Energies of small circuits as one node of the tape: where Python would take longer than the state.

A value and a gradient are two calls of the engine in place of five, and two steps of a frozen function.  All
batches and orders beyond the second go the way of `qad.circuit.evolution` and `qad.circuit.pauli_apply`.  Without
this file (`small_energy` giving None) nothing changes but the time: four qubits take three times as long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.evolution import dual, evolve_angles, on_host, pullback_angles, serving
from qad.circuit.pauli_apply import energy, slope
from qad.circuit.vmap_rule import of_none_too
from qad.extend import One, jvp, primitive, rule, vjp

if TYPE_CHECKING:
    from typing import Any

    from qad.circuit.ir import Program
    from qad.circuit.pauli_masks import Strings
    from qad.typing import Array


class Problem:
    """What is asked: the energy of real coefficients `c` (T,) in the state that a circuit makes of `psi` (1, 1, 1)."""

    __slots__ = ("program", "c", "strings", "engine", "psi", "whole", "w")
    program: Program
    strings: Strings
    engine: Any
    psi: np.ndarray
    whole: Any
    c: np.ndarray
    w: np.ndarray

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
def energy_of_angles(theta: Array, *, problem: Problem) -> Array:
    """``<psi|H|psi>`` of the state that a circuit with parameters (P,) makes of |0...0>."""
    on_host(theta)
    return problem.whole.energy(theta, problem.w)


@primitive
def slopes_of_angles(theta: Array, *, problem: Problem) -> Array:
    """The derivatives of that with respect to all parameters (P,)."""
    return problem.whole.slopes(theta, problem.w)


@primitive
def curvatures(theta: Array, directions: Array, *, problem: Problem) -> Array:
    """The Hessian of the energy times directions (B, P)."""
    return problem.whole.curvatures(theta, directions, problem.w)


def curvature(theta: Array, direction: Array, problem: Problem) -> Array:
    """The Hessian times one direction (P,)."""
    return curvatures(theta, direction[None], problem=problem)[0]


def in_steps(theta: Array, directions: Array, problem: Problem) -> Array:
    """`curvatures` as slopes over dual numbers, see `qad.circuit.evolution`: for all orders, and parameters (B, P)."""
    program, engine = problem.program, serving(problem.engine, problem.program, 2)
    theta = theta + np.zeros(directions.shape)
    given = dual(theta[None], directions[None]), dual(problem.psi, None)
    out = evolve_angles(*given, program=program, engine=engine)
    rows = out.reshape(-1, out.shape[-1])
    bra = slope(np.ones(len(rows)), problem.c, rows, strings=problem.strings, engine=problem.engine)
    return pullback_angles(*given, out, bra.reshape(out.shape)[::-1], program=program, engine=engine)[0][0]


def _curvatures_theta(g, ans, theta, directions, *, problem):
    return vjp(lambda x: in_steps(x, directions, problem), theta)[1](g)[0]


def _curvatures_along(t, ans, theta, directions, *, problem):
    return jvp(lambda x: in_steps(x, directions, problem), (theta,), (t,))[1]


def _curvatures_again(g, ans, theta, directions, *, problem):
    return curvatures(theta, g, problem=problem)  # linear in the directions, and symmetric


# -- under qad.vmap ---------------------------------------------------------------------------------------------------


def states_of(theta: Array, problem: Problem) -> Array:
    """The final states (1, B, 2**n) of examples of parameters (B, P)."""
    return evolve_angles(theta[None], problem.psi, program=problem.program, engine=problem.engine)


def energy_rule(batched: tuple[bool, ...], theta: Array, *, problem: Problem) -> Array:
    """Energies (B,) of examples of parameters (B, P)."""
    states, engine = states_of(theta, problem), problem.engine
    return energy(problem.c, states, strings=problem.strings, engine=engine, shape=(len(theta),))


def slopes_rule(batched: tuple[bool, ...], theta: Array, *, problem: Problem) -> Array:
    """Slopes (B, P) of these examples."""
    states, engine = states_of(theta, problem), problem.engine
    bra = slope(np.ones(len(theta)), problem.c, states[0], strings=problem.strings, engine=engine)[None]
    return pullback_angles(theta[None], problem.psi, states, bra, program=problem.program, engine=engine)[0][0]


def curvatures_rule(batched: tuple[bool, ...], theta: Array, directions: Array, *, problem: Problem) -> Array:
    """Hessians times directions, examples of parameters (P,), of directions (B, P), or of both."""
    examples, shape = len(theta if batched[0] else directions), directions.shape[-2:]
    directions = (directions + np.zeros((examples, *shape))).reshape(-1, shape[1])
    if not batched[0]:
        return curvatures(theta, directions, problem=problem).reshape(examples, *shape)
    theta = (theta[:, None] + np.zeros((examples, *shape))).reshape(-1, shape[1])
    return in_steps(theta, directions, problem).reshape(examples, *shape)


rule(
    energy_of_angles,
    lambda g, ans, theta, *, problem: g * slopes_of_angles(theta, problem=problem),
    forward=lambda t, ans, theta, *, problem: (slopes_of_angles(theta, problem=problem) * t).sum(),
    batch=of_none_too(energy_rule),
    fresh=True,
    lazy=(One,),
)
rule(
    slopes_of_angles,
    lambda g, ans, theta, *, problem: curvature(theta, g, problem),
    forward=lambda t, ans, theta, *, problem: curvature(theta, t, problem),
    batch=of_none_too(slopes_rule),
)
rule(
    curvatures,
    _curvatures_theta,
    _curvatures_again,
    forward=(_curvatures_along, _curvatures_again),
    batch=of_none_too(curvatures_rule),
)
