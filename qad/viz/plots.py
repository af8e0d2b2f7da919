"""Plots, by matplotlib: the course of a search, entanglement along a chain, and how well a gradient agrees."""

from __future__ import annotations

from itertools import cycle
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import value_and_grad
from qad.showing.drawing import CYCLE, GREY
from qad.showing.painting import new_figure
from qad.showing.picture import Picture

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from qad.typing import Seed

SIZE = 5.2, 3.3  # inches
WIDEST = 32  # letters of a legend in one row
MARKS = ("o", "s", "^", "D", "v", "P")  # so that lines differ without colours, too
STEPS = np.logspace(-1, -9, 17)
CONSERVED, AT_ZERO = "energy in time", ("residual", "variance")
NAMES = {"OptimizeResult": "loss", "SteadyState": "residual", "ExcitedState": "variance", "Evolved": CONSERVED}


def history(found: Any, exact: float | None = None) -> Picture:
    """Plot the course of a search: how far the energy or loss is from the best value, on a logarithmic axis.

    Parameters
    ----------
    found : GroundState, OptimizeResult, a sequence of numbers, or dict of str to these
        What `ground_state` or `minimize` returned; of several searches a dict of their names.
    exact : float, optional
        A value to compare with, in the place of the lowest that was found. Residuals and variances, which are zero in
        the end, are plotted themselves; an energy that time conserves is, too, on a linear axis.

    Returns
    -------
    Picture

    Raises
    ------
    ArgumentError
        If there is no history to plot, or `exact` is no finite number.
    ModuleNotFoundError
        If matplotlib is not installed.

    Examples
    --------
    >>> import numpy as np, qad
    >>> found = qad.optimize.minimize(lambda x: np.sum((x - 1) ** 4), np.zeros(3))
    >>> qad.viz.history(found, exact=0.0)
    <Picture: loss: distance from 0 after every step>
    """
    if exact is not None and not (isinstance(exact, Real) and np.isfinite(exact)):
        raise ArgumentError(f"exact is a finite number, not {exact!r}")
    courses = {name: np.asarray(getattr(one, "history", one)) for (name, one), _, _ in _styled(found)}
    if not courses or any(x.ndim != 1 or not x.size or x.dtype.kind not in "fiu" for x in courses.values()):
        raise ArgumentError("there is no history here: give what a search returned, or a list of its energies")
    names = {NAMES.get(type(one).__name__, "energy") for (_, one), _, _ in _styled(found)}
    name, best = names.pop() if len(names) == 1 else "value", min(map(np.min, courses.values()))
    best = exact if exact is not None else 0.0 if name in AT_ZERO else None if name == CONSERVED else best
    is_log = best is not None and any(np.any(x != best) for x in courses.values())
    ax = new_figure(*SIZE, "a plot of a search").add_subplot()
    for (label, x), (_, colour, mark) in zip(courses.items(), _styled(found), strict=False):
        y = np.where(x == best, np.nan, np.abs(x - best)) if is_log else x  # of the best itself there is no logarithm
        ax.plot(y, color=colour, marker=mark, markevery=1 + len(y) // 25, markersize=4, lw=1.4, label=label)
    what = f"{name}: distance from {best:.12g}" if is_log and name not in AT_ZERO else name
    ax.set(xlabel="step", ylabel=what, yscale="log" if is_log else "linear")
    return _finished(ax, f"{what} after every step")


def entanglement(psi: Any) -> Picture:
    """Plot the entanglement entropy across every bond of a chain, below the most that its bonds can hold.

    Parameters
    ----------
    psi : MPS, or dict of str to these
        Open chains of any norm.

    Returns
    -------
    Picture

    Raises
    ------
    ShapeError
        If a chain is periodic.
    ModuleNotFoundError
        If matplotlib is not installed.

    Examples
    --------
    >>> import qad
    >>> found = qad.mps.ground_state(qad.mps.heisenberg(8), bond=16)
    >>> qad.viz.entanglement(found.state)
    <Picture: entanglement entropy across 7 bonds>
    """
    from qad.mps import entanglement_entropy

    ax = new_figure(*SIZE, "a plot of entropies").add_subplot()
    count, limits = 0, set()
    for (name, chain), colour, mark in _styled(psi):
        entropies = np.asarray(entanglement_entropy(chain))
        count = max(count, len(entropies))
        bonds = np.arange(1, len(entropies) + 1)
        ax.plot(bonds, entropies, color=colour, marker=mark, markersize=4, lw=1.4, label=name)
        limits.add(tuple(chain.bonds[1:-1]))
    for k, sizes in enumerate(sorted(limits)):
        label = "most for these bonds" if k == 0 else None
        ax.plot(np.arange(1, len(sizes) + 1), np.log(sizes), color=GREY, lw=1, ls=":", label=label)
    ax.set(xlabel="bond left of site", ylabel="entropy (nats)", ylim=(0, None))
    return _finished(ax, f"entanglement entropy across {count} bonds")


def gradient_check(f: Callable[..., Any], args: Sequence[Any], seed: Seed = 0) -> Picture:
    """Plot how far central differences are from the gradient, for steps from 0.1 to 1e-9.

    Of a right gradient the distance falls with the square of the step until rounding takes over, a V; of a wrong one
    it stays where it is. `qad.check_grads` says so without a picture.

    Parameters
    ----------
    f : callable
        ``f(*args)`` is a real scalar.
    args : sequence
        Pytrees of float or complex arrays.
    seed : int or numpy.random.Generator
        Of the random direction.

    Returns
    -------
    Picture

    Raises
    ------
    GradientTypeError
        If `f` is complex, or an argument neither float nor complex.
    ModuleNotFoundError
        If matplotlib is not installed.

    Notes
    -----
    The directional derivative is ``Re <g, d>`` with g the gradient ``dL/dx + i dL/dy``, the difference
    ``(f(x + h d) - f(x - h d)) / 2h``.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.viz.gradient_check(lambda z: qad.abs2(np.sin(z)).sum(), (np.array([0.3, 1 + 1j]),))
    <Picture: gradient against differences: ... apart at best>
    """
    from qad.optimize.packing import Parameters

    args = tuple(args)
    packing = Parameters(args)
    point = packing.pack(args)
    direction = np.random.default_rng(seed).normal(size=point.shape)
    direction /= np.linalg.norm(direction)
    gradient = value_and_grad(f, tuple(range(len(args))))(*args)[1]
    slope = packing.pack(gradient) @ direction

    def along(step: float) -> float:
        return float(f(*packing.unpack(point + step * direction)))

    errors = np.array([abs((along(h) - along(-h)) / (2 * h) - slope) for h in STEPS]) / max(abs(slope), 1e-300)
    ax = new_figure(*SIZE, "a plot of differences").add_subplot()
    ax.loglog(STEPS, np.maximum(errors, 1e-16), color=CYCLE[0], marker="o", markersize=4, lw=1.4, label="distance")
    ax.loglog(STEPS, errors[0] * (STEPS / STEPS[0]) ** 2, color=GREY, ls="--", lw=1, label="step squared")
    ax.set(xlabel="step of the difference", ylabel="relative distance from the gradient", ylim=(1e-14, None))
    return _finished(ax, f"gradient against differences: {errors.min():.1e} apart at best")


def _styled(x: Any) -> Any:
    """Each of what is given, with its name, a colour and a mark."""
    return zip(x.items() if isinstance(x, dict) else [(None, x)], cycle(CYCLE), cycle(MARKS), strict=False)


def _finished(ax: Any, alt: str) -> Picture:
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
    if ax.get_xscale() == "linear":
        ax.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
    ax.xaxis.label.set_size(9)
    ax.yaxis.label.set_size(9)
    if labels := ax.get_legend_handles_labels()[1]:
        columns = 3 if len("".join(labels)) < WIDEST else 2
        ax.legend(frameon=False, fontsize=9, loc="lower left", bbox_to_anchor=(0, 1), ncols=columns)
    return Picture(ax.figure, alt)
