"""Corners and edges that a step leaves as they are, element by element: one iteration for all environments.

A step keeps its bases near to those of a frame, the one before or a fixed one: then it has a fixed point, which mixing
finds quickly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qad.core.errors import ConvergenceError
from qad.extend import primitive, rule
from qad.linalg.implicit.mixing import Mixing
from qad.peps.infinite.stacks import difference, join, norms, over, overlaps, permuted, same_shape
from qad.symmetric.stacks import SymStack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from qad.peps.infinite.stacks import Stack
    from qad.typing import Array

MIXED = 1e-2  # change below which steps are mixed: farther away mixing misleads


class Around(NamedTuple):
    """Stacks of corners ``[in, out]`` and of edges ``[in, site, out]``."""

    corners: Any
    edges: Any


@primitive
def by_overlap(x: Array, *, at: np.ndarray) -> Array:
    """The members of a stack of arrays, each over its overlap with the one `at` its place, which is constant."""
    return x / (at.conj() * x).sum(tuple(range(1, x.ndim)), keepdims=True)


def _by_overlap_vjp(g: Array, y: Array, x: Array, *, at: np.ndarray) -> Array:
    back, axes = at.conj(), tuple(range(1, x.ndim))
    return (g - back * (g * y).sum(axes, keepdims=True)) / (back * x).sum(axes, keepdims=True)


rule(by_overlap, _by_overlap_vjp)


def scaled(new: Around, at: Around) -> Around:
    """Each with overlap 1 with the one `at` its place."""
    return Around(*[
        over(x, overlaps(y, x)) if type(x) is SymStack else by_overlap(x, at=y)
        for x, y in zip(new, at, strict=True)
    ])  # fmt: skip


def unit(new: Around, at: Around | None) -> Around:
    """Each of norm 1, with the phase nearest to the one `at` its place; where dimensions differ as they come."""
    return Around(*map(one, new, (None, None) if at is None else at))


def one(x: Stack, y: Stack | None) -> Stack:
    """Members with norm 1, each with the phase of another's."""
    x = over(x, norms(x))
    if y is None or not same_shape(x, y):
        return x
    overlap = overlaps(y, x)
    size = np.abs(overlap)
    return over(x, np.where(size > 1e-8, overlap / np.where(size > 1e-8, size, 1), 1))


def weighted(new: Around, old: Around, after: Sequence[int] | None = None) -> float:
    """The largest change of a corner or an edge, relative, as the environment feels it.

    That of an edge is seen between the corners, so that legs of no weight do not count; `after` says which corners of
    the stack stand behind the edges.
    """
    behind = new.corners if after is None else permuted(new.corners, tuple(after))

    def between(edges: Stack) -> np.ndarray:
        return norms(join(join(new.corners, edges, ((1,), (0,))), behind, ((2,), (0,))))

    corners = norms(difference(new.corners, old.corners)) / norms(new.corners)
    return float((corners + between(difference(new.edges, old.edges)) / between(new.edges)).max())


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
