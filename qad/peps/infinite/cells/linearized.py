"""The first derivative of the projectors on the cuts, written out: for speed alone.

A name with a `g` behind it is the cotangent of what the name stands for; the rule of a product Z = X Y is
``Xg = Zg Y^H``, ``Yg = X^H Zg``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import defvjp, primitive
from qad.peps.infinite.cells.projectors import Spaces, smooth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Array


@primitive
def near(a: Array, b: Array, *, at: Spaces) -> tuple[Array, Array]:
    """As `smooth`, to first order: for sides a and b whose decomposition is `at`."""
    return smooth((a, b), at, 1)


def of_sides(needed: Sequence[int], g: Sequence[Array], ans: object, a: Array, b: Array, *, at: Spaces) -> list[Array]:
    """Cotangents of both sides of the cuts."""
    first_g, second_g = g[0].conj(), g[1]  # of A, and the conjugate of that of B
    s, others = at.s[:, None], at.others[:, :, None]
    k = at.turn / np.sqrt(at.s)[:, :, None]  # A = b V k, and B = a^T conj(U k)
    v_k, u_k = adjoint(b) @ first_g, a @ second_g
    vg, ug = v_k @ adjoint(k), u_k @ adjoint(k)
    turn = adjoint(at.turn)
    values_g, root_g = of_bases(adjoint(at.v) @ v_k @ turn, adjoint(at.u) @ u_k @ turn, np.sqrt(at.s))
    values_g = values_g + root_g * s
    gap = s**2 - others**2
    xg, yg = adjoint(at.rest_u) @ ug, adjoint(at.rest_v) @ vg
    eg, fg = (xg * s + others * yg) / gap, (others * xg + yg * s) / gap
    mg = (at.u @ values_g + at.rest_u @ eg) @ adjoint(at.v) + at.u @ adjoint(at.rest_v @ fg)
    mg = mg * at.scale
    ag, bg = at.u @ k @ adjoint(second_g) + mg @ adjoint(b), first_g @ adjoint(at.v @ k) + adjoint(a) @ mg
    return [(ag, bg)[i].conj() for i in needed]


defvjp(near, shared=of_sides)


def of_bases(first: Array, second: Array, root: np.ndarray) -> tuple[Array, Array]:
    """Cotangents of ``S = U^H M V``, and of ``S S^H`` by its fourth root R, from those of ``S^-1 R`` and R^-1."""
    x, y = root[:, :, None], root[:, None, :]
    first = first / x**2
    total = (first - second / (x * y)) / ((x + y) * (x * x + y * y))
    return -first / y, total + adjoint(total)


def adjoint(x: Array) -> Array:
    """Conjugate transposes of a stack."""
    return x.conj().mT
