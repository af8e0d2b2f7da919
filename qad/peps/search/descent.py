"""Descents to ground states: environments, metrics and starts of one search, and what it has found so far."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ConvergenceError
from qad.core.trees import tree_map
from qad.extend import value_of
from qad.optimize import Product, Sphere, minimize_on
from qad.optimize.directions import LBFGS
from qad.optimize.result import BY_USER
from qad.peps.infinite.environment import environment
from qad.peps.infinite.observables import expectation
from qad.peps.infinite.state import PEPS
from qad.peps.models import Model
from qad.peps.search.checkpoint import Checkpoint
from qad.peps.search.metric import LocalMetric
from qad.peps.search.result import GroundState
from qad.peps.search.starts import enlarged, noisy, normalised, promising_start

if TYPE_CHECKING:
    from typing import Any

    from qad.peps.infinite.environment import Environment
    from qad.typing import Progress, Real, Vector

SQUARE, FINEST, COARSEST = 1e-2, 1e-9, 1e-6  # of environments: a part of what a step gains, which goes with |g|^2
MOST_MOVES, PATIENCE = 300, 100  # from nothing, and from another environment
MOST_OF_GIVEN = 1000  # moves of the first environment of a state that was given: no other one can be drawn
LEGS = 6  # descents at most, each with a cut of its own, where one ends on a slope, or environments come to rest slowly
SLOW = 60  # moves: the cut lies in a near-multiplet
BY_STEP = "stopped by the callback"
MOST_DRAWS, FEW_DRAWS = 20, 3  # of random states to start from, and of noise on those of imaginary time
MEMORY = 100  # steps: there are few parameters, and an evaluation is dear
LONGEST = 0.1  # step from sites of norm 1: beyond, other energies and other environments begin
STEEP = 1e-3  # norm of a gradient that is none of a minimum
COARSE, WINDOW = 1e-5, 3  # gain of an iteration, over so many, at which a first search is good enough to go on from
SOFT = 1e-3  # of the norm of the gradient: how exactly adjoint equations are solved
SMALL_CHI = 2  # of first searches of larger bonds, in units of D^2
FEW = 0.6  # of chi: below, a first search pays
JUMP = 1e-4  # of the energy, from the environment that a search kept to a fresh one: chi is too small
EVALUATIONS: list[tuple[str, type]] = [
    ("energy", float), ("gradient_norm", float), ("chi", int), ("moves", int), ("products", int), ("seconds", float),
    ("best", bool),
]  # fmt: skip


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
    is_given: bool = False  # the state to start from

    def coarser(self, chi: int) -> Search:
        """A first search, in smaller environments."""
        return Search(self.model, chi, self.bar, self.maxiter, found=self.found, is_given=self.is_given)

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

    def from_time(self, first: PEPS, rng: np.random.Generator, tol: float) -> GroundState:
        """Descend from a state of imaginary time and noise; with other noise where no environment comes to rest.

        Small environments come to rest first: those of long correlations that the descent shortens may not at `chi`.
        """
        for left in reversed(range(FEW_DRAWS)):
            try:
                state, small = noisy(first, rng), self.coarser(SMALL_CHI * first.bond**2)
                if small.chi < self.chi:
                    state = small.run(state, max(tol, COARSE), WINDOW).state
                return self.run(state, tol)
            except ConvergenceError:
                if not left:
                    raise
        raise AssertionError

    def run(self, state: PEPS, tol: float, window: int = 0) -> GroundState:
        """Descend from a state, until an iteration gains less than `tol`, or in a window of several all of them do."""
        self.window, self.least, self.count, nfev = window, tol, 0, 0
        found, env = None, self.env
        for self.left in reversed(range(LEGS)):
            try:
                found = minimize_on(
                    self.energy, state, manifold=Product(tree_map(lambda x: Sphere(), state)), method=self.directions,
                    callback=self.step, progress=self, gtol=0.0, ftol=0.0 if window else tol,
                    maxiter=self.maxiter - self.count, longest=LONGEST, metric=self.scaled, accepted=self.keep,
                    evaluated=self.evaluated,
                )  # fmt: skip
            except ConvergenceError:
                if found is None:
                    raise
                self.env = env  # of the last descent: no fresh one comes to rest
                break
            nfev += found.nfev
            steep = found.success and found.gradient_norm > STEEP
            again = (steep and len(found.history) > 1) or found.message.startswith(BY_STEP)
            if not self.left or not again or self.count >= self.maxiter:
                break
            env, self.env = self.env, None  # the energy jumps with the environment: take a fresh one
            state = normalised(found.params)
        stuck = found.success and found.gradient_norm > STEEP
        slowly = "environments come to rest slowly: change chi"
        ended = "stopped at maxiter iterations" if self.count >= self.maxiter else slowly
        message = found.message.replace(BY_STEP, ended)
        if stuck:
            message = f"stuck: no step gains anything, but the gradient is {found.gradient_norm:.1e}"
        result = GroundState(
            normalised(found.params), found.fun, self.env, np.array(self.history), np.array(self.trials, EVALUATIONS),
            found.gradient_norm, found.success and not stuck, stuck, message, nfev,
        )  # fmt: skip
        self.found.append(result)
        if result.message == BY_USER:  # goes on as what it was, and ends all stages
            raise KeyboardInterrupt
        return result

    def checked(self, found: GroundState) -> GroundState:
        """What was found; with a fresh environment, if one comes to rest, where the energy is higher in it.

        A descent may lean on how the environment that it keeps is cut.
        """
        try:
            fresh = environment(found.state, self.chi, tol=COARSEST, maxiter=MOST_MOVES)
        except ConvergenceError:
            return found
        energy = float(expectation(found.state, self.model, fresh))
        if energy - found.energy <= JUMP * max(abs(energy), 1):
            return found
        warnings.warn(
            f"the search came to the energy {found.energy:.6g} in the environment that it kept, and a fresh one gives "
            f"{energy:.6g}, which is reported: raise chi above {self.chi}",
            RuntimeWarning,
            stacklevel=4,
        )
        return replace(found, energy=energy, environment=fresh)

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
        most = MOST_OF_GIVEN if self.is_given and not self.history else MOST_MOVES
        return environment(state, self.chi, maxiter=most, **tols)

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
