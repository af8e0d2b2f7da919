"""A chain with its centre, on which gates of a circuit act, and operators of its observables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.chains.charges import acted, shifted, surviving
from qad.circuit.chains.operators import adjoint, site_operators
from qad.mps.chain.canonical import move_left, move_right
from qad.symmetric.generic import join, laid_out

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
        Isometries before and after the centre.  They are never written into, so that earlier lists of them stay.
    centre : int
    truncation : Truncation
        Cuts bonds, and keeps account of it.
    conserved : Quantities, optional
        What the chain conserves.
    """

    tensors: list[Any]
    centre: int
    truncation: Truncation
    conserved: Quantities | None

    def __init__(
        self, tensors: Iterable[Any], centre: int, truncation: Truncation, conserved: Quantities | None = None
    ):
        self.tensors, self.centre, self.truncation, self.conserved = list(tensors), centre, truncation, conserved

    def gate(self, op: Instruction, numbers: np.ndarray | None, back: bool = False) -> None:
        """Apply an instruction of these numbers, or `back` in the circuit its adjoint; the centre ends beside it."""
        if self.conserved is not None:
            first, last = min((*op.controls, *op.targets)), max((*op.controls, *op.targets))
            self.reach(first, last)
            charge, found = surviving(self.tensors, op, numbers, back, self.conserved)
            if any(charge):
                self.tensors[last + 1 :] = [shifted(tensor, (0, 2), charge) for tensor in self.tensors[last + 1 :]]
            self.put(first, found, to_right=not back)
            return
        first, operators = site_operators(op, numbers)
        operators = [w.astype(self.tensors[0].dtype, copy=False) for w in (adjoint(operators) if back else operators)]
        last = first + len(operators) - 1
        if first < last or not op.unitary:
            self.reach(first, last)
        operator: Any = operators if len(operators) > 2 else operators[0][0, 0]
        if len(operators) == 2:
            operator = np.tensordot(operators[0][0], operators[1][:, 0], (0, 0)).transpose(0, 2, 1, 3)
        self.put(first, acted(operator, self.tensors, first), to_right=not back)

    def put(self, first: int, found: Sequence[Any], to_right: bool = True) -> None:
        """Put tensors of sites in the place of those from the site `first` on, a pair of legs (a, s, t, b) as it is."""
        if found[0].ndim == 4:
            self.tensors[first], self.tensors[first + 1] = self.truncation.split(found[0], to_right)
            self.centre = first + to_right
            return
        self.tensors[first : first + len(found)] = found
        if len(found) > 1:
            self.press(first, first + len(found) - 1)

    def press(self, first: int, last: int) -> None:
        """Make bonds as small as allowed between two sites, outside of which the chain is canonical."""
        self.centre = last
        self.move(first)
        for site in range(first, last):
            self.tensors[site], carried = self.truncation.split(self.tensors[site], to_right=True)
            self.tensors[site + 1] = laid_out(join(carried, self.tensors[site + 1]), 2)
        self.centre = last

    def reach(self, first: int, last: int) -> None:
        """Move the centre to the nearest of some sites."""
        self.move(min(max(self.centre, first), last))

    def move(self, site: int) -> None:
        """Move the centre."""
        while self.centre < site:
            move_right(self.tensors, self.centre)
            self.centre += 1
        while self.centre > site:
            move_left(self.tensors, self.centre)
            self.centre -= 1
