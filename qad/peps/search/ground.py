"""Ground states of infinite lattices by L-BFGS on sites of norm 1, preconditioned by their environments."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ConvergenceError
from qad.core.process.threads import blas_for
from qad.core.trees import tree_map
from qad.extend import value_of
from qad.keywords import keywords_told
from qad.optimize import Product, Sphere, minimize_on
from qad.optimize.directions import LBFGS
from qad.optimize.result import BY_USER
from qad.peps.checks import check_kind
from qad.peps.infinite.environment import check_options, environment
from qad.peps.infinite.observables import expectation
from qad.peps.infinite.state import PEPS
from qad.peps.models import Model
from qad.peps.search.checkpoint import Checkpoint
from qad.peps.search.metric import LocalMetric
from qad.peps.search.result import GroundState
from qad.peps.search.simple_update import charged_start
from qad.peps.search.starts import check_model, check_uniform, enlarged, natural_dtype, normalised, promising_start
from qad.showing.progress import bar_for

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.mps.charges.quantities import Names
    from qad.peps.infinite.environment import Environment
    from qad.typing import DTypeLike, FilePath, Progress, Real, Seed, Vector

SQUARE, FINEST, COARSEST = 1e-2, 1e-9, 1e-6  # of environments: a part of what a step gains, which goes with |g|^2
MOST_MOVES, PATIENCE = 300, 100  # from nothing, and from another environment
LEGS = 6  # descents at most, each with a cut of its own, where one ends on a slope, or environments come to rest slowly
SLOW = 60  # moves: the cut lies in a near-multiplet
BY_STEP = "stopped by the callback"
MOST_DRAWS = 20  # of states to start from
MEMORY = 100  # steps: there are few parameters, and an evaluation is dear
LONGEST = 0.1  # step from sites of norm 1: beyond, other energies and other environments begin
STEEP = 1e-3  # norm of a gradient that is none of a minimum
COARSE, WINDOW = 1e-5, 3  # gain of an iteration, over so many, at which a first search is good enough to go on from
SOFT = 1e-3  # of the norm of the gradient: how exactly adjoint equations are solved
SMALL_CHI = 2  # of first searches of larger bonds, in units of D^2
FEW = 0.6  # of chi: below, a first search pays
EVALUATIONS: list[tuple[str, type]] = [
    ("energy", float), ("gradient_norm", float), ("chi", int), ("moves", int), ("products", int), ("seconds", float),
    ("best", bool),
]  # fmt: skip


@keywords_told
def ground_state(
    model: Model,
    bond: int,
    chi: int,
    symmetry: str | None = None,
    cell: Sequence[str] | None = None,
    progress: Progress = None,
    checkpoint: FilePath | None = None,
    seed: Seed = 0,
    *,
    start: PEPS | None = None,
    dtype: DTypeLike | None = None,
    conserve: Names | None = None,
    sector: object = None,
    tol: float = 1e-10,
    maxiter: int = 1000,
) -> GroundState:
    """The state of lowest energy among infinite ones of a bond dimension.

    Parameters
    ----------
    model : Model
    bond, chi : int
        Dimensions of the bonds of the state and, about, of its environment; see `environment`.
    symmetry : str, optional
        Of the state; see `PEPS`. "c4v" is the quickest by far.
    cell : sequence of str, optional
        The pattern of the sites; default one site, ``["A"]``, which holds no order that alternates. An antiferromagnet
        needs ``["AB", "BA"]``, or its model as `Model.rotated` has it.
    progress : bool or tqdm, optional
        None for a bar after two seconds, where someone looks: energy, gain and time, in a terminal or a notebook.  True
        for one at once that stays, False for none; or a bar that is moved.
    checkpoint : str or path, optional
        A file that is rewritten after every iteration, atomically. A search goes on from it, to a larger `bond` too;
        one of another model, `chi` of this bond, `cell`, `symmetry` or `start`, or damaged, is refused and left alone.
    seed : int or numpy.random.Generator
        Of the random state, of bond 2 at most, from which the search starts, and of the noise by which bonds grow.
    start : PEPS, optional
        A state to start from instead, of at most this bond; `cell`, `symmetry` and `dtype` are its own. One with
        charges keeps its bonds.
    dtype : dtype, optional
        Of the random state; default float for a real model, else complex.
    conserve : str or sequence of str, optional
        What the state conserves, ``"Sz"`` or ``("N", "Sz")``; fermions always conserve their parity. The search starts
        from the state of `simple_update` of this bond then, and keeps the sectors of its bonds; the default cell is
        ``["AB", "BA"]``.
    sector : int or tuple of int, optional
        The total of what is conserved in a cell, as in `simple_update`.
    tol : float
        Converged where an iteration gains less than ``tol * max(|E|, 1)``.
    maxiter : int
        Most iterations at one bond.

    Returns
    -------
    GroundState
        Also after Ctrl-C: the best state so far.

    Raises
    ------
    ArgumentError
        If `chi` is below ``bond**2``, the model has not the symmetry, the state is real and the model complex, or the
        checkpoint cannot be read; if no cell is given where products of two sublattices have less energy; and with
        charges as `simple_update`.
    ConvergenceError
        If no environment of the start comes to rest.
    GradientTypeError
        Where a derivative is asked for: that of the energy is that of ``energy(found.state, model, chi)``.

    Notes
    -----
    L-BFGS in the metric of single sites: X.-Y. Zhang et al., arXiv:2511.09546. Points at which the environment does not
    converge are rejected. Environments start from that of the best state so far, so that the energy is a function of
    the state; their tolerance follows the gradient. Where they come to rest slowly the descent begins anew from the
    present state, whose environment is cut elsewhere then: the energy may rise by the difference.

    Examples
    --------
    >>> import qad
    >>> found = qad.peps.ground_state(qad.peps.heisenberg().rotated(), bond=2, chi=16, symmetry="c4v", tol=1e-6)
    >>> round(found.energy, 3)
    -0.66
    """
    check_kind(model, Model)
    rng, dtype = np.random.default_rng(seed), natural_dtype(model) if dtype is None else dtype
    first = charged_start(model, bond, cell, dtype, conserve, sector, start, symmetry)
    shape = {"cell": cell or ("A",), "phys": len(model.terms[0].operator), "dtype": dtype, "symmetry": symmetry}
    like = PEPS.random(bond, **shape) if first is None else first
    check_model(model, like, bond)
    check_options(bond, chi, tol, maxiter)
    if cell is first is None:
        check_uniform(model)
    file = None if checkpoint is None else Checkpoint(checkpoint, model, bond, chi, like, start)
    begin, env, history = (file.read() if file else None) or (first, None, [])
    with blas_for(chi), bar_for(progress, "energy") as bar:
        search = Search(model, chi, bar, maxiter, env, file, history)
        try:
            if begin is None and bond <= 2:
                return search.from_random(bond, shape, rng, tol)
            if begin is None:
                begin = search.coarser(2 * SMALL_CHI * 4).from_random(2, shape, rng, max(tol, COARSE), WINDOW).state
            return search.run(search.raised(begin, bond, rng, max(tol, COARSE)), tol)
        except KeyboardInterrupt:
            if not search.found:
                raise
            return replace(search.found[-1], converged=False, message=BY_USER)


@dataclass(eq=False)
class Search:
    """One search at one bond: keeps the environment of the best state, from which all others start."""

    model: Model
    chi: int
    bar: Progress
    maxiter: int
    env: Environment | None = None
    file: Checkpoint | None = None
    history: list[float] = field(default_factory=list)
    found: list[GroundState] = field(default_factory=list)  # by the searches of all stages
    latest: Environment | None = None
    metric: LocalMetric | None = None
    tol: float = COARSEST
    soft: float = COARSEST  # of adjoint equations
    least: float = 0.0  # that iterations gain, of a window
    left: int = 0  # descents after this one
    window: int = 0
    count: int = 0  # of iterations
    directions: LBFGS = field(default_factory=lambda: LBFGS(MEMORY))  # kept between descents: curvatures are alike
    trials: list[tuple[Any, ...]] = field(default_factory=list)  # all evaluations, as `EVALUATIONS` says
    since: float = 0.0  # the present one began
    is_best: bool = False

    def coarser(self, chi: int) -> Search:
        """A first search, in smaller environments."""
        return Search(self.model, chi, self.bar, self.maxiter, found=self.found)

    def raised(self, state: PEPS, bond: int, rng: np.random.Generator, tol: float) -> PEPS:
        """A state of larger bonds, after first searches at each of them; what the last knows of curvatures is kept.

        Bonds with charges stay what they are.
        """
        for size in range(bond + 1 if state.conserved else state.bond + 1, bond + 1):
            state, first = enlarged(state, size, rng), self.coarser(SMALL_CHI * size**2)
            if size < bond or first.chi < FEW * self.chi:
                state = first.run(state, tol, WINDOW).state
                self.directions = first.directions if size == bond else self.directions
        return normalised(state)

    def from_random(
        self, bond: int, shape: dict[str, Any], rng: np.random.Generator, tol: float, window: int = 0
    ) -> GroundState:
        """Descend from the first of a row of random states whose environment comes to rest at an isolated point."""
        for left in reversed(range(MOST_DRAWS)):
            try:
                found = self.run(promising_start(bond, rng, shape, self.model, self.chi), tol, window)
                if not found.is_stuck or not left:
                    return found
            except ConvergenceError:
                if not left:
                    raise
            self.env, self.history, self.directions = None, [], LBFGS(MEMORY)
        raise AssertionError

    def run(self, state: PEPS, tol: float, window: int = 0) -> GroundState:
        """Descend from a state, until an iteration gains less than `tol`, or in a window of several all of them do."""
        self.window, self.least, self.count, nfev = window, tol, 0, 0
        for self.left in reversed(range(LEGS)):
            found = minimize_on(
                self.energy, state, manifold=Product(tree_map(lambda x: Sphere(), state)), method=self.directions,
                callback=self.step, progress=self, gtol=0.0, ftol=0.0 if window else tol,
                maxiter=self.maxiter - self.count, longest=LONGEST, metric=self.scaled, accepted=self.keep,
                evaluated=self.evaluated,
            )  # fmt: skip
            nfev += found.nfev
            steep = found.success and found.gradient_norm > STEEP
            again = (steep and len(found.history) > 1) or found.message.startswith(BY_STEP)
            if not self.left or not again or self.count >= self.maxiter:
                break
            state, self.env = normalised(found.params), None  # the energy jumps with the environment: take a fresh one
        stuck = found.success and found.gradient_norm > STEEP
        message = f"stuck: no step gains anything, but the gradient is {found.gradient_norm:.1e}"
        result = GroundState(
            normalised(found.params), found.fun, self.env, np.array(self.history), np.array(self.trials, EVALUATIONS),
            found.gradient_norm, found.success and not stuck, stuck, message if stuck else found.message, nfev,
        )  # fmt: skip
        self.found.append(result)
        if result.message == BY_USER:  # goes on as what it was, and ends all stages
            raise KeyboardInterrupt
        return result

    def energy(self, state: PEPS) -> Real:
        """The energy of a state, recorded."""
        self.since, self.is_best, self.latest = perf_counter(), False, None
        self.latest = self.around(state)
        return expectation(state, self.model, self.latest)

    def around(self, state: PEPS) -> Environment:
        """The environment of a state, from that of the best one if that leads anywhere soon."""
        tols = {"tol": self.tol, "adjoint_tol": self.soft}
        if self.env is not None:
            try:
                return environment(state, self.chi, self.env, maxiter=PATIENCE, **tols)
            except ConvergenceError:
                pass
        return environment(state, self.chi, maxiter=MOST_MOVES, **tols)

    def keep(self, state: PEPS, energy: float) -> None:
        """The best state so far has this environment, and its metric."""
        self.env, self.is_best = tree_map(value_of, self.latest), True
        self.metric = LocalMetric(state, self.env)
        if not self.history:
            self.history.append(energy)

    def evaluated(self, energy: float, norm: float) -> None:
        """Note an evaluation, of infinite values where the point was rejected: no environment came to rest."""
        chi = moves = products = 0
        if self.latest is not None:
            report = self.latest.report
            chi, moves, products = self.latest.chi, report.iterations, sum(n for n, _ in report.adjoint)
        self.trials.append((energy, norm, chi, moves, products, perf_counter() - self.since, self.is_best))

    def scaled(self, point: object, vector: Vector, norm: float) -> Vector:
        """A gradient, or a change of one, in the metric of the best state; environments become as fine as it takes."""
        self.tol = float(np.clip(SQUARE * norm**2, FINEST, COARSEST))
        self.soft = float(np.clip(SOFT * norm, FINEST, COARSEST))
        return self.metric.solve(vector, norm)

    def step(self, state: PEPS, energy: float) -> None:
        """Write a checkpoint after an iteration; end the descent where another cut is due, or enough is done."""
        self.history.append(energy)
        self.count += 1
        if self.file:
            self.file.write(state, self.env, self.history)
        if self.is_enough():
            self.left = 0
            raise StopIteration
        if self.left and self.env.report.iterations > SLOW:
            raise StopIteration

    def is_enough(self) -> bool:
        """Whether the iterations of a window gained too little."""
        n = self.window
        return 0 < n < len(self.history) and self.history[-1 - n] - self.history[-1] <= n * self.least

    def set_postfix_str(self, text: str, refresh: bool = True) -> None:
        """Show what a descent shows, and how its environments are."""
        self.bar.set_postfix_str(f"{text}, chi {self.env.chi}, {self.env.report.iterations} moves", refresh=refresh)

    def update(self) -> None:
        """One iteration more."""
        self.bar.update()
