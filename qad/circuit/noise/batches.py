"""Trajectories as batches of states, in which all that have taken the same Kraus matrices so far are one.

What a trajectory takes in a stretch is drawn from its uniform numbers beforehand; at the end of a stretch the
probabilities follow from the reduced density matrices of the site's qubits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qad.circuit.noise.jumps import stretches_of
from qad.circuit.noise.kraus import Kraus
from qad.circuit.observables.sampling import outcomes, outcomes_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import ModuleType

    from qad.circuit.noise.frames import Stretch
    from qad.circuit.noise.jumps import NoisyProgram
    from qad.circuit.program.ir import CircuitProgram

TOGETHER = 2**22  # amplitudes, or entries of gates, of the states of a batch


class TrajectoryBatch(NamedTuple):
    """Trajectories that come to the same stretch: G groups, of which each is one state.

    Attributes
    ----------
    at : int
        The stretch.
    states, parents : arrays (P, 2**n), (G,)
        That of group g is ``states[parents[g]]``; of one amplitude for |0...0>.
    bits, firsts : arrays (G,)
        Its classical bits, and one of its trajectories.
    members, groups : arrays (M,)
        The trajectories, and the group of each.
    jumps : array (G, d * d) or None
        Entries of the matrix that each group took at the site before, and has not undergone yet.
    """

    at: int
    states: np.ndarray
    parents: np.ndarray
    bits: np.ndarray
    firsts: np.ndarray
    members: np.ndarray
    groups: np.ndarray
    jumps: np.ndarray | None = None

    def own(self) -> np.ndarray:
        """The state of each group (G, 2**n); one for all, if they have one."""
        count = len(self.states)
        return self.states if count == 1 or np.array_equal(self.parents, range(count)) else self.states[self.parents]

    def runs(self, stretch: Stretch) -> np.ndarray:
        """Which groups fulfil the condition of a stretch (G,)."""
        return self.bits & stretch.mask == stretch.value

    def divided(self, keys: np.ndarray) -> TrajectoryBatch:
        """The batch whose groups are those of the same keys (M,), whole numbers."""
        keys = self.groups * (keys.max() + 1) + keys
        _, first, groups = np.unique(keys, return_index=True, return_inverse=True)
        if len(first) == len(self.parents):
            return self
        old, jumps = self.groups[first], self.jumps
        return self._replace(
            parents=self.parents[old], bits=self.bits[old], firsts=self.members[first], groups=groups,
            jumps=None if jumps is None else jumps[old],
        )  # fmt: skip

    def pieces(self, most: int) -> Iterator[TrajectoryBatch]:
        """Batches of no more groups than so many."""
        for begin in range(0, len(self.parents), most):
            own, part = (self.groups >= begin) & (self.groups < begin + most), slice(begin, begin + most)
            yield TrajectoryBatch(
                self.at, self.states, self.parents[part], self.bits[part], self.firsts[part], self.members[own],
                self.groups[own] - begin, None if self.jumps is None else self.jumps[part],
            )  # fmt: skip


def draw(
    plan: NoisyProgram, entries: np.ndarray, kraus: Sequence[np.ndarray], uniforms: np.ndarray, dtype: np.dtype,
    engine: ModuleType,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Final states (G, 2**n), which of them each trajectory ends in (T,), and its choices (T, S).

    They follow from uniform numbers (T, S) and the gates' entries.
    """
    draws = Draws(plan, entries[0, 0], kraus, uniforms, engine)
    zero, one, every = np.zeros((1, 2**plan.program.n), dtype), np.zeros(1, np.int64), np.arange(len(uniforms))
    zero[0, 0] = 1
    todo, out, which = [TrajectoryBatch(0, zero, one, one, one, every, 0 * every)], [], 0 * every
    while todo:
        batch = todo.pop()
        if batch.at < len(draws.stretches):
            todo += draws.after(batch)
        else:
            which[batch.members] = sum(map(len, out)) + batch.parents[batch.groups]
            out.append(batch.states)
    return np.concatenate(out), which, draws.choices


class Draws:
    """What one call draws from, uniform numbers (T, S) among it, and the choices so far."""

    plan: NoisyProgram
    vector: np.ndarray
    kraus: list[Kraus]
    stretches: list[Stretch]
    uniforms: np.ndarray
    choices: np.ndarray
    engine: ModuleType

    def __init__(
        self,
        plan: NoisyProgram,
        vector: np.ndarray,
        kraus: Sequence[np.ndarray],
        uniforms: np.ndarray,
        engine: ModuleType,
    ):
        names, known = {id(u): (u.tobytes(), u.shape) for u in {id(u): u for u in kraus}.values()}, {}
        for u in kraus:
            if names[id(u)] not in known:
                known[names[id(u)]] = Kraus(u)
        self.plan, self.vector, self.engine = plan, vector, engine
        self.kraus = [known[names[id(u)]] for u in kraus]
        self.stretches = stretches_of(plan, tuple(one.kind for one in self.kraus))
        self.uniforms, self.choices = uniforms, np.full(uniforms.shape, -1)

    def after(self, batch: TrajectoryBatch) -> list[TrajectoryBatch]:
        """The batch after its stretch; if it has too many groups there, its pieces before it."""
        stretch, n = self.stretches[batch.at], self.plan.program.n
        if stretch.errors:
            batch = self.erring(batch, stretch.errors, batch.members[batch.runs(stretch)[batch.groups]])
        most = max(1, TOGETHER // max(2**n, stretch.size))
        if len(batch.parents) > most:
            return list(batch.pieces(most))
        runs, states = batch.runs(stretch), batch.own()
        if runs.any():
            choices = self.choices[batch.firsts[runs]]
            entries = stretch.entries(self.vector, self.kraus, choices, batch.jumps)
            states = self.run(stretch.program, runs, states, entries)
        batch = batch._replace(at=batch.at + 1, states=states, parents=np.arange(len(states)), jumps=None)
        return [batch if stretch.site < 0 else self.jumped(batch, stretch.site, runs)]

    def erring(self, batch: TrajectoryBatch, errors: tuple[int, ...], members: np.ndarray) -> TrajectoryBatch:
        """Draw what some trajectories take at neighbouring sites whose chances are fixed, and divide the groups."""
        within, first = slice(errors[0], errors[-1] + 1), np.array([self.kraus[s].chances[0] for s in errors])
        self.choices[members, within] = 0
        rows, columns = np.nonzero(self.uniforms[members, within] >= first)  # what is not the first matrix
        rows, columns = members[rows], columns + errors[0]
        for one in {id(self.kraus[s]): self.kraus[s] for s in errors}.values():
            own = np.array([k is one for k in self.kraus])[columns]
            at = rows[own], columns[own]
            self.choices[at] = outcomes(one.chances, self.uniforms[at])
        known, keys = {}, np.zeros(len(self.choices), np.int64)
        for t in np.unique(rows):
            keys[t] = known.setdefault(self.choices[t, within].tobytes(), len(known) + 1)
        return batch.divided(keys[batch.members])

    def run(self, program: CircuitProgram, runs: np.ndarray, states: np.ndarray, entries: np.ndarray) -> np.ndarray:
        """The states after a program, which takes part of the groups (G,)."""
        if runs.all():
            return self.engine.forward(program, entries, states[None])[0]
        states = states.copy()
        states[runs] = self.engine.forward(program, entries, states[runs][None])[0]
        return states

    def jumped(self, batch: TrajectoryBatch, s: int, runs: np.ndarray) -> TrajectoryBatch:
        """The batch, whose groups that run take what they do at a site whose probabilities depend on the state."""
        site, one, own = self.plan.sites[s], self.kraus[s], runs[batch.groups]
        weights = one.weights(batch.states, site.qubits, self.plan.program.n)
        members = batch.members[own]
        self.choices[members, s] = outcomes_of(weights, batch.groups[own], self.uniforms[members, s])
        batch = batch.divided(self.choices[batch.members, s] + 1)
        taken, bits = self.choices[batch.firsts, s], batch.bits
        runs = taken >= 0
        jumps = np.tile(np.eye(2 ** len(site.qubits), dtype=complex).ravel(), (len(taken), 1))
        norms = np.sqrt(weights[batch.parents[runs], taken[runs]])
        jumps[runs] = one.entries[taken[runs]] / norms[:, None]
        if site.into is not None:
            bits = np.where(runs, bits & ~(1 << site.into) | taken << site.into, bits)
        return batch._replace(bits=bits, jumps=jumps)
