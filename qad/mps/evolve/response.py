"""Derivatives of evolutions by gates, by an adjoint state with bonds of its own.

With the state ``|p_k>`` after layer k of gates, a loss that changes by ``Re <x|d p_last>`` changes by

    dL = Re sum_k <x_k| dG_k G_k^-1 |p_k>,    |x_last> = |x>,    |x_(k-1)> = G_k^dagger |x_k> / n_k,

where n_k is the norm that layer k left.  The adjoint state x is a chain that is truncated as p is, at the same weights:
what a change does to p is never asked to fit into the bonds of p, no cut is differentiated, and the error of a
derivative is, as that of the loss, of the order of the root of the weights that both states lost.

``|x>`` follows from cotangents of the final tensors (`qad.mps.evolve.changes.adjoint_of`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.mps.chain.row import edges
from qad.mps.evolve.adjoint import UNCUT, backwards, spacing
from qad.mps.evolve.changes import FINEST, Label, adjoint_of, filled, of_neighbours, portion
from qad.mps.evolve.dual import by_start, check_room, real_as
from qad.mps.evolve.tebd import swept
from qad.mps.evolve.truncation import Truncation
from qad.mps.kernels.dense import past_left, past_right
from qad.symmetric.generic import as_map, join, norm, of_map

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from qad.mps.evolve.adjoint import EvolutionMethod, State
    from qad.mps.evolve.recorded import GateSteps

    Layer = tuple[list[Any], bool, int]

SMALLEST = 1e-14  # weight that a cut of the adjoint state discards; its bonds may be twice as large
CONDITION = 1e8  # of a gate, above which its inverse loses too many digits


class Gated:
    """An evolution by gates, whose derivative has an adjoint state; and the states before its layers.

    A layer is a sweep of gates; `plan` is a `qad.mps.evolve.adjoint.EvolutionMethod`.
    """

    final: list[Any]
    lacked: float
    missed: float = 0.0

    def __init__(self, plan: EvolutionMethod, gates: Sequence[Any], start: Sequence[Any]):
        self.plan: EvolutionMethod = plan
        self.gates: Sequence[Any] = gates
        self.start: Sequence[Any] = start
        self.layers: list[Layer] = layers_of(plan.kind, gates)
        self.sizes: list[float] = []
        self.stored: dict[int, State] = {}
        truncation, keep = Truncation(plan.bond, plan.cutoff), spacing(start, plan.bond, len(self.layers))
        self.final, self.lacked = list(start), 0.0
        for k, layer in enumerate(self.layers):
            if truncation.discarded > UNCUT:
                break
            if k % keep == 0:
                self.stored[k] = tuple(self.final)
            self.sizes.append(passed(layer, self.final, truncation))
        self.lost: float = truncation.discarded
        self.gained: float = float(np.log(self.sizes).sum())
        if self.lost <= UNCUT:
            self.after: State = tuple(self.final)
            self.final, self.lacked = filled(self.final, self.changed, plan.bond, plan.reach)

    def changed(self, label: Label) -> list[Any]:
        """What changes before the rounds make of the state at the end."""
        state, wide = list(self.start), Truncation(label.bond, FINEST)
        truncation = Truncation(self.plan.bond, self.plan.cutoff)
        for k, layer in enumerate(self.layers):
            row, to_right, begin = layer
            if to_right:
                some = portion(k // 2, len(self.plan.kind))
                label.add(state, (of_neighbours(self.start, label.rng) for _ in some))
            passed(([None, *row], to_right, begin), label.tensors, wide, passed(layer, state, truncation))
        return label.tensors

    def again(self, state: State, k: int) -> list[Any]:
        """The state after layer k, made once more."""
        tensors = list(state)
        passed(self.layers[k], tensors, Truncation(self.plan.bond, self.plan.cutoff))
        return tensors

    def slopes(self, slopes: Sequence[Any], by_norm: np.ndarray) -> tuple[list[Any], list[Any]]:
        """Gradients by the gates and the first state, from those by the tensors of the final one."""
        check_room(self.lacked, self.plan.reach)
        adjoint, size = adjoint_of(self.final, slopes, float(by_norm.real), SMALLEST)
        if not size > 0:
            return [0 * x for x in self.gates], [0 * x for x in self.start]
        adjoint[0] = adjoint[0] * size
        return self.by_gates(adjoint), by_start(adjoint, self.start, 1.0)

    def by_gates(self, adjoint: list[Any]) -> list[Any]:
        """Gradients ``Re <x_k| dG_k G_k^-1 |p_k>`` by every gate; the adjoint state, centre at site 0, goes back."""
        dtype = np.result_type(*{t.dtype for t in (*self.gates, *adjoint)})
        total = [gate.astype(dtype) * 0 for gate in self.gates]
        truncation, state = Truncation(2 * self.plan.bond, SMALLEST), self.after
        check_invertible(self.gates)
        for k, before in backwards(self.stored, len(self.layers), self.again):
            row, to_right, begin = self.layers[k]
            sites = [site for site, gate in enumerate(row) if gate is not None]
            for j, (site, moved) in enumerate(between(adjoint, state, sites), begin):
                (where, matrices), parts = as_map(row[site], 2), as_map(moved, 2)[1]
                halves = zip(matrices, parts, strict=True)
                total[j] = total[j] + of_map(where, [np.linalg.solve(m, part).conj().T for m, part in halves])
            back = [None if gate is None else gate.conj().transpose(2, 3, 0, 1) for gate in row]
            passed((back, not to_right, begin), adjoint, truncation, self.sizes[k])
            state = before
        return [real_as(t, gate) for t, gate in zip(total, self.gates, strict=True)]


def layers_of(kind: GateSteps, gates: Sequence[Any]) -> list[Layer]:
    """Of every sweep the gates by bond, None for the rest; whether it goes right; and where its gates begin."""
    found, begins, start = [], {}, 0
    for first, share in kind.distinct:
        begins[first, share], start = start, start + len(range(first, kind.bonds, 2))
    for k, shares in enumerate(kind.rounds):
        for first, row in enumerate(kind.layers(gates, k)):
            found.append((row, first == 0, begins.get((first, shares[first]), 0)))
    return found


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
        rights.append(past_right(rights[-1], ket[site], bra[site]))
    for site in sites:
        while done < site:
            left, done = past_left(left, ket[done], bra[done]), done + 1
        upper = join(join(join(left, ket[site]), ket[site + 1]), rights[last - site - 1], ((3,), (1,)))
        lower = join(bra[site], bra[site + 1]).conj()
        yield site, join(upper, lower, ((0, 3), (0, 3)))
