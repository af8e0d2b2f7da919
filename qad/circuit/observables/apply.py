"""Pauli sums on states, ``H = sum_t c_t P_t``: three primitives that are each other's derivatives.

    apply      H psi                       linear in c and in psi
    brackets   sum_a a_a (P_t b)_a         per string t; bilinear
    energy     <psi|H|psi>                 real, for real coefficients

Strings that flip the same bits share one pass over the state (`qad.circuit.observables.masks`).  States have
shape (B, 2**n).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.engines.vmap_rule import each, of_none_too
from qad.extend import defvjp, primitive, rule

if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from qad.circuit.observables.masks import Strings
    from qad.typing import Array


def complex_of(psi: Array) -> Array:
    """States as complex arrays, which engines need; a cotangent may be real."""
    return psi if psi.dtype.kind == "c" else psi.astype(np.result_type(psi, np.complex64))


@primitive
def apply(c: Array, psi: Array, *, strings: Strings, engine: ModuleType) -> Array:
    """``H psi`` for coefficients (T,) and states (B, 2**n)."""
    return engine.apply_sum(c, complex_of(psi), strings)


@primitive
def brackets(a: Array, b: Array, *, strings: Strings, engine: ModuleType) -> Array:
    """``sum_B sum_x a_x (P_t b)_x`` for every string t: (T,) from two (B, 2**n)."""
    out = np.zeros(len(strings.strings), np.result_type(a, b, np.complex64))
    for x, indices, z, phases in strings.groups:
        out[indices] = phases * strings.spectrum(z, (strings.flip(a, x) * b).sum(0))
    return out


@primitive
def energy(c: Array, psi: Array, *, strings: Strings, engine: ModuleType, shape: tuple[int, ...]) -> Array:
    """``<psi|H|psi>`` of this shape for real coefficients (T,) and states (1, B, 2**n)."""
    return engine.energy_of(c, complex_of(psi[0]), strings).reshape(shape)[()]


@primitive
def slope(g: Array, c: Array, psi: Array, *, strings: Strings, engine: ModuleType) -> Array:
    """The cotangent ``2 g conj(H psi)`` of the states (B, 2**n) of energies with cotangents g (B,)."""
    image = engine.apply_sum(c, complex_of(psi), strings)
    np.conjugate(image, out=image)
    image *= (2 * g)[:, None]
    return image


def transposed(c: Array, strings: Strings) -> Array:
    """The coefficients of the transposed operator."""
    return c * strings.transposing


defvjp(
    brackets,
    lambda g, ans, a, b, *, strings, engine: apply(g, b, strings=strings, engine=engine),
    lambda g, ans, a, b, *, strings, engine: apply(transposed(g, strings), a, strings=strings, engine=engine),
    linear=True,
)


def _energy_c(g, ans, c, psi, *, strings, engine, shape):
    weighted = g.reshape(-1, 1) * psi[0].conj()
    return brackets(weighted, psi[0], strings=strings, engine=engine).real


def _energy_psi(g, ans, c, psi, *, strings, engine, shape):
    return slope(g.reshape(-1), c, psi[0], strings=strings, engine=engine)[None]


def _energy_jvp(t, ans, c, psi, *, strings, engine, shape):
    products = apply(c, psi[0], strings=strings, engine=engine).conj() * t[0]
    return 2 * products.sum(-1).real.reshape(shape)[()]


def _slope_g(h, ans, g, c, psi, *, strings, engine):
    return 2 * (h * apply(c, psi, strings=strings, engine=engine).conj()).sum(-1).real


def _slope_c(h, ans, g, c, psi, *, strings, engine):
    return brackets((2 * g)[:, None] * h.conj(), psi, strings=strings, engine=engine).real


def _slope_psi(h, ans, g, c, psi, *, strings, engine):
    return apply(transposed(c, strings), (2 * g)[:, None] * h.conj(), strings=strings, engine=engine)


# -- under qad.vmap ---------------------------------------------------------------------------------------------------


def apply_rule(batched: tuple[bool, ...], c: Array, psi: Array, **options: Any) -> Array:
    """Examples of ``H psi``, states (B, 2**n) each."""
    if batched[0]:
        return each(apply, batched, (c, psi), options)
    return apply(c, psi.reshape(-1, psi.shape[-1]), **options).reshape(psi.shape)


def energy_rule(batched: tuple[bool, ...], c: Array, psi: Array, *, shape: tuple[int, ...], **options: Any) -> Array:
    """Examples of energies, states (1, B, 2**n) each."""
    if batched[0]:
        return each(energy, batched, (c, psi), {"shape": shape, **options})
    rows = psi.reshape(1, -1, psi.shape[-1])
    return energy(c, rows, shape=rows.shape[1:2], **options).reshape(len(psi), *shape)


def slope_rule(batched: tuple[bool, ...], g: Array, c: Array, psi: Array, **options: Any) -> Array:
    """Examples of cotangents, g (B,) and states (B, 2**n) each."""
    if batched[1]:
        return each(slope, batched, (g, c, psi), options)
    examples = len(g if batched[0] else psi)
    whole = (examples, *psi.shape[-2:])
    g, psi = np.broadcast_to(g, whole[:2]), np.broadcast_to(psi, whole)
    return slope(g.reshape(-1), c, psi.reshape(-1, whole[2]), **options).reshape(whole)


rule(
    apply,
    lambda g, ans, c, psi, *, strings, engine: brackets(g, psi, strings=strings, engine=engine),
    lambda g, ans, c, psi, *, strings, engine: apply(transposed(c, strings), g, strings=strings, engine=engine),
    linear=True,
    batch=of_none_too(apply_rule),
)
rule(slope, _slope_g, _slope_c, _slope_psi, linear=True, batch=of_none_too(slope_rule), fresh=True)
rule(
    energy,
    _energy_c,
    _energy_psi,
    forward=(lambda t, ans, c, psi, **given: energy(t, psi, **given), _energy_jvp),
    batch=of_none_too(energy_rule),
    fresh=True,
)
