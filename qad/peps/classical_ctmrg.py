"""Environments of classical models: found by iteration, differentiated at the fixed point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from qad.core.errors import ConvergenceError
from qad.core.trees import tree_map
from qad.extend import no_grad, value_of
from qad.linalg.implicit.fixed_point import fixed_point
from qad.linalg.implicit.gmres import Report
from qad.linalg.implicit.mixing import Mixing

if TYPE_CHECKING:
    from qad.typing import Array, Tree

LEAST, MOST = 8, 400  # steps in which the environment grows
WINDOW = 0.25  # of chi, in which the cut looks for a gap
CALM = 1e-3  # change of a step below which steps are mixed
HISTORY = 8
ADJOINT_TOL = 1e-11
LOOSER = 100.0  # what a fixed point is confirmed to, in units of what it was iterated to


class Moves(Protocol):
    """What `classical_general` and `classical_c4v` offer."""

    def start(self, tensor: np.ndarray, closing: np.ndarray | None = None) -> Tree: ...
    def grown(self, environment: Tree, tensor: np.ndarray, chi: int, window: float = 0.0) -> Tree: ...
    def rank(self, environment: Tree) -> int: ...
    def first(self, environment: Tree, tensor: np.ndarray) -> Tree: ...
    def frame(self, environment: Tree, previous: Tree) -> Tree: ...
    def step(self, environment: Tree, tensor: Array, reference: Tree) -> Tree: ...
    def distance(self, old: Tree, new: Tree) -> float: ...
    def loss(self, environment: Tree, tensor: np.ndarray, reference: Tree) -> tuple[float, float]: ...
    def per_site(self, environment: Tree, tensor: Array) -> Array: ...


def environment_of(
    tensor: Array, chi: int, moves: Moves, tol: float, maxiter: int, report: Report, closing: np.ndarray | None = None
) -> Tree:
    """The fixed point of `moves`, as a function of what `tensor` was recorded from."""
    plain = np.ascontiguousarray(value_of(tensor))
    with no_grad():
        found, reference = converged(plain, grown(plain, chi, moves, closing), moves, tol, maxiter, report)

    def move(environment: Tree, tensor: Array) -> Tree:
        return moves.step(environment, tensor, reference)

    def size(change: Tree, environment: Tree) -> float:
        return moves.distance(tree_map(lambda x, y: x - y, environment, change), environment)

    limits = {"tol": LOOSER * tol, "adjoint_tol": ADJOINT_TOL, "norm": size}
    given = Report()
    environment = fixed_point(move, found, tensor, method="given", report=given, **limits)
    report.adjoint = given.adjoint
    return environment


def grown(tensor: np.ndarray, chi: int, moves: Moves, closing: np.ndarray | None = None) -> Tree:
    """An environment of about `chi` states per bond, cut at a gap, whose value has settled."""
    environment, last = moves.start(tensor, closing), None
    most = int((1 + WINDOW) * chi)
    for n in range(MOST):
        environment = moves.grown(environment, tensor, most)
        value = moves.per_site(environment, tensor)
        if n >= LEAST and abs(value - last) < 1e-10 * abs(value):
            break
        last = value
    environment = moves.grown(environment, tensor, chi, WINDOW)
    for _ in range(LEAST):
        environment = moves.grown(environment, tensor, moves.rank(environment))
    return environment


def converged(
    tensor: np.ndarray, environment: Tree, moves: Moves, tol: float, maxiter: int, report: Report
) -> tuple[Tree, Tree]:
    """The fixed point at this number of states, and the reference in whose basis it is one.

    First each step follows the basis of the last.  Once steps are small the basis stays, and steps are mixed.
    """
    for _ in range(LEAST):
        environment = rescaled(moves.step(environment, tensor, moves.first(environment, tensor)))
    reference, mixing = moves.first(environment, tensor), None
    for n in range(1, maxiter + 1):
        if mixing is None:
            reference = moves.frame(environment, reference)
        new = rescaled(moves.step(environment, tensor, reference))
        change = moves.distance(environment, new)
        report.iterations, report.residual = n, float(change)
        if change <= tol and mixing is not None:
            check_kept(*moves.loss(new, tensor, reference))
            return new, (reference[0], new)
        if not np.isfinite(change):
            break
        if mixing is None and change < CALM:
            mixing, reference = Mixing(HISTORY), (reference[0], environment)
        elif mixing is not None and change > 10 * CALM:
            mixing = None
        environment = new if mixing is None else rescaled(mixing.of_trees(environment, new))
    raise ConvergenceError(
        f"partition_function: after {n} steps the environment still changes by {change:.3g} (tol={tol:.3g}): near a "
        "transition raise maxiter or tol, or take another chi; sites that alternate belong into one tensor"
    )


def check_kept(left_out: float, least: float) -> None:
    """Raise where a fixed point keeps other states than the leading ones: mixing may find what plain steps leave."""
    if left_out > 100 * least + 1e-6:
        raise ConvergenceError(
            f"partition_function: the environment found leaves out {left_out:.3g} of two quarters where {least:.3g} "
            "would do, so that it is not the leading one: take another chi, or another boundary"
        )


def rescaled(environment: Tree) -> Tree:
    """All tensors with norm one."""
    return tree_map(lambda x: x / np.linalg.norm(x), environment)
