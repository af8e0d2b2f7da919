"""Environments of classical models: found by iteration, differentiated at the fixed point."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy  # loads scipy.sparse.linalg when it is first used

from qad.core.errors import ConvergenceError
from qad.extend import as_array, no_grad, value_of
from qad.linalg.implicit.packing import Packing
from qad.linalg.krylov.gmres import Report, correction
from qad.peps.classical.moves import GENERAL, TURNED, Frame, begun, first, frame, grown, loss, per_site, seen, step
from qad.peps.infinite.cut import MOST
from qad.peps.infinite.implicit import LOOSER, PRODUCTS, at_rest
from qad.peps.infinite.iteration import Around, unit, weighted
from qad.peps.infinite.symmetry import elements
from qad.peps.infinite.transfer import two_largest
from qad.showing.progress import bar_for

if TYPE_CHECKING:
    from typing import Any

    from qad.peps.infinite.cells.lattice import Wiring
    from qad.typing import Array

LEAST, MOST_STEPS = 8, 400  # in which the environment grows
FIELD = 0.1  # which chooses a phase, relative
CALM = 1e-3  # change of a step below which many are taken at once
PATIENCE = 5  # leaps without a lesser change
PACE = 30.0  # how many, at first
INNER = 0.1  # residual of the equation of many steps
SPAN = 1e-7  # of differences of steps, relative
DISTINCT = 1e-6  # how far the two largest eigenvalues of a converged edge are apart, relative, where phases coexist
FORGOTTEN = 1.5  # how much further they are apart where a field chose a phase
ADJOINT_TOL = 1e-11


def environment_of(
    tensor: Array, chi: int, symmetric: bool, tol: float, maxiter: int, report: Report, closing: np.ndarray | None
) -> Around:
    """The environment of a tensor, as a function of what it was recorded from; one side where it is `symmetric`.

    Where the tensor as it stands has all symmetries of the lattice, one side finds it for all, and is quicker.
    """
    w = TURNED if symmetric else GENERAL
    layers, plain = seen(tensor, w), np.ascontiguousarray(value_of(tensor))
    with no_grad(), bar_for(label="environment") as bar:
        begun = begun_by_one_side(plain, chi, tol, maxiter, closing, bar) if not symmetric and is_c4v(plain) else None
        if begun is None:
            begun = begun_from(plain, chi, w, closing)
        reference = converged(as_array(value_of(layers)), begun, w, tol, maxiter, report, bar)

    def move(around: Around, layers: Array) -> Around:
        return step(around, layers, w, reference)

    return at_rest(move, reference.around, layers, (tol, ADJOINT_TOL), report, w.after)


def begun_by_one_side(
    tensor: np.ndarray, chi: int, tol: float, maxiter: int, closing: np.ndarray | None, bar: Any
) -> Around | None:
    """The environment of a symmetric tensor, its one side repeated; None if phases break the symmetry."""
    try:
        begun = begun_from(tensor, chi, TURNED, closing)
        found = converged(seen(tensor, TURNED), begun, TURNED, tol, maxiter, Report(), bar).around
    except ConvergenceError:
        return None
    return None if apart(found) < DISTINCT else Around(*(np.repeat(x, 4, axis=0) for x in found))


def is_c4v(tensor: np.ndarray) -> bool:
    """Whether a tensor is real and the same under rotations and reflections."""
    small = 1e-12 * np.max(np.abs(tensor))
    same = tensor.dtype.kind == "f" and len(set(tensor.shape)) == 1
    return same and all(np.max(np.abs(tensor - tensor.transpose(p))) <= small for p in ((1, 2, 3, 0), (0, 3, 2, 1)))


def begun_from(tensor: np.ndarray, chi: int, w: Wiring, closing: np.ndarray | None) -> Around:
    """An environment to iterate from."""
    return (
        of_one_phase(tensor, chi, w) if closing is None else about(seen(tensor, w), begun(tensor, w, closing), chi, w)
    )


def apart(around: Around) -> float:
    """How far the two largest eigenvalues of an edge are apart, relative: next to nothing in a sum of phases."""
    edge = around.edges[0]
    try:
        first, second = two_largest([edge.conj()], [edge])
    except scipy.sparse.linalg.ArpackError:  # levels crowd
        return 0.0
    return 1 - second / first


def of_one_phase(tensor: np.ndarray, chi: int, w: Wiring) -> Around:
    """An environment of a single phase.

    Where phases coexist, their shares stay as they are from step to step, so that a sum of them is no isolated fixed
    point and has no derivatives.  An environment that begins in a field, which breaks all symmetries of a site alike
    on all sides and is taken away again, is then one of them, and its correlations decay faster than in the sum.
    Elsewhere the field is forgotten but for what was cut meanwhile, and the plain beginning is the better one.
    """
    layers, rim = seen(tensor, w), begun(tensor, w)
    plain = about(layers, rim, chi, w)
    field = tensor * (1 + FIELD * np.random.default_rng(0).uniform(-1, 1, tensor.shape))
    if w is TURNED:
        field = sum(field.transpose(legs) for legs, *_ in elements("c4v")) / 8
    favoured = about(layers, settled(seen(field, w), rim, int(MOST * chi), w), chi, w)
    return favoured if apart(favoured) > FORGOTTEN * apart(plain) else plain


def about(layers: np.ndarray, around: Around, chi: int, w: Wiring) -> Around:
    """An environment of about `chi` states per bond, cut at a gap, whose value has settled, grown from another one."""
    around = grown(settled(layers, around, int(MOST * chi), w), layers, w, chi, at_gap=True)
    for _ in range(LEAST):
        around = grown(around, layers, w, around.corners.shape[1])
    return around


def settled(layers: np.ndarray, around: Around, chi: int, w: Wiring) -> Around:
    """An environment grown until its value has settled."""
    last = np.inf
    for n in range(MOST_STEPS):
        around = grown(around, layers, w, chi)
        value = per_site(around, layers, w)
        if n >= LEAST and abs(value - last) < 1e-10 * abs(value):
            break
        last = value
    return around


def converged(
    layers: np.ndarray, around: Around, w: Wiring, tol: float, maxiter: int, report: Report, bar: Any
) -> Frame:
    """The fixed point at this number of states, and the bases in which it is one.

    Each step follows the basis of the last.  Once steps are small, many are taken at once: a `leap`, longer the faster
    steps shrink, and again a shorter one where they have grown (C. T. Kelley and D. E. Keyes, SIAM J. Numer. Anal. 35,
    508 (1998)).
    """
    reference, pace, last = first(around, layers, w), PACE, None
    report.iterations, least, since = 0, np.inf, 0
    while report.iterations < maxiter:
        reference = frame(around, w, reference)
        new = unit(step(around, layers, w, reference), around)
        change = report.residual = weighted(new, around, w.after)
        report.iterations += 1
        bar.update()
        since = 0 if change < least else since + 1
        least = min(change, least)
        if change <= tol or (change <= LOOSER * tol and since > PATIENCE):  # what rounding leaves
            check_kept(*loss(new, layers, w, reference))
            return Frame(reference.bases, new)
        if last is None and not change < CALM:
            around = new
            if not np.isfinite(change):
                break
            continue
        if last is None or change < 2 * last[0]:
            faster = 1.0 if last is None else min(3.0, max(1.5 if change < last[0] else 0.7, last[0] / change))
            pace, last = pace * faster, (change, around, reference)
        elif pace > 1:
            pace, (_, around, reference) = max(1.0, pace / 3), last
        around = leap(around, layers, w, reference, pace, report)
    raise ConvergenceError(
        f"partition_function: after {report.iterations} steps the environment still changes by {report.residual:.3g} "
        f"(tol={tol:.3g}): near a transition raise maxiter or tol, or take another chi; sites that alternate belong "
        "into one tensor"
    )


def leap(around: Around, layers: np.ndarray, w: Wiring, reference: Frame, pace: float, report: Report) -> Around:
    """About `pace` steps f at once, those of the implicit method of Euler: ``x + (1 + 1 / pace - f')^-1 (f(x) - x)``.

    Directions in which single steps hardly move are taken whole, and those in which they lead nowhere stay bounded.
    """
    packing = Packing(around)
    x = packing.pack(around)

    def stepped(v: np.ndarray) -> np.ndarray:
        report.iterations += 1
        return packing.pack(step(Around(*packing.unpack(v)), layers, w, reference))

    y = stepped(x)
    width = SPAN * np.linalg.norm(x)

    def product(v: np.ndarray) -> np.ndarray:
        h = width / np.linalg.norm(v)
        return (1 + 1 / pace) * v - (stepped(x + h * v) - y) / h

    change = correction(product, y - x, INNER * np.linalg.norm(y - x), min(PRODUCTS, x.size))
    ahead = unit(Around(*packing.unpack(x + change)), None)
    report.iterations += 1
    return unit(step(ahead, layers, w, reference), None)


def check_kept(left_out: float, least: float) -> None:
    """Raise where a fixed point keeps other states than the leading ones: leaps may find what single steps leave."""
    if left_out > 100 * least + 1e-6:
        raise ConvergenceError(
            f"partition_function: the environment found leaves out {left_out:.3g} of two quarters where {least:.3g} "
            "would do, so that it is not the leading one: take another chi, or another boundary"
        )
