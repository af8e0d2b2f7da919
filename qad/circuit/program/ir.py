"""A circuit's structure, analysed once: instructions for the engines, and the entries of the gates' matrices.

A circuit is a list of operations and a vector of parameters.  The list decides what is computed; its analysis
is kept, so that the next circuit of the same structure computes only what depends on parameters.  Every gate becomes an
instruction and a few entries (of its matrix, of its diagonal, or cos and sin), which stand in one complex vector.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qad.circuit.gates.structure import Form
from qad.circuit.gates.table import Gate
from qad.circuit.gates.trigonometry import Polynomials, entries
from qad.extend import like

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.typing import Array


class Operation(NamedTuple):
    """One gate of a circuit.

    `slots` are the indices of its parameters in the circuit's vector, `given` the index of its matrix among those that
    the user gave; `adjoint` says that its inverse is meant, `conjugate` the complex conjugate of its matrix.  In noisy
    circuits, `when` are pairs of a classical bit and the value on which the operation depends, and `into` is the bit
    that a measurement writes.
    """

    gate: Gate
    qubits: tuple[int, ...]
    controls: tuple[int, ...] = ()
    slots: tuple[int, ...] = ()
    given: int | None = None
    adjoint: bool = False
    conjugate: bool = False
    when: tuple[tuple[int, int], ...] = ()
    into: int | None = None


@dataclass(frozen=True, eq=False)
class Instruction:
    """What an engine does to the state: `kind` on `targets` where all `controls` are 1.

    Kinds are those of `qad.circuit.gates.structure.Form`.  Its entries, which may be known to be `real`, are the array
    `constant`, or else ``vector[start : start + count]``.
    """

    kind: str
    targets: tuple[int, ...]
    controls: tuple[int, ...]
    count: int
    real: bool = False
    start: int = 0
    constant: np.ndarray | None = None
    letters: str = ""
    unitary: bool = True

    @property
    def varies(self) -> bool:
        """Whether it has entries in the vector."""
        return self.count > 0 and self.constant is None


class Called(NamedTuple):
    """Gates whose matrix function has to be called: those of one kind, all at once."""

    gate: Gate
    form: Form
    slots: np.ndarray  # (gates, params)
    adjoint: bool
    conjugate: bool


@dataclass(frozen=True, eq=False)
class CircuitProgram:
    """Instructions, and how their entries follow from parameters; engines keep in `store` what they derive from it."""

    n: int
    size: int
    instructions: tuple[Instruction, ...]
    polynomials: Polynomials | None
    called: tuple[Called, ...]
    given: tuple[tuple[int, bool, bool], ...]  # (index among the given matrices, adjoint, conjugate)
    unitary: bool
    store: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def by_angles(self) -> bool:
        """Whether all entries follow from the parameters of gates that have one each, and the circuit is unitary."""
        return self.polynomials is not None and self.unitary and not self.called and not self.given

    @property
    def entry_count(self) -> int:
        """Length of the vector of entries."""
        return max((op.start + op.count for op in self.instructions if op.varies), default=0)

    def numbers(self, x: np.ndarray) -> np.ndarray:
        """The entries (J, B, E) from what an engine is given: parameters (J, B, P) if `by_angles`, else entries."""
        return self.polynomials.components(x) if self.by_angles else x

    def transposed(self, x: np.ndarray, slopes: np.ndarray) -> np.ndarray:
        """Cotangents of what an engine is given from those (J, B, E) of the entries."""
        return self.polynomials.transposed(x, slopes) if self.by_angles else slopes

    def entries(self, theta: Array, matrices: Sequence[Array]) -> Array:
        """The entries (1, B, E) from parameters (..., P) and given matrices."""
        parts = [] if self.polynomials is None else [entries(theta, polynomials=self.polynomials)]
        parts += [call(kind, theta) for kind in self.called]
        parts += [given(matrices[index], *changes) for index, *changes in self.given]
        make = like(theta, *matrices)
        if len(parts) < 2:
            return parts[0] if parts else make.zeros((1, 1, 0), complex)
        batch = max(part.shape[1] for part in parts)
        parts = [part + make.zeros((1, batch, 1)) if part.shape[1] < batch else part for part in parts]
        return np.concatenate(parts, -1)


def call(kind: Called, theta: Array) -> Array:
    """The entries (1, B, E) of gates of one kind from their matrix function."""
    gate, form, slots, adjoint, conjugate = kind
    params = [theta[..., slots[:, i]] for i in range(gate.params)]
    u = gate.matrix(*params)
    if u.shape[:-2] != params[0].shape:  # it was written for scalars
        flat = [p.reshape(-1) for p in params]
        u = np.stack([gate.matrix(*(p[i] for p in flat)) for i in range(flat[0].shape[0])])
    d = 2**form.qubits
    u = u[..., -d:, -d:]
    if form.kind == "diagonal":
        u = u[..., range(d), range(d)]
        u = u.conj() if adjoint != conjugate else u
    else:
        u = changed(u, adjoint, conjugate)
    return (u + 0j).reshape(1, -1, len(slots) * form.count)


def given(u: Array, adjoint: bool, conjugate: bool) -> Array:
    """The entries (1, B, d * d) of one matrix that the user gave."""
    return (changed(u, adjoint, conjugate) + 0j).reshape(1, -1, u.shape[-1] ** 2)


def matrix_of(o: Operation, theta: Array, matrices: Sequence[Array]) -> Array:
    """The matrix (d, d) of a gate without the controls before it."""
    u = matrices[o.given] if o.given is not None else o.gate.matrix(*(theta[slot] for slot in o.slots))
    return changed(u, o.adjoint, o.conjugate)


def changed(u: Array, adjoint: bool, conjugate: bool) -> Array:
    """A matrix, or its adjoint, or the conjugate of either."""
    u = u.swapaxes(-1, -2) if adjoint else u
    return u.conj() if adjoint != conjugate else u
