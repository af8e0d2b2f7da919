"""The state after a circuit as one node of the tape, with a rule that serves every order.

The final state is linear in the numbers of every gate and in the initial state.  Its `pullback` is again a sum
over gates of products, and the derivative of that in a direction is the same circuit over numbers
``v + e dv`` with ``e e = 0`` (see `qad.circuit.reference`).  So both rules below are written in the two
primitives themselves, and higher derivatives need no others.

All arrays have axes (component, batch, entry): numbers of the gates (J, B, E), states (J, B, 2**n).
"""

import numpy as np

from qad.circuit import reference
from qad.core import jvp, vjp
from qad.extend import defjvp, defvjp, primitive


@primitive
def evolve(real, complex_, psi, *, program, engine):
    """The final states, from real and complex numbers of the gates and the initial states.

    Initial states of one amplitude stand for that multiple of |0...0>.
    """
    return engine.forward(program, real, complex_, psi)


@primitive
def pullback(real, complex_, psi, out, g, *, program, engine, owned=False):
    """Cotangents of `evolve`'s three operands, from its answer and the cotangent of that.

    The engine may write into a cotangent that is `owned`, an array of which nobody else knows.
    """
    return engine.backward(program, real, complex_, psi, out, g, owned)


def joined(x, dx):
    """The components of ``x + e dx``; what is None does not move."""
    if x is None:
        return np.concatenate([0 * dx, dx])
    return np.concatenate([x, 0 * x if dx is None else dx])


def evolve_vjp(needed, g, ans, real, complex_, psi, *, program, engine, owned=False):
    cotangents = pullback(real, complex_, psi, ans, g, program=program, engine=engine, owned=consumable(g, owned))
    return [cotangents[i] for i in needed]


def consumable(g, owned):
    """Whether a cotangent may be written into: one that is recorded may still be read."""
    return owned and type(g) is np.ndarray


def evolve_jvp(place):
    """The forward rule of one operand: the circuit over numbers of which that operand moves."""

    def rule(t, ans, *operands, program, engine):
        moved = [joined(x, t if i == place else None) for i, x in enumerate(operands)]
        return evolve(*moved, program=program, engine=higher(engine))[len(ans) :]

    return rule


def pullback_vjp(needed, g, ans, real, complex_, psi, out, dual, *, program, engine, owned=False):
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


defvjp(evolve, shared=evolve_vjp, consumes=True)
defjvp(evolve, *map(evolve_jvp, range(3)))
defvjp(pullback, shared=pullback_vjp)


# -- the same from the parameters, where all numbers follow from them: fewer nodes for the most common circuits ------


@primitive
def evolve_angles(theta, psi, *, program, engine):
    """The final states, from parameters (B, P) and the initial states."""
    return engine.forward_angles(program, theta, psi)


@primitive
def pullback_angles(theta, psi, out, g, *, program, engine, owned=False):
    """Cotangents of `evolve_angles`'s two operands, from its answer and the cotangent of that."""
    return engine.backward_angles(program, theta, psi, out, g, owned)


def by_numbers(program, engine):
    """The function of parameters and initial states by way of the numbers, whose rules serve every order."""
    return lambda theta, psi: evolve(*program.numbers(theta, []), psi, program=program, engine=engine)


def evolve_angles_vjp(needed, g, ans, theta, psi, *, program, engine, owned=False):
    cotangents = pullback_angles(theta, psi, ans, g, program=program, engine=engine, owned=consumable(g, owned))
    return [cotangents[i] for i in needed]


def pullback_angles_vjp(needed, g, ans, theta, psi, out, dual, *, program, engine, owned=False):
    def cotangents(theta, psi, dual):
        slope, initial = vjp(by_numbers(program, engine), theta, psi)[1](dual.conj())
        return slope, initial.conj()

    directions = [0 * x if d is None else d.conj() for d, x in zip(g, ans, strict=True)]
    found = vjp(cotangents, theta, psi, dual)[1](tuple(directions))
    every = [found[0], found[1].conj(), 0 * out, found[2].conj()]
    return [every[i] for i in needed]


defvjp(evolve_angles, shared=evolve_angles_vjp, consumes=True)
defjvp(
    evolve_angles,
    lambda t, ans, theta, psi, *, program, engine: jvp(lambda x: by_numbers(program, engine)(x, psi), (theta,), (t,))[
        1
    ],
    lambda t, ans, theta, psi, *, program, engine: evolve_angles(theta, t, program=program, engine=engine),
)
defvjp(pullback_angles, shared=pullback_angles_vjp)
