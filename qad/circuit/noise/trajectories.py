"""Estimates from trajectories of a noisy circuit, and their gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.engines.choice import engine_of
from qad.circuit.gates.checks import check_memory
from qad.circuit.noise.batches import draw
from qad.circuit.noise.channels import Channel
from qad.circuit.noise.jumps import plan_of
from qad.circuit.noise.replay import replayed_mean, tilted
from qad.circuit.observables.operators import as_observable, expectation
from qad.circuit.observables.sampling import outcomes_of
from qad.core.errors import ArgumentError, GradientTypeError, ShapeError
from qad.extend import Tensor, stop_gradient, value_of
from qad.showing.progress import bar_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qad.circuit.noise.jumps import NoisyProgram
    from qad.circuit.noise.steps import NoisySteps
    from qad.circuit.observables.operators import Observable
    from qad.typing import Array, Seed

AT_ONCE = 2**20  # uniform numbers that are drawn together, and probabilities that are drawn from together


class Trajectories:
    """Trajectories of a noisy circuit; see `NoisyCircuit.trajectories`.

    Attributes
    ----------
    circuit : NoisyCircuit
    states : array (T, 2, ..., 2)
        The final state of each, normalised; refused where the circuit is recorded.
    bits : array of int (T, bits)
        The classical bits at the end.
    choices : array of int (T, S)
        Which Kraus matrix was taken at each channel, measurement and reset; -1 where its condition did not hold.
    """

    __slots__ = ("circuit", "bits", "choices", "_states", "_which", "_plan", "_tilted")
    circuit: NoisySteps
    bits: NDArray[np.int64]
    choices: NDArray[np.int64]
    _states: np.ndarray  # (G, 2**n), each once
    _which: NDArray[np.int64]  # which of them each trajectory ends in
    _plan: NoisyProgram
    _tilted: tuple[list[Channel], NDArray[np.int64]] | None

    def __init__(self, circuit: NoisySteps, shots: int, seed: Seed = 0):
        if isinstance(shots, bool) or not isinstance(shots, (int, np.integer)) or shots < 1:
            raise ArgumentError(f"shots is a positive whole number, not {shots!r}")
        check_memory(circuit.n, circuit.dtype, f"a batch of {shots} states (draw fewer at a time)", copies=int(shots))
        self.circuit = circuit.copy()
        self._plan = plan_of(circuit.n, circuit._size, tuple(circuit.operations))
        theta, plain = np.asarray(value_of(circuit.parameters)), {}
        for u in circuit.matrices:
            if id(u) not in plain:
                plain[id(u)] = np.asarray(u.plain if type(u) is Channel else value_of(u))
        matrices = [plain[id(u)] for u in circuit.matrices]
        channels = {site.given for site in self._plan.sites}
        if theta.ndim > 1 or any(u.ndim > 2 and i not in channels for i, u in enumerate(matrices)):
            raise ShapeError("trajectories are of one set of parameters: call them for each example of a batch")
        entries = np.asarray(self._plan.program.entries(theta, matrices))
        kraus = [u.astype(complex, copy=False) for u in self._plan.kraus(matrices)]
        rng = np.random.default_rng(seed)
        self._states, self._which, self.choices = self._draw(entries, kraus, rng, shots)
        self.bits = self._plan.bits(self.choices, circuit.bits)
        self._tilted = None
        recorded = any(type(u) is Channel and u.recorded for u in circuit.matrices)
        others = tilted(self._plan.channels(circuit.matrices)) if recorded else None
        if others is not None:  # derivatives by rates take branches that are hardly ever drawn, or never
            self._tilted = others, self._draw(entries, [c.plain + 0j for c in others], rng.spawn(1)[0], shots)[2]

    def _draw(self, entries, kraus, rng, shots):
        """Final states (G, 2**n), which of them each trajectory ends in, and its choices (T, S)."""
        part = AT_ONCE // max(1, len(kraus)) + 1
        sizes = [part] * (shots // part) + [shots % part] * (shots % part > 0)
        given = self.circuit.dtype, engine_of(self.circuit.engine)
        found = []
        with bar_for(label="trajectories", total=shots) as bar:
            for size in sizes:
                found.append(draw(self._plan, entries, kraus, rng.random((size, len(kraus))), *given))
                bar.update(size)
        states, which, choices = zip(*found, strict=True)
        begins = np.cumsum([0, *map(len, states[:-1])])
        which = np.concatenate([w + begin for w, begin in zip(which, begins, strict=True)])
        return states[0] if len(states) == 1 else np.concatenate(states), which, np.concatenate(choices)

    @property
    def states(self) -> np.ndarray:
        """The final state of each trajectory (T, 2, ..., 2), normalised."""
        self._refuse_recorded("states")
        return self._states[self._which].reshape(len(self), *(2,) * self.circuit.n)

    def _recorded(self, observable: Observable | None = None) -> bool:
        """Whether the circuit or an observable holds recorded numbers."""
        operands = [*self.circuit._chunks]
        for u in self.circuit.matrices:
            operands += [u.weights, u.matrices] if type(u) is Channel else [u]
        observable = None if observable is None else as_observable(observable)
        operands += [getattr(observable, name, None) for name in ("coefficients", "matrix")]
        return any(type(x) is Tensor for x in operands)

    def _refuse_recorded(self, what: str, observable: Observable | None = None) -> None:
        """Raise where plain numbers would lose a gradient."""
        if self._recorded(observable):
            raise GradientTypeError(
                f"the {what} of trajectories are plain numbers, without a gradient: .expectation(H) has one, and a "
                "circuit of qad.stop_gradient(theta) has none"
            )

    def __len__(self) -> int:
        return len(self._which)

    def __repr__(self) -> str:
        return f"Trajectories({len(self)} of {self.circuit!r})"

    def sample(self, seed: Seed = 0) -> NDArray[np.int64]:
        """The outcomes (T, n) of measuring all qubits at the end, one of each trajectory.

        Independent of the numbers that drew the trajectories, also with the same seed.

        Examples
        --------
        >>> import qad
        >>> qad.circuit.NoisyCircuit(2).x(0).measure(0).cx(0, 1).trajectories(2).sample()
        array([[1, 1],
               [1, 1]])
        """
        n, uniforms = self.circuit.n, np.random.default_rng(seed).spawn(2)[1].random(len(self))  # [0]: of rare branches
        found, part = np.empty(len(self), np.int64), max(1, AT_ONCE >> n)
        for begin in range(0, len(self._states), part):
            psi, own = self._states[begin : begin + part], self._which // part == begin // part
            found[own] = outcomes_of(psi.real**2 + psi.imag**2, self._which[own] - begin, uniforms[own])
        return found[:, None] >> np.arange(n - 1, -1, -1) & 1

    def values(self, observable: Observable) -> np.ndarray:
        """The expectation value in each trajectory (T,), plain numbers; refused where something is recorded."""
        self._refuse_recorded("values", observable)
        n, engine = self.circuit.n, engine_of(self.circuit.engine)
        return np.asarray(value_of(expectation(self._states, observable, n, engine)))[self._which]

    def error(self, observable: Observable) -> float:
        """The standard error of `expectation`: the root of the variance of `values` over T."""
        if len(self) < 2:
            raise ArgumentError("the standard error of a mean takes two trajectories or more")
        return float(self.values(observable).std(ddof=1) / np.sqrt(len(self)))

    def expectation(self, observable: Observable) -> Array:
        """The mean of the expectation values of all trajectories, real: an estimate of ``tr(rho H)``.

        Its derivatives, of any order and in both modes, are unbiased estimates of those of ``tr(rho H)``, by whatever
        the circuit and the observable were made of.
        Second ones miss outcomes whose probability is zero at the point, such as that of 1 after ``ry(0.0)``.

        Notes
        -----
        ``tr(rho H) = sum_k <psi_k|H|psi_k>`` over all records k, with states ``psi_k`` that are not normalised and
        ``p_k = <psi_k|psi_k>``.  A record that was drawn contributes the derivative of ``<psi_k|H|psi_k>`` with k held
        fixed, over p_k: the pathwise derivative of its normalised expectation value, and this times the derivative of
        ``log p_k``, the score.  From the factor of the score the mean over all other trajectories is subtracted, which
        changes no mean and lowers the variance.  Where no probability depends on the state (mixtures of unitary
        matrices whose probabilities are plain numbers) the score is 0, and the derivative pathwise.

        Examples
        --------
        >>> import numpy as np, qad
        >>> def energy(theta):
        ...     c = qad.circuit.NoisyCircuit(1).ry(theta, 0).channel(qad.circuit.flip(0.1, "Y"), 0)
        ...     return c.trajectories(1000, seed=3).expectation("X")
        >>> value, slope = qad.value_and_grad(energy)(0.5)
        >>> abs(slope - 0.8 * np.cos(0.5)) < 0.1
        np.True_
        """
        if not self._recorded(observable):
            return self.values(observable).mean()
        observable, channels = as_observable(observable), self._plan.channels(self.circuit.matrices)
        if self._tilted is None:
            return replayed_mean(self.circuit, channels, self.choices, observable, None)
        drawn, choices = self._tilted
        found = replayed_mean(self.circuit, channels, choices, observable, drawn)
        value = expectation(self._states, stop_gradient(observable), self.circuit.n, engine_of(self.circuit.engine))
        return value_of(value)[self._which].mean() + (found - stop_gradient(found))
