"""Environments as functions of the double layer: implicit derivatives of a move at its fixed point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError, ConvergenceError
from qad.core.trees import flatten, unflatten
from qad.extend import as_array, defvjp, each_alone, primitive, value_of
from qad.linalg.implicit.fixed_point import fixed_point
from qad.linalg.implicit.root import Equation, root
from qad.linalg.support.derivative_order import orders
from qad.peps.infinite.iteration import weighted
from qad.peps.infinite.stacks import norms, stacked
from qad.symmetric.stacks import SymStack

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.linalg import Report
    from qad.peps.infinite.cells.lattice import Wiring
    from qad.peps.infinite.iteration import Around
    from qad.peps.infinite.stacks import Stack
    from qad.typing import Array

LOOSER = 100.0  # what a fixed point is confirmed to, in units of what it was iterated to
LEAST = 1e-14  # of tolerances
BASES = 1e-3  # of a derivative: what adjoint equations that are solved roughly leave is far less
PRODUCTS = 300  # with a derivative of moves, before a solve begins anew: near a transition moves contract slowly


def at_rest(
    move: Callable[[Around, Any], Around],
    around: Around,
    layers: Any,
    tols: tuple[float, float],
    report: Report,
    after: Sequence[int] | None = None,
) -> Around:
    """The fixed point of ``move(around, layers)`` as a function of the recorded `layers`.

    Tolerances are those of the last change, and of the adjoint equation; `after` is that of `weighted`.
    """
    given, of_layers = flatten(layers)
    plain, limit = [as_array(value_of(x)) for x in given], LOOSER * max(tols[0], LEAST)
    solution, spec = flatten(around)
    change = weighted(move(around, unflatten(of_layers, plain)), around, after)
    if not change <= limit:
        raise ConvergenceError(
            f"the environment is not at rest: by the step of derivatives it changes by {change:.1e}, more than "
            f"{limit:.1e}: change chi a little, or lower tol"
        )

    def residual(x: Sequence[Array], given: Sequence[Array]) -> list[Array]:
        moved = flatten(move(unflatten(spec, list(x)), unflatten(of_layers, list(given))))[0]
        return [a - b for a, b in zip(x, moved, strict=True)]

    def again(residual: Callable[..., Sequence[Array]], start: Sequence[np.ndarray]) -> list[Array]:
        return fixed_point(lambda x: [a - b for a, b in zip(x, residual(x), strict=True)], list(start))

    options = {"tol": tols[1], "restart": PRODUCTS}
    # the solution is where moves were expanded: one move on, third derivatives lose four digits
    equation = Equation(residual, plain, solution, again, options=options, report=report)
    return unflatten(spec, list(root(*given, equation=equation)))


def in_any_basis(found: Around, w: Wiring) -> Around:
    """Corners and edges as they are, and a loss that depends on the bases of their bonds is refused."""
    leaves, spec = flatten(found)
    if max(map(orders, leaves)) > 1:  # cotangents of derivatives depend on bases, with what the adjoint equation adds
        return found
    around = unflatten(spec, [as_array(value_of(x)) for x in leaves])
    return unflatten(spec, list(as_they_are(*leaves, around=around, w=w)))


@primitive
def as_they_are(*leaves: Array, around: Around, w: Wiring) -> tuple[Array, ...]:
    """Numbers of corners and edges, whose cotangents are checked."""
    return leaves


def _checked(needed, g, ans, *_, around, w):
    g = [np.zeros_like(x) if c is None else c for c, x in zip(g, ans, strict=True)]
    if all(type(x) is np.ndarray for x in g):  # forward mode records them, as functions of a direction
        check_bases(around, unflatten(flatten(around)[1], g), w)
    return [g[i] for i in needed]


defvjp(as_they_are, shared=each_alone(_checked))


def check_bases(around: Around, cotangents: Around, w: Wiring) -> None:
    """Raise where a loss depends on the bases of the bonds between corners and edges, which are arbitrary.

    Unitary changes ``1 + x`` of the basis of a cut change what ends there to ``X (1 + x)``, and what begins there to
    ``(1 - x) X``: with anti-Hermitian x the loss stays as it is.
    """
    places = [(np.array(w.corner), np.array(w.side)), (np.array(w.edge), np.array(w.here))]
    total, size = 0.0, 0.0
    for x, g, (order, before) in zip(map(arrays, around), map(arrays, cotangents), places, strict=True):
        n, chi = x.shape[0], x.shape[1]
        total = np.zeros((n, chi, chi), np.result_type(x, g)) if size == 0.0 else total
        h, size = g.conj(), size + norms(x) @ norms(g)
        np.add.at(total, order, x.reshape(n, -1, chi).conj().mT @ h.reshape(n, -1, chi))
        np.add.at(total, before[order], -(h.reshape(n, chi, -1) @ x.reshape(n, chi, -1).conj().mT))
    defect = np.linalg.norm(total - total.conj().mT)
    if not defect <= BASES * size:
        raise ArgumentError(
            f"the loss depends on the bases of bonds of the environment, which are arbitrary ({defect / size:.1e} of "
            "its derivative): contract corners and edges over all of their bonds, or take singular values"
        )


def arrays(x: Stack) -> np.ndarray:
    """A stack as one array."""
    return stacked([y.to_dense() for y in x.members()], 1) if type(x) is SymStack else x
