"""Quantum trajectories: density matrices as means over states that decay and jump.

Between jumps a state evolves under ``H - i/2 sum_k L_k^+ L_k`` and loses norm; where its square has fallen below a
number drawn from (0, 1), one of the jumps happens, with the probabilities ``|L_k psi|^2``.  Bonds are those of pure
states.

J. Dalibard, Y. Castin and K. Mølmer, PRL 68, 580 (1992); A. J. Daley, Adv. Phys. 63, 77 (2014).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, GradientTypeError
from qad.core.process.threads import blas_for
from qad.extend import Tensor
from qad.keywords import keywords_told
from qad.mps.chain.chain import site_count
from qad.mps.chain.checks import check_plain
from qad.mps.chain.state import MPS
from qad.mps.energy.hamiltonian import check_hermitian
from qad.mps.evolve.courses import Course
from qad.mps.evolve.evolution import real_time
from qad.mps.measure.measures import measure
from qad.mps.measure.observables import expectation
from qad.mps.open.generator import jump_of
from qad.mps.operators.application import apply_mpo
from qad.mps.operators.mpo import plain_of
from qad.mps.operators.opsum import OpSum
from qad.showing.progress import bar_for

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from qad.mps.operators.mpo import MPO
    from qad.typing import Array, ArrayLike, Seed


@dataclass(frozen=True)
class StateTrajectories:
    """What `trajectories` returns.

    Attributes
    ----------
    states : tuple of MPS
        At the end, of norm 1: their mean ``|psi><psi|`` is an estimate of the density matrix.
    jumps : tuple of tuples
        Of each state the jumps that it made, ``(time, number)``.
    discarded : float
        Largest sum of the weights that the truncations of one state cut off.
    """

    states: tuple[MPS, ...]
    jumps: tuple[tuple[tuple[float, int], ...], ...]
    discarded: float

    def measure(self, operator: str | ArrayLike, sites: int | Sequence[int] | None = None) -> tuple[Array, Array]:
        """Means of a Hermitian operator, as of `qad.mps.measure`, and their standard errors.

        Examples
        --------
        See `trajectories`.
        """
        values = np.stack([measure(psi, operator, sites).real for psi in self.states])
        return values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))

    def sample(self, seed: Seed = 0) -> NDArray[np.int64]:
        """Configurations (samples, n) drawn from the density matrix, one of each state.

        Independent of each other and of the numbers that drew the jumps, also with the same seed.

        Examples
        --------
        >>> import qad
        >>> qad.mps.trajectories(qad.mps.MPS.product([0, 1]), qad.mps.OpSum(2), [], 1.0, 2, samples=3).sample()
        array([[0, 1],
               [0, 1],
               [0, 1]])
        """
        rng = np.random.default_rng(seed).spawn(1)[0]
        return np.concatenate([psi.sample(1, rng) for psi in self.states])


@keywords_told
def trajectories(
    psi: MPS, H: OpSum, jumps: Sequence[OpSum | tuple[Any, ...]], time: float, steps: int, samples: int = 100,
    method: str = "tdvp2", bond: int = 64, cutoff: float | None = None, *, seed: Seed = 0,
) -> StateTrajectories:  # fmt: skip
    """Samples of a Lindblad equation that begins in a pure state.

    Parameters
    ----------
    psi : MPS
        Open, without charges.
    H, jumps
        As of `lindblad`; `H` is an OpSum.
    time, steps, method, bond, cutoff
        As of `evolve`.
    samples : int
        Number of states, two or more.
    seed : int or numpy.random.Generator

    Returns
    -------
    StateTrajectories

    Raises
    ------
    ArgumentError
        As of `lindblad` and `evolve`, and for states with charges, which jumps would change.
    GradientTypeError
        Where something is recorded: samples have no derivative.

    Notes
    -----
    A jump happens at the end of a step, at most one in each: the error is of first order in its length times the rates.

    Examples
    --------
    >>> import numpy as np, qad
    >>> decays = [(1.0, "Sm", i) for i in range(2)]
    >>> found = qad.mps.trajectories(qad.mps.MPS.product([0, 0]), qad.mps.OpSum(2), decays, 1.0, 20, 50, "tebd")
    >>> mean, error = found.measure(np.diag([1.0, 0.0]))
    >>> bool(np.all(abs(mean - np.exp(-1.0)) < 4 * error))
    True
    """
    check_plain(psi)
    if not isinstance(H, OpSum):
        raise ArgumentError("trajectories take H as an OpSum: a sum of terms, as those of jumps are")
    samples, steps = site_count(samples, 2, "samples"), site_count(steps, 1, "steps")
    decay = Decay(H, [jump_of(jump, k, H.sites) for k, jump in enumerate(jumps)])
    if any(type(x) is Tensor for x in (*psi, *decay.generator, *decay.rates, time)):
        raise GradientTypeError(
            "samples have no derivative: means of evolve(density(psi), lindblad(H, jumps), ...) have"
        )
    if (time := real_time(time)) < 0:
        raise ArgumentError(f"states decay and jump forwards in time, which is not {time}: give a time of 0 or more")
    how = {"method": method, "bond": site_count(bond, 1, "bond"), "cutoff": cutoff}
    rng, found = np.random.default_rng(seed), []
    with blas_for(max(bond, psi.bond)), bar_for(label="trajectories", total=samples) as bar:
        for _ in range(samples):
            found.append(decay.sample(psi.normalized(), time, steps, rng, how))
            bar.update()
    states, made, lost = zip(*found, strict=True)
    return StateTrajectories(states, made, max(lost))


class Decay:
    """What a state does between jumps, and which of them happens.

    Attributes
    ----------
    generator : MPO
        ``H - i/2 sum_k L_k^+ L_k``.
    operators, squares : lists of MPO
        ``L_k`` and ``L_k^+ L_k``, without rates.
    rates : list of numbers
    """

    def __init__(self, H: OpSum, jumps: Sequence[tuple[OpSum, Any]]):
        check_hermitian(plain_of(H.mpo()).tensors)
        squares = [jump.dagger() @ jump for jump, _ in jumps]
        self.rates: list[Any] = [rate for _, rate in jumps]
        total = sum((-0.5j * rate * square for square, rate in zip(squares, self.rates, strict=True)), H)
        self.generator: MPO = total.mpo()
        self.operators: list[MPO] = [jump.mpo() for jump, _ in jumps]
        self.squares: list[MPO] = [square.mpo() for square in squares]

    def sample(
        self, psi: MPS, time: float, steps: int, rng: np.random.Generator, how: dict[str, Any]
    ) -> tuple[MPS, tuple[tuple[float, int], ...], float]:  # fmt: skip
        """A state after all steps, its jumps, and the weight that was cut off."""
        course, lost, left, made = None, 0.0, -rng.exponential(), []  # the logarithm of a number from (0, 1)
        for step in range(1, steps + 1):
            if course is None:
                course = Course(psi, self.generator, time / steps, 1, steps, imaginary=False, hermitian=False, **how)
            left -= 2 * course.advance()
            if left > 0:
                psi, lost, number = course.state, lost + course.account()[0], self.drawn(course.state, rng)
                made.append((step * time / steps, number))
                psi, error = apply_mpo(self.operators[number], psi, how["bond"])
                psi, lost = psi.normalized(), lost + (error / float(psi.norm())) ** 2
                course, left = None, -rng.exponential()
        return (psi, tuple(made), lost) if course is None else (course.state, tuple(made), lost + course.account()[0])

    def drawn(self, psi: MPS, rng: np.random.Generator) -> int:
        """The number of a jump, with the probabilities of all."""
        weights = [rate * expectation(psi, square).real for rate, square in zip(self.rates, self.squares, strict=True)]
        return int(rng.choice(len(weights), p=np.clip(weights, 0, None) / np.clip(weights, 0, None).sum()))
