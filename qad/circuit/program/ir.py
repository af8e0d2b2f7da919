"""A circuit's structure, analysed once: instructions for the engines, and the entries of the gates' matrices.

A circuit is a list of operations and a vector of parameters.  The list decides what is computed; its analysis
is kept, so that the next circuit of the same structure computes only what depends on parameters.  Every gate becomes an
instruction and a few entries (of its matrix, of its diagonal, or cos and sin), which stand in one real or one complex
vector.
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

    Kinds are those of `qad.circuit.gates.structure.Form`.  Its entries are ``vector[start : start + count]`` of the
    vector called `source`, "real" or "complex", or the array `constant`.
    """

    kind: str
    targets: tuple[int, ...]
    controls: tuple[int, ...]
    count: int
    source: str = "constant"
    start: int = 0
    constant: np.ndarray | None = None
    letters: str = ""
    unitary: bool = True


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
    real: Polynomials | None
    complex: Polynomials | None
    called: tuple[Called, ...]
    given: tuple[tuple[int, bool, bool], ...]  # (index among the given matrices, adjoint, conjugate)
    unitary: bool
    store: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def by_angles(self) -> bool:
        """Whether all entries follow from the parameters of gates that have one each, and the circuit is unitary."""
        return self.size > 0 and self.unitary and not self.called and not self.given

    @property
    def sizes(self) -> tuple[int, int]:
        """Lengths of the real and the complex vector."""
        ends = {"real": 0, "complex": 0}
        for op in self.instructions:
            if op.source != "constant":
                ends[op.source] = max(ends[op.source], op.start + op.count)
        return ends["real"], ends["complex"]

    def components(self, theta: np.ndarray) -> list[np.ndarray]:
        """The two vectors of entries (J, B, E) of a circuit `by_angles`, from parameters (J, B, P)."""
        parts = (self.real, float), (self.complex, complex)
        return [np.zeros((len(theta), 1, 0), t) if p is None else p.components(theta) for p, t in parts]

    def to_angles(self, theta: np.ndarray, slopes: Sequence[np.ndarray]) -> np.ndarray:
        """Cotangents of the parameters (J, B, P) from those of the two vectors."""
        found = np.zeros(theta.shape)
        for slope, polynomials in zip(slopes, (self.real, self.complex), strict=True):
            if polynomials is not None:
                found += polynomials.transposed(theta, slope)
        return found

    def entries(self, theta: Array, matrices: Sequence[Array]) -> tuple[Array, Array]:
        """The real and the complex vector of entries, (1, B, E) each, from parameters (..., P) and given matrices."""
        make = like(theta, *matrices)
        real = make.zeros((1, 1, 0)) if self.real is None else entries(theta, polynomials=self.real)
        parts = [] if self.complex is None else [entries(theta, polynomials=self.complex)]
        parts += [call(kind, theta) for kind in self.called]
        parts += [given(matrices[index], *changes) for index, *changes in self.given]
        if len(parts) < 2:
            return real, parts[0] if parts else make.zeros((1, 1, 0), complex)
        batch = max(part.shape[1] for part in parts)
        parts = [part + make.zeros((1, batch, 1)) if part.shape[1] < batch else part for part in parts]
        return real, np.concatenate(parts, -1)


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
    elif adjoint:
        u = u.swapaxes(-1, -2)
    u = u.conj() if adjoint != conjugate else u
    return (u + 0j).reshape(1, -1, len(slots) * form.count)


def given(u: Array, adjoint: bool, conjugate: bool) -> Array:
    """The entries (1, B, d * d) of one matrix that the user gave."""
    u = u.swapaxes(-1, -2) if adjoint else u
    u = u.conj() if adjoint != conjugate else u
    return (u + 0j).reshape(1, -1, u.shape[-1] ** 2)
