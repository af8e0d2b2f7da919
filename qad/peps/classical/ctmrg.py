"""Environments of classical models: found by iteration, differentiated at the fixed point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from qad.core.errors import ConvergenceError
from qad.core.trees import flatten, tree_map, unflatten
from qad.extend import no_grad, value_of
from qad.linalg.implicit.fixed_point import fixed_point
from qad.linalg.implicit.packing import Packing
from qad.linalg.krylov.gmres import Report, correction
from qad.peps.classical.ranks import two_largest

if TYPE_CHECKING:
    from qad.typing import Array, Tree

LEAST, MOST = 8, 400  # steps in which the environment grows
WINDOW = 0.25  # of chi, in which the cut looks for a gap
CALM = 1e-3  # change of a step below which many are taken at once
PATIENCE = 5  # leaps without a lesser change
PACE = 30.0  # how many, at first
INNER = 0.1  # residual of the equation of many steps
SPAN = 1e-7  # of differences of steps, relative
DISTINCT = 1e-6  # how far the two largest eigenvalues of a converged edge are apart, relative, where phases coexist
FORGOTTEN = 1.5  # how much further they are apart where a field chose a phase
ADJOINT_TOL = 1e-11
PRODUCTS = 300  # with a derivative of steps, before a solve begins anew: near a transition steps contract slowly
LOOSER = 100.0  # what a fixed point is confirmed to, in units of what it was iterated to


class Moves(Protocol):
    """What the modules `general` and `c4v` offer."""

    def start(self, tensor: np.ndarray, closing: np.ndarray | None = None) -> Tree: ...
    def grown(self, environment: Tree, tensor: np.ndarray, chi: int, window: float = 0.0) -> Tree: ...
    def favoured(self, tensor: np.ndarray) -> np.ndarray: ...
    def unfolded(self, symmetric: Tree) -> Tree: ...
    def edge(self, environment: Tree) -> np.ndarray: ...
    def rank(self, environment: Tree) -> int: ...
    def first(self, environment: Tree, tensor: np.ndarray) -> Tree: ...
    def frame(self, environment: Tree, previous: Tree) -> Tree: ...
    def step(self, environment: Tree, tensor: Array, reference: Tree) -> Tree: ...
    def distance(self, old: Tree, new: Tree) -> float: ...
    def loss(self, environment: Tree, tensor: np.ndarray, reference: Tree) -> tuple[float, float]: ...
    def per_site(self, environment: Tree, tensor: Array) -> Array: ...


def environment_of(
    tensor: Array,
    chi: int,
    moves: Moves,
    tol: float,
    maxiter: int,
    report: Report,
    closing: np.ndarray | None = None,
    symmetric: Moves | None = None,
) -> Tree:
    """The fixed point of `moves`, as a function of what `tensor` was recorded from.

    Where the tensor as it stands has the symmetries of other moves, these find it, and are quicker.
    """
    plain = np.ascontiguousarray(value_of(tensor))
    with no_grad():
        begun = symmetric and begun_by(symmetric, moves, plain, chi, tol, maxiter, closing)
        if begun is None:
            begun = begun_from(plain, chi, moves, closing)
        found, reference = converged(plain, begun, moves, tol, maxiter, report)

    def move(environment: Tree, tensor: Array) -> Tree:
        return moves.step(environment, tensor, reference)

    def size(change: Tree, environment: Tree) -> float:
        return moves.distance(tree_map(lambda x, y: x - y, environment, change), environment)

    limits = {"tol": LOOSER * tol, "adjoint_tol": ADJOINT_TOL, "adjoint_restart": PRODUCTS, "norm": size}
    given = Report()
    environment = fixed_point(move, found, tensor, method="given", report=given, **limits)
    report.adjoint = given.adjoint
    return environment


def begun_by(
    symmetric: Moves, moves: Moves, tensor: np.ndarray, chi: int, tol: float, maxiter: int, closing: np.ndarray | None
) -> Tree | None:
    """The fixed point of symmetric moves as an environment of general ones; None if phases break the symmetry."""
    try:
        begun = begun_from(tensor, chi, symmetric, closing)
        found = converged(tensor, begun, symmetric, tol, maxiter, Report())[0]
    except ConvergenceError:
        return None
    environment = moves.unfolded(found)
    return None if apart(environment, moves) < DISTINCT else environment


def begun_from(tensor: np.ndarray, chi: int, moves: Moves, closing: np.ndarray | None) -> Tree:
    """An environment to iterate from."""
    return of_one_phase(tensor, chi, moves) if closing is None else grown(tensor, chi, moves, closing)


def apart(environment: Tree, moves: Moves) -> float:
    """How far the two largest eigenvalues of an edge are apart, relative: next to nothing in a sum of phases."""
    second, first = two_largest(moves.edge(environment))
    return 1 - second / first


def of_one_phase(tensor: np.ndarray, chi: int, moves: Moves) -> Tree:
    """An environment of a single phase.

    Where phases coexist, their shares stay as they are from step to step, so that a sum of them is no isolated fixed
    point and has no derivatives.  An environment that begins in a field, which breaks all symmetries of a site alike
    on all sides and is taken away again, is then one of them, and its correlations decay faster than in the sum.
    Elsewhere the field is forgotten but for what was cut meanwhile, and the plain beginning is the better one.
    """
    plain = grown(tensor, chi, moves)
    favoured = settled(moves.start(tensor), moves.favoured(tensor), int((1 + WINDOW) * chi), moves)
    favoured = grown(tensor, chi, moves, environment=favoured)
    return favoured if apart(favoured, moves) > FORGOTTEN * apart(plain, moves) else plain


def grown(
    tensor: np.ndarray, chi: int, moves: Moves, closing: np.ndarray | None = None, environment: Tree | None = None
) -> Tree:
    """An environment of about `chi` states per bond, cut at a gap, whose value has settled."""
    environment = moves.start(tensor, closing) if environment is None else environment
    environment = settled(environment, tensor, int((1 + WINDOW) * chi), moves)
    environment = moves.grown(environment, tensor, chi, WINDOW)
    for _ in range(LEAST):
        environment = moves.grown(environment, tensor, moves.rank(environment))
    return environment


def settled(environment: Tree, tensor: np.ndarray, chi: int, moves: Moves) -> Tree:
    """An environment grown until its value has settled."""
    last = np.inf
    for n in range(MOST):
        environment = moves.grown(environment, tensor, chi)
        value = moves.per_site(environment, tensor)
        if n >= LEAST and abs(value - last) < 1e-10 * abs(value):
            break
        last = value
    return environment


def converged(
    tensor: np.ndarray, environment: Tree, moves: Moves, tol: float, maxiter: int, report: Report
) -> tuple[Tree, Tree]:
    """The fixed point at this number of states, and the reference in whose basis it is one.

    Each step follows the basis of the last.  Once steps are small, many are taken at once: a `leap`, longer the faster
    steps shrink, and again a shorter one where they have grown (C. T. Kelley and D. E. Keyes, SIAM J. Numer. Anal. 35,
    508 (1998)).
    """
    for _ in range(LEAST):
        environment = rescaled(moves.step(environment, tensor, moves.first(environment, tensor)))
    reference, pace, last = moves.first(environment, tensor), PACE, None
    report.iterations, least, since = 0, np.inf, 0
    while report.iterations < maxiter:
        reference = moves.frame(environment, reference)
        new = rescaled(moves.step(environment, tensor, reference))
        change = report.residual = float(moves.distance(environment, new))
        report.iterations += 1
        since = 0 if change < least else since + 1
        least = min(change, least)
        if change <= tol or (change <= LOOSER * tol and since > PATIENCE):  # what rounding leaves
            check_kept(*moves.loss(new, tensor, reference))
            return new, (reference[0], new)
        if last is None and not change < CALM:
            environment = new
            if not np.isfinite(change):
                break
            continue
        if last is None or change < 2 * last[0]:
            faster = 1.0 if last is None else min(3.0, max(1.5 if change < last[0] else 0.7, last[0] / change))
            pace, last = pace * faster, (change, environment, reference)
        elif pace > 1:
            pace, (_, environment, reference) = max(1.0, pace / 3), last
        environment = leap(environment, tensor, moves, reference, pace, report)
    raise ConvergenceError(
        f"partition_function: after {report.iterations} steps the environment still changes by {report.residual:.3g} "
        f"(tol={tol:.3g}): near a transition raise maxiter or tol, or take another chi; sites that alternate belong "
        "into one tensor"
    )


def leap(environment: Tree, tensor: np.ndarray, moves: Moves, reference: Tree, pace: float, report: Report) -> Tree:
    """About `pace` steps f at once, those of the implicit method of Euler: ``x + (1 + 1 / pace - f')^-1 (f(x) - x)``.

    Directions in which single steps hardly move are taken whole, and those in which they lead nowhere stay bounded.
    """
    leaves, spec = flatten(environment)
    packing = Packing(leaves)
    x = packing.pack(leaves)

    def stepped(v: np.ndarray) -> np.ndarray:
        report.iterations += 1
        return packing.pack(flatten(moves.step(unflatten(spec, packing.unpack(v)), tensor, reference))[0])

    y = stepped(x)
    width = SPAN * np.linalg.norm(x)

    def product(v: np.ndarray) -> np.ndarray:
        h = width / np.linalg.norm(v)
        return (1 + 1 / pace) * v - (stepped(x + h * v) - y) / h

    change = correction(product, y - x, INNER * np.linalg.norm(y - x), min(PRODUCTS, x.size))
    ahead = rescaled(unflatten(spec, packing.unpack(x + change)))
    report.iterations += 1
    return rescaled(moves.step(ahead, tensor, reference))


def check_kept(left_out: float, least: float) -> None:
    """Raise where a fixed point keeps other states than the leading ones: leaps may find what single steps leave."""
    if left_out > 100 * least + 1e-6:
        raise ConvergenceError(
            f"partition_function: the environment found leaves out {left_out:.3g} of two quarters where {least:.3g} "
            "would do, so that it is not the leading one: take another chi, or another boundary"
        )


def rescaled(environment: Tree) -> Tree:
    """All tensors with norm one."""
    return tree_map(lambda x: x / np.linalg.norm(x), environment)
