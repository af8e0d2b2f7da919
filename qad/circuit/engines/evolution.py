"""The state after a circuit as one node of the tape, with rules that serve every order.

The final state is linear in the entries of every gate and in the initial state.  Its `pullback` is again a sum
over gates of products, and the derivative of that in a direction is the same circuit over dual numbers
``v + e dv`` with ``e e = 0`` (see `qad.circuit.engines.reference`).  So the rules below are written in the two
primitives themselves, and higher derivatives need no others.

Where the parameters determine all entries (`CircuitProgram.by_angles`), the operand is these parameters, so that the
most common circuits make fewer nodes; else it is the entries.  All arrays have axes (component, batch, entry):
parameters (J, B, P), entries of the gates (J, B, E), states (J, B, 2**n).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.engines import reference
from qad.circuit.engines.vmap_rule import forward_rule, of_none_too, pullback_rule
from qad.core.errors import ArgumentError
from qad.extend import is_foreign, primitive, rule

if TYPE_CHECKING:
    from types import ModuleType

    from qad.circuit.program.ir import CircuitProgram
    from qad.typing import Array


def on_host(*arrays: Array) -> None:
    """Raise for arrays on a device, which engines do not read."""
    if any(type(x) is not np.ndarray and is_foreign(x) for x in arrays):
        raise ArgumentError(
            "states are simulated on the host: c.network(H).value() and c.network(bits).value() compute where the "
            'parameters lie; or move these by qad.to_device(x, "cpu")'
        )


@primitive
def evolve(x: Array, psi: Array, *, program: CircuitProgram, engine: ModuleType) -> Array:
    """The final states, from parameters or entries of the gates and the initial states.

    Initial states of one amplitude stand for that multiple of |0...0>.
    """
    on_host(x, psi)
    return engine.forward(program, x, psi)


@primitive
def pullback(
    x: Array, psi: Array, out: Array, g: Array, *, program: CircuitProgram, engine: ModuleType, owned: bool = False
) -> tuple[Array, Array]:
    """Cotangents of `evolve`'s two operands, from its answer and the cotangent of that.

    The engine may overwrite a cotangent that is `owned`, an array to which nobody else has a reference.
    """
    return engine.backward(program, x, psi, out, g, owned)


def dual(x: Array, dx: Array | None) -> Array:
    """The components of the dual number ``x + e dx``; a tangent of None is zero."""
    return np.concatenate([x, 0 * x if dx is None else dx])


def serving(engine: ModuleType, program: CircuitProgram, components: int) -> ModuleType:
    """The engine if it serves so many components, else that of NumPy."""
    return engine if engine.serves(program, components) else reference


def _evolve_vjp(needed, g, ans, x, psi, *, program, engine, owned=False):
    owned = owned and type(g) is np.ndarray  # a recorded one may still be read
    cotangents = pullback(x, psi, ans, g, program=program, engine=engine, owned=owned)
    return [cotangents[i] for i in needed]


def _evolve_jvp(tangents, ans, x, psi, *, program, engine):
    lifted = map(dual, (x, psi), tangents)
    return evolve(*lifted, program=program, engine=serving(engine, program, 2 * len(ans)))[len(ans) :]


def _pullback_vjp(needed, g, ans, x, psi, out, bra, *, program, engine, owned=False):
    """With ``F = sum_i g_i . pullback_i``: F is the derivative of <bra, evolve> along g in both operands."""
    lifted, count = list(map(dual, (x, psi), g)), len(out)
    given = {"program": program, "engine": serving(engine, program, 2 * count)}
    after = evolve(*lifted, **given)
    found = pullback(*lifted, after, np.concatenate([0 * bra, bra]), **given)
    every = [*(b[:count] for b in found), 0 * out, after[count:]]
    return [every[i] for i in needed]


def _pullback_jvp(tangents, ans, x, psi, out, bra, *, program, engine, owned=False):
    """Over dual numbers, the first half of the components of the cotangents are the tangents of the second half."""
    *lifted, after = map(dual, (x, psi, out), tangents[:-1])
    above = 0 * bra if tangents[-1] is None else tangents[-1]
    engine, count = serving(engine, program, 2 * len(out)), len(out)
    found = pullback(*lifted, after, np.concatenate([above, bra]), program=program, engine=engine)
    return tuple(b[:count] for b in found)


rule(
    evolve,
    shared=_evolve_vjp,
    forward_shared=_evolve_jvp,
    batch=of_none_too(forward_rule(evolve)),
    consumes=True,
)
rule(pullback, shared=_pullback_vjp, forward_shared=_pullback_jvp, batch=of_none_too(pullback_rule(pullback)))
