"""A chain with its centre, on which gates of a circuit act, and the overlaps with it that gates are paired with."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.chains.operators import ONE, surviving, symmetric, whole
from qad.circuit.gates.table import pauli_matrix
from qad.mps.chain.canonical import move_left, move_right
from qad.mps.chain.densities import opened
from qad.mps.chain.row import edges
from qad.mps.charges.parts import applied
from qad.mps.evolve.tebd import compressed
from qad.mps.kernels.environments import past_left, past_right, through_left
from qad.symmetric.generic import dense, join

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from qad.circuit.program.ir import Instruction
    from qad.mps.charges.quantities import Quantities
    from qad.mps.evolve.truncation import Truncation


class Walker:
    """A matrix product state in mixed canonical form, changed by operators one after the other.

    Parameters
    ----------
    tensors : list of arrays or SymTensors (left, 2, right)
        Isometries before and after the centre, which begins at the first site.  They are never written into, so that
        earlier lists of them stay.
    truncation : Truncation
        Cuts bonds, and keeps account of it.
    conserved : Quantities, optional
        What the chain conserves.
    """

    tensors: list[Any]
    centre: int
    truncation: Truncation
    conserved: Quantities | None

    def __init__(self, tensors: Iterable[Any], truncation: Truncation, conserved: Quantities | None = None):
        self.tensors, self.centre, self.truncation, self.conserved = list(tensors), 0, truncation, conserved

    def gate(self, op: Instruction, numbers: np.ndarray | None, back: bool = False) -> None:
        """Apply an instruction of these numbers, or `back` in the circuit its adjoint; the centre ends beside it."""
        first, last = min((*op.controls, *op.targets)), max((*op.controls, *op.targets))
        if self.conserved is not None or first < last or not op.unitary:
            self.move(min(max(self.centre, first), last))
        after = whole if self.conserved is None else partial(surviving, conserved=self.conserved)
        self.put(first, last, after(self.tensors, op, numbers, back), to_right=not back)

    def put(self, first: int, last: int, found: list[Any], to_right: bool) -> None:
        """Put tensors in the place of those from the site `first` on, a pair as one; bonds up to `last` are cut."""
        if found[0].ndim == 4:
            self.tensors[first], self.tensors[first + 1] = self.truncation.split(found[0], to_right)
            self.centre = first + to_right
            return
        if first < last:
            found[: last + 1 - first] = compressed(found[: last + 1 - first], self.truncation)
            self.centre = first
        self.tensors[first : first + len(found)] = found

    def move(self, site: int) -> None:
        """Move the centre."""
        while self.centre < site:
            move_right(self.tensors, self.centre)
            self.centre += 1
        while self.centre > site:
            move_left(self.tensors, self.centre)
            self.centre -= 1


# -- overlaps ----------------------------------------------------------------------------------------------------------


class Overlaps:
    """The environments from the left and from the right of two chains.

    An environment has legs (bra, ket).  It is computed anew only from the first site on that is another array than last
    time, so that a sweep over all gates of a layer takes one sweep over the chain.
    """

    def __init__(self, bra: Sequence[Any], conserved: Quantities | None):
        self.conserved: Quantities | None = conserved
        left, right = edges(bra)
        self.kept: dict[str, tuple[list[Any], list[Any]]] = {"left": ([left], []), "right": ([right], [])}

    def past(self, bra: Sequence[np.ndarray], ket: Sequence[np.ndarray], side: str, bond: int) -> np.ndarray:
        """The environment of all sites on one side of the bond left of a site, as far as possible from memory."""
        (environments, pairs), past = self.kept[side], past_left if side == "left" else past_right
        sites = range(bond) if side == "left" else range(len(bra) - 1, bond - 1, -1)
        valid = 0
        for site, (a, b) in zip(sites, pairs, strict=False):
            if a is not bra[site] or b is not ket[site]:
                break
            valid += 1
        if valid < len(sites):
            del environments[valid + 1 :], pairs[valid:]
        for site in sites[valid:]:
            environments.append(past(environments[-1], ket[site], bra[site]))
            pairs.append((bra[site], ket[site]))
        return environments[len(sites)]

    def paired(self, op: Instruction, bra: Sequence[Any], ket: Sequence[Any]) -> np.ndarray:
        """``<bra| d op / d v |ket>`` for every number v of an instruction, an array (E,); its controls are at 1."""
        sites, conserved = sorted((*op.controls, *op.targets)), self.conserved
        left, right = self.past(bra, ket, "left", sites[0]), self.past(bra, ket, "right", sites[-1] + 1)
        row = {site: ket[site] for site in range(sites[0], sites[-1] + 1)}
        for site in op.controls:
            row[site] = applied(ONE if conserved is None else symmetric(ONE, [site], conserved), row[site])
        if op.kind == "pauli" and conserved is None:
            letters = zip(op.targets, op.letters, strict=True)
            turned = row | {q: applied(pauli_matrix(letter), row[q]) for q, letter in letters}
            inside = [bra[site] for site in row]
            ends = [through_left(left, [*each.values()], inside).ravel() for each in (row, turned)]
            return np.array([1, -1j]) * [end @ right.ravel() for end in ends]
        for site, tensor in row.items():
            left = opened(left, tensor, site in op.targets, bra[site])
        density = dense(join(left, right, ((0, left.ndim - 1), (0, 1))))  # (out, in) of every target
        if conserved is not None:
            density = density[np.ix_(*[np.argsort(conserved.orders[t]) for t in sorted(op.targets) for _ in range(2)])]
        k, order = len(op.targets), np.argsort(np.argsort(op.targets))
        density = density.transpose([2 * t for t in order] + [2 * t + 1 for t in order]).reshape(2**k, 2**k)
        if op.kind != "pauli":
            return density.diagonal() if op.kind == "diagonal" else density.ravel()
        return np.array([np.trace(density), -1j * (density * pauli_matrix(op.letters)).sum()])
