"""Forward and reverse sweep of a circuit on a chain, and what is measured in its final state as one node of the tape.

The derivative of a measured number by the numbers of a gate (`qad.circuit.program.ir`) is an overlap with that gate
left out,

    d <bra|U_G ... U_1|0> / d U_k  =  <U_(k+1)^H ... U_G^H bra| . |U_(k-1) ... U_1 0>,

so a second chain, the bra, is taken back through the circuit, truncated like the first, whose states before every gate
are kept (they share what gates left alone).  No decomposition is differentiated: equal or vanishing Schmidt values do
no harm, and directions in which a bond would grow are not lost.

On a chain that conserves, every gate has to conserve from the first one on whose numbers may change: a change of its
numbers that breaks the symmetry then takes the state to other sectors, where it stays, and no measured number that
conserves sees it to first order.  So derivatives within the sector are all there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from qad.circuit.chains.operators import QUBIT, require_conserving, weight
from qad.circuit.chains.walker import Overlaps, Walker
from qad.circuit.engines.reference import entries_of
from qad.core.errors import ArgumentError
from qad.core.process.threads import blas_for
from qad.extend import Tensor, defvjp, opaque, primitive, vjp
from qad.mps.chain.row import total_of
from qad.mps.chain.sandwich import factor, operator_matrices, sandwich
from qad.mps.chain.site_tensors import applied
from qad.mps.chain.state import MPS
from qad.mps.evolve.tebd import between, compressed
from qad.mps.evolve.truncation import Truncation
from qad.symmetric.tensor import bare

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.circuit.program.ir import CircuitProgram, Instruction
    from qad.mps.charges.quantities import Quantities
    from qad.symmetric.blocks.layout import Layout
    from qad.symmetric.tensor import SymTensor
    from qad.typing import Array

History: TypeAlias = "list[tuple[Any, ...]]"  # the tensors before every gate
Kept: TypeAlias = "tuple[Walker, History]"  # the final walker of a forward sweep, and its history
Target: TypeAlias = "Energy | Overlap"  # what is measured, linear in the projector on the state or in the state


@dataclass(frozen=True)
class ChainRun:
    """How a circuit runs on chains: its program, its dtype, and what is cut off."""

    program: CircuitProgram
    dtype: np.dtype[Any]
    bond: int
    cutoff: float
    bra_bond: int
    start: int = 0  # how many operands are tensors of the initial state; without any it is |0...0>
    conserved: Quantities | None = None

    def begin(self, start: Sequence[np.ndarray]) -> Walker:
        """The initial state."""
        if not start:
            start, truncation = self.basis([0] * self.program.n).tensors, Truncation(self.bond, self.cutoff)
            return Walker(start, truncation, self.conserved)
        return self.walker(start, self.bond)

    def basis(self, bits: Sequence[int]) -> MPS:
        """A basis state."""
        conserve = None if self.conserved is None else self.conserved.names
        return MPS.product(bits, dtype=self.dtype, conserve=conserve, kind=QUBIT)

    def walker(self, tensors: Sequence[Any], bond: int) -> Walker:
        """A chain of any gauge, cut down to this bond, its centre at the first site."""
        truncation = Truncation(bond, self.cutoff)
        found = compressed([t.astype(self.dtype) for t in tensors], truncation)
        return Walker(found, truncation, self.conserved)

    def bra(self, tensors: Sequence[Any]) -> Walker | None:
        """A chain of any gauge that is to be taken back; None for one that conserves and is zero."""
        if self.conserved is not None and not weight(tensors) > 0:
            return None
        return self.walker(tensors, self.bra_bond)

    @property
    def first(self) -> int:
        """The first of the gates on which derivatives depend."""
        changing = (i for i, op in enumerate(self.program.instructions) if op.varies)
        return 0 if self.start else next(changing, len(self.program.instructions))

    def forward(self, entries: np.ndarray, *start: np.ndarray) -> Kept:
        """Apply all gates to the initial state: the final walker, and the tensors before every gate."""
        walker, history = self.begin(start), []
        with blas_for(min(self.bond, 2 ** (self.program.n // 2))):
            for op in self.program.instructions:
                history.append(tuple(walker.tensors))
                walker.gate(op, numbers(op, entries))
        return walker, history

    def backward(self, entries: np.ndarray, history: History, bra: Walker | None) -> np.ndarray:
        """``<bra|psi>`` derived by the entries; the walker `bra`, None for zero, is taken back to `first`."""
        if self.conserved is not None:
            for op in self.program.instructions[self.first :]:
                require_conserving(op, numbers(op, entries), self.conserved)
        slopes = np.zeros(entries.shape, complex)
        if bra is None:
            return slopes
        overlaps = Overlaps(bra.tensors, self.conserved)
        steps = list(zip(self.program.instructions, history, strict=True))
        with blas_for(min(self.bra_bond, 2 ** (self.program.n // 2))):
            for op, before in reversed(steps[self.first :]):
                if op.varies:
                    slopes[0, 0, op.start : op.start + op.count] = overlaps.paired(op, bra.tensors, before)
                bra.gate(op, numbers(op, entries), back=True)
        return slopes


def numbers(op: Instruction, entries: np.ndarray) -> np.ndarray | None:
    """The numbers of an instruction, None where it has none."""
    v = entries_of(op, entries)[0]
    return None if v is None else v[0]


@dataclass(frozen=True, eq=False)
class Energy:
    """``<psi|H|psi>`` of a matrix product operator H: of tensors given as operands, or of those that conserve.

    As of `Overlap`, `value` is the number, by a computation that the tape can differentiate by the operands, and `bra`
    a factor and the walker (None for zero) whose overlap with the state then changes as the number does.

    Attributes
    ----------
    operator : list of SymTensor or None
    broken : str
        What a part of the observable adds to the charge that is left out of them; nothing where it conserves.
    """

    operator: Sequence[SymTensor] | None = None
    broken: str = ""

    def value(self, psi: Sequence[Any], *operator: Array) -> Array:
        operators = self.operator or operator_matrices(operator, psi[0].dtype)
        value, scale = sandwich(psi, psi, operators)
        return value.real * factor(value.real, scale)

    def bra(self, run: ChainRun, ket: Walker, *operator: np.ndarray) -> tuple[float, Walker | None]:
        if self.broken:
            raise ArgumentError(
                f"an observable adds {self.broken}: c.mps(conserve=...) has derivatives of observables that conserve; "
                "leave conserve out"
            )
        pairs = zip(self.operator or operator, ket.tensors, strict=True)
        return 2.0, run.bra([applied(w.astype(run.dtype), t) for w, t in pairs])


@dataclass(frozen=True, eq=False)
class Overlap:
    """``<phi|psi>`` with a chain of the given tensors, or numbers of symmetric ones."""

    where: tuple[Layout, ...] = ()

    def value(self, psi: Sequence[Any], *phi: Array) -> Array:
        bra = self.tensors(phi)
        if self.where and total_of(bra) != total_of(psi):
            return 0 * phi[0].sum()
        value, scale = sandwich(bra, psi)
        return value * factor(value, scale)

    def bra(self, run: ChainRun, ket: Walker, *phi: np.ndarray) -> tuple[float, Walker | None]:
        bra = self.tensors(phi)
        if self.where and total_of(bra) != total_of(ket.tensors):
            one, two = (run.conserved.symmetry.shown(total_of(x)) for x in (ket.tensors, bra))
            raise ArgumentError(
                f"the overlap of charge {one} with a state of charge {two} is 0 here, and its derivative takes gates "
                "that do not conserve: leave conserve out"
            )
        return 1.0, run.bra(bra)

    def tensors(self, phi: Sequence[Array]) -> Sequence[Any]:
        """The site tensors of the operands."""
        return [bare(*pair) for pair in zip(self.where, phi, strict=True)] if self.where else phi


@primitive(keeps=True)
def measured(
    entries: np.ndarray, *operands: Array, run: ChainRun, targets: tuple[tuple[Target, slice], ...]
) -> tuple[tuple[Array, ...], Kept]:
    """What the targets measure in the final state of the numbers of the gates, a tuple.

    The first ``run.start`` operands are tensors of the initial state; `targets` are pairs of a target and the slice of
    the operands that are its own.
    """
    ket, history = run.forward(entries, *operands[: run.start])
    return tuple(target.value(ket.tensors, *operands[own]) for target, own in targets), (ket, history)


@opaque
def slopes_by_own(
    slope: np.ndarray, entries: np.ndarray, *operands: np.ndarray, run: ChainRun, target: Target, kept: Kept | None
) -> tuple[np.ndarray, ...]:
    """The cotangents of what is a target's own, of that of its number."""
    start, own = operands[: run.start], operands[run.start :]
    ket = (run.forward(entries, *start) if kept is None else kept)[0]
    return tuple(c.conj() for c in vjp(partial(target.value, ket.tensors), *own)[1](np.conj(slope)))


@opaque
def slopes(
    entries: np.ndarray, *operands: np.ndarray, run: ChainRun, target: Target, kept: Kept | None
) -> tuple[np.ndarray, ...]:
    """The derivatives of what is measured by the entries and the initial tensors, all as if they were complex."""
    start, own = operands[: run.start], operands[run.start :]
    ket, history = run.forward(entries, *start) if kept is None else kept
    weight, bra = target.bra(run, ket, *own)
    found = run.backward(entries, history, bra)
    by_start = vjp(lambda *ket: between(bra.tensors, ket), *[x + 0j for x in start])[1](1.0 + 0j) if start else ()
    return tuple(weight * slope for slope in (found, *[slope.conj() for slope in by_start]))


def _measured_vjp(needed, g, ans, entries, *operands, run, targets, kept=None):
    if any(type(x) is Tensor for x in (entries, *operands)):
        raise ArgumentError(
            "the chain engine has first derivatives only: c.expectation, of the state vector, and c.network have all"
        )
    out = dict.fromkeys(needed, 0.0)
    start = operands[: run.start]
    for slope, (target, own) in zip(g, targets, strict=True):
        if slope is None:
            continue
        if needed[0] < 1 + run.start:
            found = slopes(entries, *start, *operands[own], run=run, target=target, kept=kept)
            for i, (one, x) in enumerate(zip(found, (entries, *start), strict=True)):
                out[i] = out.get(i, 0.0) + (slope * one if x.dtype.kind == "c" else (slope * one).real)
        if needed[-1] > run.start:
            found = slopes_by_own(slope, entries, *start, *operands[own], run=run, target=target, kept=kept)
            out |= dict(enumerate(found, 1 + own.start))
    return tuple(out[i] for i in needed)


defvjp(measured, shared=_measured_vjp)
