"""Evolution in real time within a family of wave functions (t-VMC)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.keywords import keywords_told
from qad.mps.chain.chain import site_count
from qad.optimize.result import BY_USER, result_card
from qad.showing.progress import bar_for, note
from qad.vmc.descent import Slopes
from qad.vmc.expectation import LocalValues

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.typing import Progress, Seed, Tree, Vector
    from qad.vmc.samplers import Sampler
    from qad.vmc.space import Space
    from qad.vmc.statistics import Estimate
    from qad.vmc.wave_functions import LogPsi


@dataclass(frozen=True)
class Evolved:
    """Where `evolve` has arrived.

    Attributes
    ----------
    params : pytree
        At the last of the times.
    times : ndarray
        From 0 on.
    history, errors : ndarray
        The energy at the times but the last, which is conserved as far as the wave function follows, and its standard
        errors.
    message : str
        Why it ended.
    """

    params: Any = field(repr=False)
    times: np.ndarray = field(repr=False)
    history: np.ndarray = field(repr=False)
    errors: np.ndarray = field(repr=False)
    message: str = field(metadata={"static": True})

    def _repr_html_(self) -> str:
        return result_card(self)


@keywords_told
def evolve(
    log_psi: LogPsi,
    params: Tree,
    H: Any,
    space: Space,
    time: float,
    steps: int,
    samples: int = 1024,
    progress: Progress = None,
    seed: Seed = 0,
    *,
    sampler: Sampler = "metropolis",
    cutoff: float = 1e-8,
    callback: Callable[[float, Any, Any], object] | None = None,
    memory_limit: float = 2**31,
) -> Evolved:
    """The evolution ``exp(-i H time)`` of a wave function, projected on what its parameters can follow.

    Parameters
    ----------
    log_psi, params, H, space, samples, sampler, seed, progress, memory_limit
        As of `ground_state`; `log_psi` is complex.
    time : float
    steps : int
        Of equal length; each takes four sets of samples.
    cutoff : float
        Eigenvalues of the metric below this, relative to the largest, are left out smoothly.
    callback : callable, optional
        ``callback(time, params, energy)`` before every step, the energy an `Estimate`: what else is to be measured is
        measured there. Raising StopIteration in it ends the evolution.

    Returns
    -------
    Evolved

    Raises
    ------
    ArgumentError
        As `ground_state`; if `log_psi` is real.

    Notes
    -----
    The parameters move so that ``|O dtheta/dt + i (E_loc - <E>)|^2`` is least, the principle of McLachlan, which for
    holomorphic functions is that of Dirac and Frenkel: G. Carleo et al., Sci. Rep. 2, 243 (2012).  The equations are
    those of `qad.vmc.descent`, real ones of real and imaginary parts; the steps are Runge and Kutta's of fourth order.

    Examples
    --------
    >>> import numpy as np, qad
    >>> H = qad.mps.OpSum(1).add(1.0, "Sx", 0)  # a field, which a spin goes around
    >>> log_psi = lambda p, s: np.where(s[:, 0] > 0, p[0], p[1])
    >>> found = qad.vmc.evolve(
    ...     log_psi, np.array([0.0, -1.0 + 0j]), H, qad.vmc.Spins(1), time=2 * np.pi, steps=50, sampler="exact")
    >>> abs(found.params[1] - found.params[0]).round(4)  # as it began
    np.float64(1.0)
    """
    local, slopes = LocalValues(log_psi, H, space, samples, sampler, seed), Slopes(log_psi, params, memory_limit)
    state, length = slopes.packing.pack(params), time / site_count(steps, 1, "steps")
    velocity, found, message = partial(moving, local, slopes, cutoff), [], f"all {steps} steps were taken"
    with bar_for(progress, "energy", steps) as bar:
        try:
            for k in range(steps):
                first, energy = velocity(state)
                if callback is not None:
                    callback(k * length, slopes.packing.unpack(state), energy)
                state = stepped(state, first, lambda vector: velocity(vector)[0], length)
                found.append((energy.mean, energy.error))
                note(bar, [mean for mean, _ in found])
        except StopIteration:
            message = "stopped by the callback"
        except KeyboardInterrupt:
            message = BY_USER
    energies, errors = np.array(found).reshape(-1, 2).T
    return Evolved(slopes.packing.unpack(state), length * np.arange(len(found) + 1), energies, errors, message)


def moving(local: LocalValues, slopes: Slopes, cutoff: float, vector: Vector) -> tuple[Vector, Estimate]:
    """The derivative of the parameters by time, and the energy."""
    params = slopes.packing.unpack(vector)
    drawn, values = local.draw(params)
    if drawn.log_psi.dtype.kind == "f":
        raise ArgumentError("log_psi is real, and time makes phases: return complex logarithms, as of complex params")
    b = slopes.at(params, drawn).centred(-1j * values)
    return slopes.direction(b, slopes.method, 0.0, cutoff=cutoff), local.estimate(drawn, values)


def stepped(y: Vector, first: Vector, velocity: Callable[[Vector], Vector], length: float) -> Vector:
    """A step of Runge and Kutta's fourth order, of which the `first` velocity is known."""
    second = velocity(y + length / 2 * first)
    third = velocity(y + length / 2 * second)
    fourth = velocity(y + length * third)
    return y + length / 6 * (first + 2 * second + 2 * third + fourth)
