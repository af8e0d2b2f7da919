"""The state after a circuit as one node of the tape, with a rule that serves every order.

The final state is linear in the numbers of every gate and in the initial state.  Its `pullback` is again a sum
over gates of products, and the derivative of that in a direction is the same circuit over numbers
``v + e dv`` with ``e e = 0`` (see `qad.circuit.reference`).  So both rules below are written in the two
primitives themselves, and higher derivatives need no others.

All arrays have axes (component, batch, entry): numbers of the gates (J, B, E), states (J, B, 2**n).
"""

import numpy as np

from qad.circuit import reference
from qad.extend import defjvp, defvjp, primitive


@primitive
def evolve(real, complex_, psi, *, program, engine):
    """The final states, from real and complex numbers of the gates and the initial states.

    Initial states of one amplitude stand for that multiple of |0...0>.
    """
    return engine.forward(program, real, complex_, psi)


@primitive
def pullback(real, complex_, psi, out, g, *, program, engine):
    """Cotangents of `evolve`'s three operands, from its answer and the cotangent of that."""
    return engine.backward(program, real, complex_, psi, out, g)


def joined(x, dx):
    """The components of ``x + e dx``; what is None does not move."""
    if x is None:
        return np.concatenate([0 * dx, dx])
    return np.concatenate([x, 0 * x if dx is None else dx])


def evolve_vjp(needed, g, ans, real, complex_, psi, *, program, engine):
    cotangents = pullback(real, complex_, psi, ans, g, program=program, engine=engine)
    return [cotangents[i] for i in needed]


def evolve_jvp(place):
    """The forward rule of one operand: the circuit over numbers of which that operand moves."""

    def rule(t, ans, *operands, program, engine):
        moved = [joined(x, t if i == place else None) for i, x in enumerate(operands)]
        return evolve(*moved, program=program, engine=higher(engine))[len(ans) :]

    return rule


def pullback_vjp(needed, g, ans, real, complex_, psi, out, dual, *, program, engine):
    """With ``F = sum_i g_i . pullback_i``: the change of <dual, evolve> when all operands move along g."""
    directions = [0 * x if d is None else d for d, x in zip(g, (real, complex_, psi), strict=True)]
    moved = [joined(x, d) for x, d in zip((real, complex_, psi), directions, strict=True)]
    engine = higher(engine)
    after = evolve(*moved, program=program, engine=engine)
    count = len(ans[2])
    back = pullback(*moved, after, np.concatenate([0 * dual, dual]), program=program, engine=engine)
    every = [*(b[:count] for b in back), 0 * out, after[count:]]
    return [every[i] for i in needed]


def higher(engine):
    """The engine that serves several components."""
    return engine if engine is reference else reference


defvjp(evolve, shared=evolve_vjp)
defjvp(evolve, *map(evolve_jvp, range(3)))
defvjp(pullback, shared=pullback_vjp)
