"""A circuit run on a matrix product state of definite charge, for gates that conserve it.

A gate is taken apart by the charge that it adds.  One part alone has to be left of it in the present state: so gates
that conserve are fine, and so is X on a qubit that is known to be 0 or 1, which takes the state to another sector.
Gates on qubits that are apart act after these were swapped together.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.chains.operators import site_operators
from qad.circuit.chains.simulation import ChainSimulation
from qad.circuit.chains.sweeps import numbers
from qad.circuit.checks import check_qubits
from qad.circuit.gates import SWAP
from qad.circuit.observables import Projector, as_observable, hermitian
from qad.circuit.pauli import PauliSum
from qad.core.errors import ArgumentError, GradientTypeError, ShapeError
from qad.core.threads import blas_for
from qad.extend import Tensor, value_of
from qad.mps.conserving.evolution import Truncation
from qad.mps.conserving.gauge import isometric_columns, isometric_rows
from qad.mps.conserving.quantities import quantities
from qad.mps.conserving.state import SymmetricMPS
from qad.mps.local import Site, spin
from qad.mps.measures import reduced_density
from qad.mps.observables import expectation
from qad.mps.operator import MPO
from qad.mps.opsum import OpSum
from qad.mps.state import MPS
from qad.symmetric.contraction import tensordot
from qad.symmetric.create import from_blocks, from_dense
from qad.symmetric.legs import Leg

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from qad.circuit.builder import Builder
    from qad.circuit.observables import Observable
    from qad.mps.conserving.quantities import Charge, Quantities
    from qad.symmetric.tensor import SymTensor
    from qad.typing import Array, Seed

PAULIS = {name: spin(0.5).operators[name] for name in ("Id", "X", "Y", "Z")}
QUBIT = Site("qubit", PAULIS, charges={"N": (0, 1), "Sz": (1, -1), "parity": (0, 1)})
LOST = 1e-13  # relative norm of a part of a gate that is no more than rounding of its matrix
WIDEST = 8  # qubits that one gate may join


class ConservingWalker:
    """A state of definite charge in mixed canonical form, changed by gates one after the other.

    Parameters
    ----------
    state : SymmetricMPS
        Of bonds of dimension 1.
    truncation : Truncation
        Cuts bonds, and keeps account of it.
    """

    def __init__(self, state: SymmetricMPS, truncation: Truncation):
        self.tensors: list[SymTensor] = list(state)
        self.conserved: Quantities = state.conserved
        self.truncation: Truncation = truncation
        self.centre: int = 0

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


class ConservingSimulation(ChainSimulation):
    """The final state of a circuit of gates that conserve; made by ``Circuit.mps(conserve=...)``.

    Attributes
    ----------
    state : SymmetricMPS
    error, bond
        As of `ChainSimulation`.
    """

    def __init__(self, circuit: Builder, max_bond: int | None, cutoff: float, conserve: str | Sequence[str]):
        super().__init__(circuit, max_bond, cutoff, None)
        if any(type(x) is Tensor for x in self.numbers):
            raise GradientTypeError(
                "c.mps(conserve=...) has no derivatives: leave conserve out, the numbers of c.mps(...) are the same"
            )
        self.conserved: Quantities = quantities(conserve, [QUBIT] * self.n)

    @cached_property
    def final(self) -> ConservingWalker:
        """The final walker."""
        run, vectors = self.run, dict(zip(("real", "complex"), map(value_of, self.numbers), strict=True))
        zero = MPS.product([0] * self.n, dtype=run.dtype, conserve=self.conserved.names, sites=QUBIT)
        walker = ConservingWalker(zero, Truncation(run.bond, run.cutoff))
        with blas_for(min(run.bond, 2 ** (self.n // 2))):
            for op in run.program.instructions:
                sites = sorted((*op.controls, *op.targets))
                if len(sites) > WIDEST:
                    raise ArgumentError(
                        f"c.mps(conserve=...) takes gates of at most {WIDEST} qubits, not of {len(sites)}: leave "
                        "conserve out"
                    )
                matrix = dense(site_operators(op, numbers(op, vectors)), sites).astype(run.dtype)
                walker.apply(sites, matrix, f"a gate ({op.letters or op.kind}) on qubits {sites}")
        return walker

    @property
    def state(self) -> SymmetricMPS:
        return SymmetricMPS(self.final.tensors, self.conserved)

    def expectation(self, observable: Observable | MPO | Sequence[Observable | MPO]) -> Array:
        """The expectation value ``<psi|H|psi>``, real; an array for a list.

        Parameters
        ----------
        observable : PauliSum, str, array, Operator, Projector, MPO, or a list of them
            A Pauli sum and an MPO have to conserve; sums may do so together, as XX + YY.

        Examples
        --------
        >>> import qad
        >>> c = qad.Circuit(50).x(range(0, 50, 2)).iswap(range(0, 50, 2), range(1, 50, 2))
        >>> float(c.mps(conserve="N").expectation(qad.PauliSum.on_sites(50, [(1.0, "ZZ", (0, 1))])))
        -1.0
        """
        if isinstance(observable, (list, tuple)):
            return np.stack([self.expectation(one) for one in observable])
        if isinstance(observable, MPO):
            return expectation(self.state, observable).real
        observable = as_observable(observable)
        if isinstance(observable, PauliSum):
            return expectation(self.state, sum_of(observable, self.n)).real
        if not isinstance(observable, Projector) and (observable.sparse or type(observable.matrix) is Tensor):
            raise ArgumentError(
                "c.mps(conserve=...) measures plain dense matrices on a few qubits: write others as a qad.PauliSum, MPO"
            )
        qubits = check_qubits(observable.qubits, self.n, "an observable")
        order = np.argsort(qubits)
        density = reduced_density(self.state, [qubits[k] for k in order])
        back, k = np.argsort(order), len(qubits)
        density = density.reshape((2,) * (2 * k)).transpose([*back, *(back + k)]).reshape(2**k, 2**k)
        if isinstance(observable, Projector):
            place = int("".join(map(str, map(int, observable.bits))), 2)
            return density[place, place].real
        return np.trace(density @ np.asarray(observable.matrix)).real

    def overlap(self, phi: SymmetricMPS) -> Array:
        """The overlap ``<phi|psi>`` with a state that conserves the same; 0 where its charge is another.

        Examples
        --------
        >>> import qad
        >>> sim = qad.Circuit(6).x([0, 2]).mps(conserve="N")
        >>> complex(sim.overlap(sim.state))
        (1+0j)
        """
        if not isinstance(phi, SymmetricMPS) or phi.conserved != self.conserved:
            raise ShapeError(
                f"overlap takes a SymmetricMPS of {self.n} qubits that conserves {self.conserved.names}, not {phi!r}"
            )
        return phi @ self.state

    def amplitude(self, bits: str | Sequence[int]) -> Array:
        """The amplitude ``<bits|psi>`` of a basis state, a string or sequence of one bit per qubit.

        Examples
        --------
        >>> import qad
        >>> complex(qad.Circuit(4).x([0, 2]).mps(conserve="N").amplitude("1010"))
        (1+0j)
        """
        bits = [int(bit) for bit in bits]
        if len(bits) != self.n or set(bits) - {0, 1}:
            raise ArgumentError(f"an amplitude of {self.n} qubits is named by {self.n} bits, not {bits}")
        return self.overlap(MPS.product(bits, dtype=self.run.dtype, conserve=self.conserved.names, sites=QUBIT))

    def sample(self, shots: int, seed: Seed = 0) -> NDArray[np.int64]:
        """Outcomes (shots, n) of measuring all qubits, drawn from ``|psi|**2``."""
        return self.state.sample(shots, seed)


def dense(row: tuple[int, list[np.ndarray]], sites: Sequence[int]) -> np.ndarray:
    """The matrix of a row of site operators on the sites on which it does something."""
    first, operators = row
    whole = operators[0]
    for m, site in enumerate(sites[1:], 1):
        whole = np.tensordot(whole, operators[site - first], (1, 0))  # u outs ins v out in
        whole = whole.transpose(0, 2 * m + 1, *range(1, m + 1), 2 * m + 2, *range(m + 1, 2 * m + 1), 2 * m + 3)
    size = 2 ** len(sites)
    return whole.reshape(size, size)


def sum_of(observable: PauliSum, n: int) -> OpSum:
    """A Pauli sum as a sum of named operators on qubits."""
    total = OpSum(n, QUBIT)
    for string, weight in zip(observable.strings, hermitian(observable, n), strict=True):
        factors = [x for site, letter in enumerate(string) if letter != "I" for x in (letter, site)]
        total.add(weight, *factors)
    return total
