"""A chain with its centre, on which site operators act: gates of a circuit, and operators of its observables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.chains.operators import adjoint, site_operators
from qad.mps.chain.canonical import move_left, move_right
from qad.mps.chain.site_tensors import applied as site_applied
from qad.mps.evolve.tebd import applied

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qad.circuit.ir import Instruction
    from qad.mps.evolve.tebd import Truncation


class Walker:
    """A matrix product state in mixed canonical form, changed by operators one after the other.

    Parameters
    ----------
    tensors : list of arrays (left, 2, right)
        Isometries before and after the centre.  The arrays are never written into, so that earlier lists of them stay.
    centre : int
    truncation : Truncation
        Cuts bonds, and keeps account of it.
    """

    tensors: list[np.ndarray]
    centre: int
    truncation: Truncation

    def __init__(self, tensors: Iterable[np.ndarray], centre: int, truncation: Truncation):
        self.tensors, self.centre, self.truncation = list(tensors), centre, truncation

    def gate(self, op: Instruction, numbers: np.ndarray | None, back: bool = False) -> None:
        """Apply an instruction of these numbers, or `back` in the circuit its adjoint."""
        first, operators = site_operators(op, numbers)
        self.apply(first, adjoint(operators) if back else operators, op.unitary, to_right=not back)

    def apply(self, first: int, operators: Sequence[np.ndarray], unitary: bool, to_right: bool = True) -> None:
        """Apply site operators from the site `first` on; the centre ends where the next gates are expected."""
        last = first + len(operators) - 1
        operators = [w.astype(self.tensors[0].dtype, copy=False) for w in operators]
        if first == last:
            if not unitary:
                self.move(first)
            self.tensors[first] = (operators[0][0, 0] @ self.tensors[first]).astype(self.tensors[first].dtype)
            return
        self.move(min(max(self.centre, first), last))
        if last == first + 1:
            gate = np.tensordot(operators[0][0], operators[1][:, 0], (0, 0)).transpose(0, 2, 1, 3)
            pair = applied(gate, self.tensors, first)
            self.tensors[first], self.tensors[last] = self.truncation.split(pair, to_right)
            self.centre = last if to_right else first
            return
        for site, w in enumerate(operators, first):
            self.tensors[site] = site_applied(w, self.tensors[site])
        self.press(first, last)

    def press(self, first: int, last: int) -> None:
        """Make bonds as small as allowed between two sites, outside of which the chain is canonical."""
        self.centre = first
        self.move(last)
        for site in range(last, first, -1):
            left, phys, right = self.tensors[site].shape
            pair = self.tensors[site].reshape(left, 1, phys, right)
            carried, self.tensors[site] = self.truncation.split(pair, to_right=False)
            self.tensors[site - 1] = self.tensors[site - 1] @ carried[:, 0]
        self.centre = first

    def move(self, site: int) -> None:
        """Move the centre."""
        while self.centre < site:
            move_right(self.tensors, self.centre)
            self.centre += 1
        while self.centre > site:
            move_left(self.tensors, self.centre)
            self.centre -= 1
