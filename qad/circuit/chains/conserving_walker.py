"""A chain of definite charge on which gates act that conserve it.

A gate is taken apart by the charge that it adds.  One part alone has to be left of it in the present state: so gates
that conserve are fine, and so is X on a qubit that is known to be 0 or 1, which takes the state to another sector.
Gates on qubits that are apart act after these were swapped together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.chains.operators import site_operators
from qad.circuit.gates import SWAP
from qad.core.errors import ArgumentError
from qad.mps.chain.canonical import canonical, isometric_columns, isometric_rows
from qad.symmetric.contraction import tensordot
from qad.symmetric.create import from_blocks, from_dense
from qad.symmetric.legs import Leg

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.circuit.ir import Instruction
    from qad.mps.charges.quantities import Charge, Quantities
    from qad.mps.charges.state import SymmetricMPS
    from qad.mps.evolve.tebd import Truncation
    from qad.symmetric.tensor import SymTensor

WIDEST = 8  # qubits that one gate may join
LOST = 1e-13  # relative norm of a part of a gate that is no more than rounding of its matrix


class ConservingWalker:
    """A state of definite charge in mixed canonical form, changed by gates one after the other.

    Parameters
    ----------
    state : SymmetricMPS
        Of bonds of dimension 1, unless it is to be pressed (`pressed`).
    truncation : Truncation
        Cuts bonds, and keeps account of it.
    """

    def __init__(self, state: SymmetricMPS, truncation: Truncation):
        self.tensors: list[SymTensor] = list(state)
        self.conserved: Quantities = state.conserved
        self.truncation: Truncation = truncation
        self.centre: int = 0

    def pressed(self) -> ConservingWalker:
        """This chain, of any gauge before, its bonds made as small as allowed; the centre is the last site."""
        self.tensors = canonical(self.tensors, 0)
        for site in range(len(self.tensors) - 1):
            self.tensors[site], carried = self.truncation.split(self.tensors[site], to_right=True)
            self.tensors[site + 1] = tensordot(carried, self.tensors[site + 1], 1)
        self.centre = len(self.tensors) - 1
        return self

    def move(self, site: int) -> None:
        """Move the centre."""
        while self.centre < site:
            k = self.centre
            self.tensors[k], carried = isometric_rows(self.tensors[k])
            self.tensors[k + 1] = tensordot(carried, self.tensors[k + 1], 1)
            self.centre += 1
        while self.centre > site:
            k = self.centre
            carried, self.tensors[k] = isometric_columns(self.tensors[k])
            self.tensors[k - 1] = tensordot(self.tensors[k - 1], carried, 1)
            self.centre -= 1

    def gate(self, op: Instruction, numbers: np.ndarray | None, back: bool = False) -> None:
        """Apply an instruction of these numbers, or `back` in the circuit its adjoint."""
        matrix = matrix_of(op, numbers).astype(self.tensors[0].dtype)
        self.apply(sites_of(op), matrix.conj().T if back else matrix, called(op))

    def apply(self, sites: Sequence[int], matrix: np.ndarray, name: str) -> None:
        """A gate on ascending sites, which are swapped together and back."""
        swaps = [
            k for place, site in enumerate(sites[1:], sites[0] + 1) for k in reversed(range(place, site))
        ]  # each goes to its place beside the first, one after the other
        swap = SWAP.astype(matrix.dtype)
        for k in swaps:
            self.act(k, swap, "swap")
        self.act(sites[0], matrix, name)
        for k in reversed(swaps):
            self.act(k, swap, "swap")

    def act(self, first: int, matrix: np.ndarray, name: str) -> None:
        """A gate on neighbours, the first one given; the centre ends on the last one."""
        size = matrix.shape[0].bit_length() - 1
        last = first + size - 1
        self.move(min(max(self.centre, first), last))
        centre = self.tensors[first]
        for tensor in self.tensors[first + 1 : last + 1]:
            centre = tensordot(centre, tensor, 1)
        charge, centre = self.only_part(centre, parts_of(matrix, first, size, self.conserved), first, name)
        if any(charge):
            centre = shifted(centre, (centre.ndim - 1,), charge)
            for site in range(last + 1, len(self.tensors)):
                self.tensors[site] = shifted(self.tensors[site], (0, 2), charge)
        for site in range(first, last):
            self.tensors[site], centre = self.truncation.split(centre, to_right=True)
        self.tensors[last], self.centre = centre.resplit(2), last

    def only_part(
        self, centre: SymTensor, parts: dict[Charge, SymTensor], first: int, name: str
    ) -> tuple[Charge, SymTensor]:
        """The charge that a gate adds to this state, and the centre after it; raises where there are several."""
        size = centre.ndim - 2
        axes = tuple(range(1, 1 + size)), tuple(range(size, 2 * size))
        order = (0, *range(2, 2 + size), 1)
        found = {q: tensordot(centre, part, axes).transpose(order) for q, part in parts.items()}
        norms = {q: float(t.norm()) for q, t in found.items()}
        left = [q for q, norm in norms.items() if norm > LOST * max(norms.values())]
        if len(left) != 1:
            shown = ", ".join(str(self.conserved.symmetry.shown(q)) for q in left) or "none"
            names = ", ".join(map(repr, self.conserved.names))
            raise ArgumentError(
                f"{name} does not conserve {names}: parts of it add {shown} to qubits {first} to {first + size - 1} of "
                "this state; leave conserve out, or name what all gates conserve"
            )
        return left[0], found[left[0]]


def parts_of(matrix: np.ndarray, first: int, size: int, conserved: Quantities) -> dict[Charge, SymTensor]:
    """A matrix on neighbouring qubits by the charge that its parts add, legs (out, ..., in, ...)."""
    group, one = conserved.symmetry, conserved.charges[first]
    legs, order = conserved.legs[first : first + size], np.ix_(*conserved.orders[first : first + size] * 2)
    charges = [group.neutral]
    for _ in range(size):
        charges = [group.plus(before, own) for before in charges for own in one]
    change = [[group.minus(out, in_) for in_ in charges] for out in charges]
    found = {}
    for charge in sorted({q for row in change for q in row}):
        part = np.where([[q == charge for q in row] for row in change], matrix, 0)
        if part.any():
            dense = part.reshape((2,) * (2 * size))[order]
            both = (*legs, *[leg.conj() for leg in legs])
            found[charge] = from_dense(dense, both, charge=group.shown(charge), tol=0.0)
    return found


def breaking(matrix: np.ndarray, sites: Sequence[int], conserved: Quantities) -> str:
    """What a matrix on some qubits adds to their charge, in words; nothing where it conserves."""
    parts = parts_of(matrix, sites[0], len(sites), conserved)
    allowed = LOST * np.linalg.norm(matrix)
    return ", ".join(str(conserved.symmetry.shown(q)) for q, part in parts.items() if any(q) and part.norm() > allowed)


def shifted(tensor: SymTensor, axes: tuple[int, ...], charge: Charge) -> SymTensor:
    """A tensor whose legs `axes` carry so much more, of neutral charge."""
    group, legs = tensor.symmetry, list(tensor.legs)

    def more(q: Any) -> Any:
        return group.shown(group.plus(group.charge(q), charge))

    for axis in axes:
        leg = legs[axis]
        legs[axis] = Leg({more(q): dim for q, dim in leg.sectors.items()}, leg.flow, group)
    blocks = {
        tuple([more(q) if axis in axes else q for axis, q in enumerate(key)]): block
        for key, block in tensor.blocks().items()
    }
    return from_blocks(blocks, legs, split=2)


def sites_of(op: Instruction) -> list[int]:
    """The qubits of an instruction, ascending."""
    sites = sorted((*op.controls, *op.targets))
    if len(sites) > WIDEST:
        raise ArgumentError(
            f"c.mps(conserve=...) takes gates of at most {WIDEST} qubits, not of {len(sites)}: leave conserve out"
        )
    return sites


def called(op: Instruction) -> str:
    """An instruction in messages."""
    return f"a gate ({op.letters or op.kind}) on qubits {sites_of(op)}"


def matrix_of(op: Instruction, numbers: np.ndarray | None) -> np.ndarray:
    """The matrix of an instruction of these numbers on the sites on which it does something."""
    sites, (first, operators) = sites_of(op), site_operators(op, numbers)
    whole = operators[0]
    for m, site in enumerate(sites[1:], 1):
        whole = np.tensordot(whole, operators[site - first], (1, 0))  # u outs ins v out in
        whole = whole.transpose(0, 2 * m + 1, *range(1, m + 1), 2 * m + 2, *range(m + 1, 2 * m + 1), 2 * m + 3)
    return whole.reshape(2 ** len(sites), -1)
