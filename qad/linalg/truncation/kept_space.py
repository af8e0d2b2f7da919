"""The kept space of a truncation as the solution of an equation, for operators known by their products alone.

With the kept vectors U_0, V_0 and values s at the point held fixed, bases U and V of the kept spaces solve

    (A V - U U_0^H A V) / s = 0,      (A^H U - V V_0^H A^H U) / s = 0,

which fixes ``U_0^H U = V_0^H V = 1`` as well.  Its derivative is Sylvester's equation of the coupling to what is
discarded (Francuz, Schuch and Vanhecke, arXiv:2311.11894), solved by GMRES; its eigenvalues are ``-1 +- t / s`` for
discarded values t, so that the equation needs only a gap between kept and discarded values.  Of Hermitian matrices one
of the two suffices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.linalg.implicit.root import attach
from qad.linalg.krylov.block_lanczos import triples
from qad.linalg.support.hermitian_parts import adjoint

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from qad.typing import Array


def singular_spaces(
    apply: Callable[[Array], Array], transpose: Callable[[Array], Array], u0: Array, s: Array, v0: Array, **how: Any
) -> tuple[Array, Array]:
    """U (m, k) and V (n, k), differentiable, for the recorded operator `apply` and its adjoint `transpose`."""
    uh, vh = adjoint(u0), adjoint(v0)

    def equation(x):
        u, v = x
        av, au = apply(v), transpose(u)
        return (av - u @ (uh @ av)) / s, (au - v @ (vh @ au)) / s

    def again(f, solution):
        u, v = solution
        k = s.size
        forth, back = _in_blocks(lambda x: f([u * 0, x])[0] * s, k), _in_blocks(lambda x: f([x, v * 0])[1] * s, k)
        u, _, wh = triples(forth, back, v[:, 0], k, "truncated_svd")
        u, v = u[:, :k], adjoint(wh)[:, :k]
        return [u @ np.linalg.inv(uh @ u), v @ np.linalg.inv(vh @ v)]

    return attach(equation, (u0, v0), again, **how)


def eigenspace(apply: Callable[[Array], Array], w: Array, v0: Array, **how: Any) -> Array:
    """V (n, k) of a Hermitian operator, with the eigenvalues `w` of largest size."""
    vh = adjoint(v0)

    def equation(v):
        av = apply(v)
        return (av - v @ (vh @ av)) / w

    def again(f, solution):
        (v,) = solution
        wide = _in_blocks(lambda x: (f([x])[0] - f([-x])[0]) * (w / 2), w.size)  # the odd part of the equation
        _, _, wh = triples(wide, wide, v[:, 0], w.size, "truncated_eigh")
        v = adjoint(wh)[:, : w.size]
        return [v @ np.linalg.inv(vh @ v)]

    return attach(equation, v0, again, **how)


def _in_blocks(f, k):
    """`f`, which takes k columns, for any number of them."""

    def wide(x):
        padded = np.pad(x, ((0, 0), (0, -x.shape[1] % k)))
        return np.column_stack([f(padded[:, i : i + k]) for i in range(0, x.shape[1], k)])[:, : x.shape[1]]

    return wide
