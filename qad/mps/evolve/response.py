"""Derivatives of evolutions by gates, by an adjoint state with bonds of its own.

With the state ``|p_k>`` after layer k of gates, a loss that changes by ``Re <x|d p_last>`` changes by

    dL = Re sum_k <x_k| dG_k G_k^-1 |p_k>,    |x_last> = |x>,    |x_(k-1)> = G_k^dagger |x_k> / n_k,

where n_k is the norm that layer k left.  The adjoint state x is a chain that is truncated as p is, at the same weights:
what a change does to p is never asked to fit into the bonds of p, no cut is differentiated, and the error of a
derivative is, as that of the loss, of the order of the root of the weights that both states lost.

``|x>`` follows from cotangents of the final tensors (`qad.mps.evolve.changes.adjoint_of`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.mps.chain.densities import edges, passed_left, passed_right
from qad.mps.evolve.adjoint import MEMORY
from qad.mps.evolve.changes import FINEST, Label, adjoint_of, filled, of_neighbours, portion
from qad.mps.evolve.dual import UNCUT, by_start, real_as
from qad.mps.evolve.tebd import Truncation, swept
from qad.symmetric.generic import as_map, join, norm, of_map

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from qad.mps.evolve.recorded import GateSteps

    Layer = tuple[list[Any], bool, int]

SMALLEST = 1e-14  # weight that a cut of the adjoint state discards; its bonds may be twice as large
CONDITION = 1e8  # of a gate, above which its inverse loses too many digits


@dataclass(frozen=True)
class GateCourse:
    """How gates evolve a chain.

    Attributes
    ----------
    kind : GateSteps
        All rounds of them.
    bond, cutoff, reach
        As of `Truncation`.
    """

    kind: GateSteps
    bond: int
    cutoff: float
    reach: float

    def truncation(self) -> Truncation:
        """Of the state."""
        return Truncation(self.bond, self.cutoff, self.reach)

    def run(self, gates: Sequence[Any], start: Sequence[Any]) -> tuple[list[Any], float, float, float, float]:
        """Of gates and a chain."""
        done = Gated(self, gates, start)
        tensors, lost, lacked = done.state, done.truncation.discarded, 0.0
        if lost <= UNCUT:
            tensors, lacked = filled(tensors, lambda label: self.changed(gates, start, label), self.truncation())
        return tensors, done.gained, lost, 0.0, lacked

    def changed(self, gates: Sequence[Any], start: Sequence[Any], label: Label) -> list[Any]:
        """What changes before the rounds make of the state at the end."""
        state, truncation, wide = list(start), self.truncation(), Truncation(label.bond, FINEST)
        for k, layer in enumerate(self.layers(gates)):
            if layer[1]:
                some = portion(k // 2, len(self.kind))
                label.add(state, (of_neighbours(start, label.rng) for _ in some))
            row, *others = layer
            passed(([None, *row], *others), label.tensors, wide, passed(layer, state, truncation))
        return label.tensors

    def slopes(
        self, gates: Sequence[Any], start: Sequence[Any], final: Sequence[Any], slopes: Sequence[Any], by_norm: float
    ) -> tuple[list[Any], list[Any]]:
        """Gradients by the gates and the first state, from those by the tensors of the final one."""
        adjoint, size = adjoint_of(final, slopes, by_norm, SMALLEST)
        if not size > 0:
            return [0 * x for x in gates], [0 * x for x in start]
        adjoint[0] = adjoint[0] * size
        by_gates = Gated(self, gates, start).slopes(adjoint)
        return by_gates, by_start(adjoint, start, 1.0)

    def layers(self, gates: Sequence[Any]) -> list[Layer]:
        """Of every sweep the gates by bond, None for the rest; whether it goes right; and where its gates begin."""
        found, begins, start = [], {}, 0
        for first, share in self.kind.distinct:
            begins[first, share], start = start, start + len(range(first, self.kind.bonds, 2))
        for k, shares in enumerate(self.kind.rounds):
            for first, row in enumerate(self.kind.layers(gates, k)):
                found.append((row, first == 0, begins.get((first, shares[first]), 0)))
        return found


class Gated:
    """A chain that gates have changed, and its states on the way."""

    def __init__(self, plan: GateCourse, gates: Sequence[Any], start: Sequence[Any]):
        self.plan: GateCourse = plan
        self.gates: Sequence[Any] = gates
        self.gained: float = 0.0
        self.layers: list[Layer] = plan.layers(gates)
        self.truncation: Truncation = plan.truncation()
        state = list(start)
        largest = sum(t.dtype.itemsize * t.shape[1] for t in state) * plan.bond**2
        self.spacing: int = max(1, -(-len(self.layers) * largest // MEMORY))
        self.sizes: list[float] = []
        self.before: dict[int, list[Any]] = {}  # by layer
        for k, layer in enumerate(self.layers):
            if k % self.spacing == 0:
                self.before[k] = list(state)
            self.sizes.append(passed(layer, state, self.truncation))
            self.gained += float(np.log(self.sizes[k]))
        self.state: list[Any] = state
        self.before[len(self.layers)] = list(state)

    def backwards(self) -> Iterable[tuple[int, list[Any]]]:
        """Every layer from the last to the first, and the state after it."""
        for first in reversed(range(0, len(self.layers), self.spacing)):
            last = min(first + self.spacing, len(self.layers))
            states, truncation = [self.before[first]], self.plan.truncation()
            for k in range(first, last - 1):
                states.append(list(states[-1]))
                passed(self.layers[k], states[-1], truncation)
            states.append(self.before[last])
            yield from zip(reversed(range(first, last)), reversed(states), strict=False)

    def slopes(self, adjoint: list[Any]) -> list[Any]:
        """Gradients ``Re <x_k| dG_k G_k^-1 |p_k>`` by every gate, of the adjoint state with its centre at site 0."""
        dtype = np.result_type(*{t.dtype for t in (*self.gates, *adjoint)})
        total = [gate.astype(dtype) * 0 for gate in self.gates]
        truncation = Truncation(2 * self.plan.bond, SMALLEST)
        check_invertible(self.gates)
        for k, state in self.backwards():
            row, to_right, begin = self.layers[k]
            sites = [site for site, gate in enumerate(row) if gate is not None]
            for j, (site, moved) in enumerate(between(adjoint, state, sites), begin):
                (where, matrices), parts = as_map(row[site], 2), as_map(moved, 2)[1]
                halves = zip(matrices, parts, strict=True)
                total[j] = total[j] + of_map(where, [np.linalg.solve(m, part).conj().T for m, part in halves])
            back = [None if gate is None else gate.conj().transpose(2, 3, 0, 1) for gate in row]
            passed((back, not to_right, begin), adjoint, truncation, self.sizes[k])
        return [real_as(t, gate) for t, gate in zip(total, self.gates, strict=True)]


def passed(layer: Layer, tensors: list[Any], truncation: Truncation, size: float | None = None) -> float:
    """Apply the gates of a layer in place and divide by the norm that they leave, or by the one given; the norm."""
    row, to_right, _ = layer
    swept(row, tensors, truncation, to_right)
    centre = -1 if to_right else 0
    size = float(norm(tensors[centre])) if size is None else size
    tensors[centre] = tensors[centre] * (1 / size)
    return size


def check_invertible(gates: Iterable[Any]) -> None:
    """Raise where a step is so long that a gate has no inverse to half the digits."""
    worst = max((np.linalg.cond(matrix) for gate in gates for matrix in as_map(gate, 2)[1]), default=1.0)
    if not worst < CONDITION:
        raise ArgumentError(
            f"a step of imaginary time shrinks a state by {worst:.1g}, too much to be undone: more steps"
        )


def between(bra: Sequence[Any], ket: Sequence[Any], sites: Sequence[int]) -> Iterable[tuple[int, Any]]:
    """Of pairs of sites the map (ket, bra) that a trace over the other sites leaves of ``|ket><bra|``."""
    (left, end), done, last = edges(ket), 0, len(ket) - 1
    rights = [end]
    for site in range(last, 1, -1):
        rights.append(passed_right(rights[-1], ket[site], bra[site]))
    for site in sites:
        while done < site:
            left, done = passed_left(left, ket[done], bra[done]), done + 1
        upper = join(join(join(left, ket[site]), ket[site + 1]), rights[last - site - 1], ((3,), (1,)))
        lower = join(bra[site], bra[site + 1]).conj()
        yield site, join(upper, lower, ((0, 3), (0, 3)))
