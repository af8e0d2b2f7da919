"""Pauli sums on states, ``H = sum_t c_t P_t``: three primitives that are each other's derivatives.

    apply      H psi                       linear in c and in psi
    brackets   sum_a a_a (P_t b)_a         per string t; bilinear
    energy     <psi|H|psi>                 real, for real coefficients

Strings that flip the same bits share one pass over the state (`qad.circuit.masks`).  States have shape (B, 2**n).
"""

import numpy as np

from qad.extend import defjvp, defvjp, primitive


@primitive
def apply(c, psi, *, strings):
    """``H psi`` for coefficients (T,) and states (B, 2**n)."""
    out = np.zeros(psi.shape, np.result_type(psi.dtype, psi.dtype if c.dtype.kind == "f" else complex))
    for x, places, z, phases in strings.groups:
        out += strings.flip(strings.diagonal(z, weights(c[places], phases, psi)) * psi, x)
    return out


@primitive
def brackets(a, b, *, strings):
    """``sum_B sum_x a_x (P_t b)_x`` for every string t: (T,) from two (B, 2**n)."""
    out = np.zeros(len(strings.strings), np.result_type(a, b, np.complex64))
    for x, places, z, phases in strings.groups:
        out[places] = phases * strings.spectrum(z, (strings.flip(a, x) * b).sum(0))
    return out


@primitive
def energy(c, psi, *, strings):
    """``<psi|H|psi>`` (B,) for real coefficients (T,)."""
    total = 0.0
    for x, places, z, phases in strings.groups:
        diagonal = strings.diagonal(z, weights(c[places], phases, psi))
        total = total + (strings.flip(psi, x).conj() * diagonal * psi).sum(-1).real
    return total


def weights(c, phases, psi):
    """Coefficients with their phases: real where they are, and no more precise than the state."""
    product = c * phases
    product = product if product.imag.any() else product.real
    return product.astype(psi.dtype if product.dtype.kind == "c" else psi.real.dtype, copy=False)


def _turned(c, strings):
    """The coefficients of the transposed operator."""
    return c * strings.transposing


defvjp(
    apply,
    lambda g, ans, c, psi, *, strings: brackets(g, psi, strings=strings),
    lambda g, ans, c, psi, *, strings: apply(_turned(c, strings), g, strings=strings),
    linear=True,
)
defvjp(
    brackets,
    lambda g, ans, a, b, *, strings: apply(g, b, strings=strings),
    lambda g, ans, a, b, *, strings: apply(_turned(g, strings), a, strings=strings),
    linear=True,
)
defvjp(
    energy,
    lambda g, ans, c, psi, *, strings: brackets(g[:, None] * psi.conj(), psi, strings=strings).real,
    lambda g, ans, c, psi, *, strings: (2 * g)[:, None] * apply(c, psi, strings=strings).conj(),
    fresh=True,
)
defjvp(
    energy,
    lambda t, ans, c, psi, *, strings: energy(t, psi, strings=strings),
    lambda t, ans, c, psi, *, strings: 2 * (apply(c, psi, strings=strings).conj() * t).sum(-1).real,
)
