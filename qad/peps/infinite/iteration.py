"""Corners and edges that a step leaves as they are, element by element: one iteration for all environments.

A step keeps its bases near to those of a frame, the one before or a fixed one: then it has a fixed point, which mixing
finds quickly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qad.core.errors import ConvergenceError
from qad.extend import primitive, rule
from qad.linalg.implicit.mixing import Mixing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from qad.typing import Array

AXES = (-2, -1), (-3, -2, -1)  # of one corner, and of one edge
MIXED = 1e-2  # change below which steps are mixed: farther away mixing misleads


class Around(NamedTuple):
    """Corners ``[in, out]`` and edges ``[in, site, out]``: stacks of them, or one of each."""

    corners: Array  # (..., chi, chi)
    edges: Array  # (..., chi, D^2, chi)


@primitive
def by_overlap(x: Array, *, at: np.ndarray, axes: tuple[int, ...]) -> Array:
    """Arrays of the last `axes`, each over its overlap with the one `at` its place, which is constant."""
    return x / (at.conj() * x).sum(axes, keepdims=True)


def _by_overlap_vjp(g: Array, y: Array, x: Array, *, at: np.ndarray, axes: tuple[int, ...]) -> Array:
    back = at.conj()
    return (g - back * (g * y).sum(axes, keepdims=True)) / (back * x).sum(axes, keepdims=True)


rule(by_overlap, _by_overlap_vjp)


def scaled(new: Around, at: Around) -> Around:
    """Each with overlap 1 with the one `at` its place."""
    return Around(*(by_overlap(x, at=y, axes=axes) for x, y, axes in zip(new, at, AXES, strict=True)))


def unit(new: Around, at: Around | None) -> Around:
    """Each of norm 1, with the phase nearest to the one `at` its place; where dimensions differ as they come."""
    return Around(*map(one, new, (None, None) if at is None else at, AXES))


def one(x: np.ndarray, y: np.ndarray | None, axes: tuple[int, ...]) -> np.ndarray:
    """Arrays with norm 1, each of the last `axes`, and the phases of others."""
    flat, ones = x.reshape(*x.shape[: axes[0]], -1), (1,) * len(axes)
    norms = np.sqrt(np.vecdot(flat, flat).real)
    x = x / norms.reshape(*norms.shape, *ones)
    if y is None or x.shape != y.shape:
        return x
    overlap = np.vecdot(x.reshape(flat.shape), y.reshape(flat.shape))
    size = np.abs(overlap)
    phase = np.where(size > 1e-8, overlap / np.where(size > 1e-8, size, 1), 1)
    return x * phase.reshape(*phase.shape, *ones)


def weighted(new: Around, old: Around, after: Sequence[int] | None = None) -> float:
    """The largest change of a corner or an edge, relative, as the environment feels it.

    That of an edge is seen between the corners, so that legs of no weight do not count; `after` says which corners of
    the stack stand behind the edges.
    """
    *stack, chi, p, _ = new.edges.shape
    behind = new.corners if after is None else new.corners[list(after)]

    def size(x: np.ndarray) -> np.ndarray:
        flat = x.reshape(*stack, -1)
        return np.sqrt(np.vecdot(flat, flat).real)

    def between(edges: np.ndarray) -> np.ndarray:
        half = new.corners @ edges.reshape(*stack, chi, p * chi)
        return size(half.reshape(*stack, chi * p, chi) @ behind)

    corners = size(new.corners - old.corners) / size(new.corners)
    return float((corners + between(new.edges - old.edges) / between(new.edges)).max())


def calm(
    step: Callable[[Around, Any], tuple[Around, Any]],
    around: Around,
    frame: Any,
    change: Callable[[Around, Around], float],
    tol: float,
    maxiter: int,
    held: Callable[[Any, Any], Any],
    memory: int,
) -> Iterator[tuple[Around, Any, float, int]]:
    """Iterate ``around, frame = step(around, frame)``, and yield wherever the change is below `tol`.

    Parameters
    ----------
    change : callable
        How much the next corners and edges differ from the last ones.
    held : callable
        ``held(frame, next)``, the frame that is gone on with once steps are mixed.
    memory : int
        How many steps are mixed.

    Yields
    ------
    corners and edges, their frame, the last change, and the number of steps

    Raises
    ------
    ConvergenceError
        If nobody is content with what was yielded until `maxiter` steps are done; it has the history of changes.
    """
    mixing, history = None, []
    for n in range(1, maxiter + 1):
        new, turned = step(around, frame)
        history.append(change(new, around))
        if not np.isfinite(history[-1]):
            break
        if history[-1] <= tol:
            yield new, turned, history[-1], n
        if mixing is None:
            around, frame, mixing = new, turned, Mixing(memory) if history[-1] < MIXED else None
        else:
            around, frame = mixing.of_trees(around, new, history[-1]), held(frame, turned)
    shown = ", ".join(f"{change:.1e}" for change in history[:: max(len(history) // 8, 1)])
    raise ConvergenceError(
        f"the environment did not converge to tol={tol:.1e} in {len(history)} moves; changes on the way: {shown}. "
        "Raise chi (small ones may cycle). Change chi a little (a cut through a near-multiplet is never at rest), "
        "raise maxiter or tol, or start from another state: one whose corner has equal leading values is a "
        "superposition of several"
    )
