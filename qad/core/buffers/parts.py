"""Writing into the real part of complex numbers, or into the imaginary one; the other part stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.foreign import like
from qad.core.registry.define import primitive, rule, unbroadcast
from qad.core.registry.families import ENTRIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing.words import Index, Tangent, Value


def with_part(store: Any, index: Index, v: Value, part: str, add: bool) -> Value:
    """What to write at `index` of a store of complex numbers for real `v` in the one part of them."""
    if add:
        return v * 1j if part == "imag" else v
    return exchanged(store.read(index), v, part=part)


@primitive
def exchanged(z: Value, y: Value, *, part: str) -> Value:
    """A copy of `z` with `y` in the place of its part "real" or "imag"."""
    out = like(z, y).array(np.broadcast_to(z, np.broadcast_shapes(np.shape(z), np.shape(y))))
    out = out if out.dtype.kind == "c" else like(z, y).asarray(out + 0j)  # a tangent may be real
    setattr(out, part, y)
    return out[()]


def _exchanged_forward(tangents: Sequence[Tangent], ans: Value, z: Value, y: Value, *, part: str) -> Tangent:
    t, s = tangents
    t = like(ans).zeros(ans.shape, ans.dtype) if t is None else t
    return exchanged(t, 0.0 if s is None else s, part=part)


rule(
    exchanged,
    lambda g, ans, z, y, *, part: unbroadcast(g.imag * 1j if part == "real" else g.real + 0j, np.shape(z)),
    lambda g, ans, z, y, *, part: unbroadcast(g.real if part == "real" else -g.imag, np.shape(y)),
    forward_shared=_exchanged_forward,
    batch=ENTRIES,
)
