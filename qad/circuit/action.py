"""Pauli sums on states, ``H = sum_t c_t P_t``: three primitives that are each other's derivatives.

    apply      H psi                       linear in c and in psi
    brackets   sum_a a_a (P_t b)_a         per string t; bilinear
    energy     <psi|H|psi>                 real, for real coefficients

Strings that flip the same bits share one pass over the state (`qad.circuit.masks`).  States have shape (B, 2**n).
"""

import numpy as np

from qad.extend import defjvp, defvjp, primitive


@primitive
def apply(c, psi, *, strings, engine):
    """``H psi`` for coefficients (T,) and states (B, 2**n)."""
    return engine.apply_sum(c, psi, strings)


@primitive
def brackets(a, b, *, strings, engine):
    """``sum_B sum_x a_x (P_t b)_x`` for every string t: (T,) from two (B, 2**n)."""
    out = np.zeros(len(strings.strings), np.result_type(a, b, np.complex64))
    for x, places, z, phases in strings.groups:
        out[places] = phases * strings.spectrum(z, (strings.flip(a, x) * b).sum(0))
    return out


@primitive
def energy(c, psi, *, strings, engine):
    """``<psi|H|psi>`` (B,) for real coefficients (T,)."""
    return engine.energy_of(c, psi, strings)


def _turned(c, strings):
    """The coefficients of the transposed operator."""
    return c * strings.transposing


defvjp(
    apply,
    lambda g, ans, c, psi, *, strings, engine: brackets(g, psi, strings=strings, engine=engine),
    lambda g, ans, c, psi, *, strings, engine: apply(_turned(c, strings), g, strings=strings, engine=engine),
    linear=True,
)
defvjp(
    brackets,
    lambda g, ans, a, b, *, strings, engine: apply(g, b, strings=strings, engine=engine),
    lambda g, ans, a, b, *, strings, engine: apply(_turned(g, strings), a, strings=strings, engine=engine),
    linear=True,
)
defvjp(
    energy,
    lambda g, ans, c, psi, *, strings, engine: (
        brackets(g[:, None] * psi.conj(), psi, strings=strings, engine=engine).real
    ),
    lambda g, ans, c, psi, *, strings, engine: (2 * g)[:, None] * apply(c, psi, strings=strings, engine=engine).conj(),
    fresh=True,
)
defjvp(
    energy,
    lambda t, ans, c, psi, *, strings, engine: energy(t, psi, strings=strings, engine=engine),
    lambda t, ans, c, psi, *, strings, engine: (
        2 * (apply(c, psi, strings=strings, engine=engine).conj() * t).sum(-1).real
    ),
)
