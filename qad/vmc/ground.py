"""Ground states: the energy of a wave function lowered by natural gradients of sampled energies."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.archive import read_marked, understood, write_arrays
from qad.core.errors import ArgumentError
from qad.keywords import keywords_told
from qad.mps.chain.chain import site_count
from qad.optimize.moments import adam_step
from qad.optimize.result import BY_USER, result_card
from qad.showing.progress import bar_for, note
from qad.vmc.descent import Slopes
from qad.vmc.expectation import LocalValues

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.typing import FilePath, Progress, Seed, Tree, Vector
    from qad.vmc.samplers import Sampler
    from qad.vmc.space import Space
    from qad.vmc.statistics import Estimate
    from qad.vmc.wave_functions import LogPsi

METHODS = "auto", "sr", "minsr", "spring", "adam"
WINDOW = 10  # steps whose mean energy tells which parameters are the best
FARTHEST = 0.2  # radians: the angle between psi before and after a step, to first order
FINAL = 4  # draws for the energy in the end
DECAY, EPSILON = (0.9, 0.999), 1e-8  # of adam
FORMAT = "qad variational Monte Carlo 1"


@dataclass(frozen=True)
class VMCResult:
    """What `ground_state` found.

    Attributes
    ----------
    energy : Estimate
        Mean, error and variance, in samples that the search has not seen.
    params : pytree
        The best parameters: those after ten steps in a row whose mean energy, plus its mean error, is the lowest.
    history, errors : ndarray
        The energy before every step, and its standard error.
    method : str
        Which method searched, also where `ground_state` was left to pick one.
    message : str
        Why the search ended.
    """

    energy: Estimate
    params: Any = field(repr=False)
    history: np.ndarray = field(repr=False)
    errors: np.ndarray = field(repr=False)
    method: str = field(metadata={"static": True})
    message: str = field(metadata={"static": True})

    @property
    def variance(self) -> float:
        """Of the energy: its distance from an eigenstate."""
        return self.energy.variance

    def _repr_html_(self) -> str:
        return result_card(self)


@keywords_told
def ground_state(
    log_psi: LogPsi,
    params: Tree,
    H: Any,
    space: Space,
    samples: int = 1024,
    steps: int = 300,
    method: str = "auto",
    progress: Progress = None,
    checkpoint: FilePath | None = None,
    seed: Seed = 0,
    *,
    sampler: Sampler = "metropolis",
    rate: float | Callable[[int], float] = 0.05,
    shift: float | Callable[[int], float] = 1e-3,
    momentum: float = 0.9,
    callback: Callable[[Any, Any], object] | None = None,
    memory_limit: float = 2**31,
) -> VMCResult:
    """The parameters of lowest energy of a wave function that is written in NumPy.

    Parameters
    ----------
    log_psi : callable
        ``log_psi(params, configurations)`` returns the logarithms (B,) of the amplitudes, real or complex, of
        configurations (B, n) of whole numbers.
    params : pytree
        Of float or complex arrays; where to start. It is not changed.
    H : OpSum, PauliSum or MPO
        Hermitian; it keeps what the space keeps fixed.
    space : Space
    samples : int
        Of each step.
    steps : int
    method : str
        "sr" (stochastic reconfiguration, an equation of the size of the parameters), "minsr" (the same step from an
        equation of the size of the samples), "spring" (minsr with momentum), "adam", or "auto": the smaller of sr and
        minsr.
    progress : bool or tqdm, optional
        None for a bar after two seconds, where someone looks: energy, gain and time, in a terminal or a notebook.  True
        for one at once that stays, False for none; or a bar that is moved.
    checkpoint : str or path, optional
        A file, replaced after every step, from which a search that was ended goes on as if it had not been.
    seed : int or numpy.random.Generator
    sampler : "metropolis", "exact", Metropolis or Direct
        "exact" sums over all states of a space of at most 2^20.
    rate : float or callable
        Length of the steps, or a function from the number of a step (from 0) to it.  A step that turns psi by more than
        0.2 radians, to first order, is shortened to that: samples of psi say nothing about what lies farther.
    shift : float or callable
        Added to the diagonal of the equations: directions that hardly change psi are not followed far. Likewise.
    momentum : float
        How much of the last direction "spring" keeps.
    callback : callable, optional
        ``callback(params, energy)`` before every step, the energy an `Estimate`; raising StopIteration in it ends the
        search.
    memory_limit : float
        Bytes that derivatives of samples may take at once; what does not fit is computed again.

    Returns
    -------
    VMCResult

    Raises
    ------
    ArgumentError
        As `sample`; if H is complex and log_psi real, H breaks what the space keeps fixed, an option is out of range,
        or the checkpoint belongs to another search.

    Warns
    -----
    RuntimeWarning
        If R-hat of the energy in the end exceeds 1.05: the chains have not mixed.

    Notes
    -----
    The formulas and their sources stand in `qad.vmc.descent`.  A step costs `samples` times the sites evaluations of
    log psi, those of connected configurations, and ``samples^2 * parameters`` operations for the equations of minsr, or
    ``samples * parameters^2`` for those of sr.

    Examples
    --------
    >>> import numpy as np, qad
    >>> def log_psi(p, s):  # of neighbours, a field, and what is between
    ...     return p[0] * (s * np.roll(s, 1, axis=1)).sum(1) + p[1] * (s * np.roll(s, 2, axis=1)).sum(1)
    >>> H = qad.mps.ising(8, 1.0, periodic=True)  # of lowest energy -10.2517
    >>> found = qad.vmc.ground_state(
    ...     log_psi, np.zeros(2), H, qad.vmc.Spins(8), sampler="exact", rate=0.1, steps=60)
    >>> round(found.energy.mean, 2)
    -10.2
    """
    if method not in METHODS:
        raise ArgumentError(f"method is one of {', '.join(METHODS)}, not {method!r}")
    if not 0 <= momentum < 1:
        raise ArgumentError(f"momentum lies between 0 and 1, but got {momentum!r}")
    local = LocalValues(log_psi, H, space, samples, sampler, seed)
    slopes, mark = Slopes(log_psi, params, memory_limit), {"space": repr(space), "sampler": repr(sampler)}
    mark |= {"format": FORMAT, "parameters": slopes.size, "samples": samples, "asked": method}
    start = slopes.packing.pack(params)
    search = EnergySearch(local, slopes, method, rate, shift, momentum, callback, mark, start, start)
    with bar_for(progress, "energy", steps) as bar:
        message = search.guarded(site_count(steps, 0, "steps"), bar, None if checkpoint is None else Path(checkpoint))
    found = slopes.packing.unpack(search.best)
    energy, drawn, _ = local.measure(found, FINAL)
    if drawn.weights is None and not energy.variance:
        message += "; all samples have one local energy: an eigenstate, or psi has collapsed (rate=, shift=)"
    return VMCResult(energy, found, np.array(search.energies), np.array(search.errors), search.method, message)


@dataclass(eq=False)
class EnergySearch:
    """One search: where it is, and what it has seen."""

    local: LocalValues
    slopes: Slopes
    method: str
    rate: Any
    shift: Any
    momentum: float
    callback: Any
    mark: dict[str, Any]  # of checkpoints of this search
    vector: Vector
    best: Vector
    lowest: float = np.inf
    energies: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    kept: list[Vector] = field(default_factory=list)  # the last direction of spring, or the moments of adam

    def guarded(self, steps: int, bar: Any, file: Path | None) -> str:
        """Go on from the checkpoint, if there is one, and take the steps that are left; why it ended."""
        if file is not None and file.exists():
            self.read(file)
            bar.update(len(self.energies))
        try:
            return self.run(steps, bar, file)
        except StopIteration:
            return "stopped by the callback"
        except KeyboardInterrupt:
            if not self.energies:
                raise
            return BY_USER

    def run(self, steps: int, bar: Any, file: Path | None) -> str:
        """Take the steps that are left; why it ended."""
        for step in range(len(self.energies), steps):
            params = self.slopes.packing.unpack(self.vector)
            try:
                drawn, values = self.local.draw(params)
                energy = self.local.estimate(drawn, values)
                direction = self.direction(params, drawn, values, step)
            except ArgumentError as error:
                if not self.energies:
                    raise
                return f"ended before step {step}: {error}"
            self.seen(energy, 1 if drawn.weights is not None else WINDOW)
            note(bar, self.energies)
            if self.callback is not None:
                self.callback(params, energy)
            self.vector = self.vector - self.length(direction, step) * direction
            if file is not None:
                self.write(file)
        return f"all {steps} steps were taken"

    def seen(self, energy: Estimate, window: int) -> None:
        """Note an energy of the present parameters."""
        self.energies.append(energy.mean)
        self.errors.append(energy.error)
        recent = float(np.mean(self.energies[-window:]) + np.mean(self.errors[-window:]))  # no luck of noise
        if recent <= self.lowest or len(self.energies) < window:
            self.lowest, self.best = recent, self.vector

    def direction(self, params: Tree, drawn: Any, values: np.ndarray, step: int) -> Vector:
        """The direction that the energy is lowered against."""
        slopes = self.slopes.at(params, drawn)
        b = slopes.centred(values)
        if self.method == "auto":
            self.method = slopes.method
        if self.method == "adam":
            gradient = 2 * slopes.transposed(b)
            moments = self.kept or [np.zeros_like(gradient)] * 2
            squares = slopes.packing.squares(gradient)
            *self.kept, direction = adam_step(step, *moments, gradient, squares, DECAY, EPSILON)
            return direction
        last = self.momentum * self.kept[0] if self.kept else None
        direction = slopes.direction(b, self.method, number(self.shift, step), last)
        self.kept = [direction] if self.method == "spring" else []
        return direction

    def length(self, direction: Vector, step: int) -> float:
        """How far to go: the rate, or less where psi would change by more than a small angle."""
        rate = number(self.rate, step)
        angle = abs(rate) * float(np.linalg.norm(self.slopes.times(direction)))
        return rate * min(1.0, FARTHEST / angle) if angle else rate

    def write(self, path: Path) -> None:
        """Replace the checkpoint."""
        state = self.local.rng.bit_generator.state
        mark = self.mark | {"method": self.method, "lowest": self.lowest, "random": state}
        write_arrays(
            path, vector=self.vector, best=self.best, energies=np.array(self.energies), errors=np.array(self.errors),
            kept=np.array(self.kept), rows=getattr(self.local.walk, "rows", np.empty(0)),
            mark=np.array(json.dumps(mark, default=np.ndarray.tolist)),
        )  # fmt: skip

    def read(self, path: Path) -> None:
        """Go on from the checkpoint."""
        arrays, mark = read_marked(path, self.mark)
        with understood(path):
            self.method, self.lowest = mark["method"], mark["lowest"]
            self.vector, self.best, self.kept = arrays["vector"], arrays["best"], [*arrays["kept"]]
            self.energies, self.errors = arrays["energies"].tolist(), arrays["errors"].tolist()
            if hasattr(self.local.walk, "rows"):
                self.local.walk.rows, self.local.walk.fresh = arrays["rows"], False
            self.local.rng.bit_generator.state = mark["random"]  # after a walk is begun, which draws


def number(schedule: Any, step: int) -> float:
    """The value of a number, or of a function of the step."""
    return float(schedule(step) if callable(schedule) else schedule)
