"""The engine in NumPy: gate by gate, any array type, any order of derivative.  The compiled one is tested against it.

Components
----------
Derivatives of higher order run the same circuit over dual numbers ``v_0 + v_1 e`` with ``e e = 0``, or with several
such e.  A quantity of J = 2^m components has them on its first axis; component K, a set of e's written as bits, of a
product is the sum over I + J = K.  With one component this is plain simulation.

All arrays have axes (component, batch, entry); batches of length 1 broadcast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.gates.table import pauli_matrix

if TYPE_CHECKING:
    from qad.circuit.observables.masks import Strings
    from qad.circuit.program.ir import CircuitProgram, Instruction


def forward(program: CircuitProgram, x: np.ndarray, psi: np.ndarray) -> np.ndarray:
    """The final states (J, B, 2**n) from parameters or entries (J, B, E) and initial states."""
    vector = program.numbers(x)
    states = expanded(psi, program.n, max(x.shape[1], psi.shape[1]))
    for op in program.instructions:
        states = apply(op, entries_of(op, vector), states, program.n)
    return np.stack(states)


def backward(
    program: CircuitProgram, x: np.ndarray, psi: np.ndarray, out: np.ndarray, g: np.ndarray, owned: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Cotangents of parameters or entries and of the initial state, from the final states and their cotangents.

    Gates are taken back from the final state by their inverses; before one that is not unitary the state is
    stored in a forward pass.
    """
    n, vector = program.n, program.numbers(x)
    stored = [] if program.unitary else stored_states(program, vector, psi, out.shape[1])
    slopes = np.zeros((len(g), out.shape[1], vector.shape[2]), vector.dtype)
    states, duals = list(out), list(g.astype(out.dtype))
    for op in reversed(program.instructions):
        v = entries_of(op, vector)
        states = undo(op, v, states, n) if op.unitary else stored.pop()
        if op.varies:
            slopes[..., op.start : op.start + op.count] = reduce(op, duals, states, n)
        duals = transpose(op, v, duals, n)
    slope = np.stack(duals)[..., : psi.shape[2]]
    return program.transposed(x, summed(slopes, x)), summed(slope, psi)


def serves(program: CircuitProgram, components: int) -> bool:
    """Whether this engine serves so many components: any number."""
    return True


def stored_states(program: CircuitProgram, vector: np.ndarray, psi: np.ndarray, batch: int) -> list[list[np.ndarray]]:
    """The states before every gate that is not unitary."""
    stored, states = [], expanded(psi, program.n, batch)
    for op in program.instructions:
        if not op.unitary:
            stored.append(states)
        states = apply(op, entries_of(op, vector), states, program.n)
    return stored


def expanded(psi: np.ndarray, n: int, batch: int) -> list[np.ndarray]:
    """Initial states as a list of components (batch, 2**n); one amplitude stands for that multiple of |0...0>."""
    if psi.shape[2] == 1:
        zero = np.zeros((*psi.shape[:2], 2**n), psi.dtype)
        zero[..., 0] = psi[..., 0]
        psi = zero
    return list(np.broadcast_to(psi, (psi.shape[0], batch, psi.shape[2])))


def summed(slopes: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Cotangents summed over a batch that `vector` was broadcast along."""
    return slopes.sum(1, keepdims=True) if vector.shape[1] < slopes.shape[1] else slopes


def entries_of(op: Instruction, vector: np.ndarray) -> list[np.ndarray | None]:
    """The entries of a gate, one array (B, E) per component, None where it has none."""
    if op.varies:
        return list(vector[..., op.start : op.start + op.count])
    return [None if op.constant is None else op.constant[None]]


def splits(k: int, gate: int, proper: bool = False) -> list[tuple[int, int]]:
    """Pairs of components of a gate of `gate` components and of a state whose product is in component k."""
    return [(i, k ^ i) for i in range(gate) if i & k == i and not (proper and i == 0)]


def apply(op: Instruction, v: list[np.ndarray | None], states: list[np.ndarray], n: int) -> list[np.ndarray]:
    """The states after a gate."""
    return [sum(act(op, v[i], states[j], n, i > 0) for i, j in splits(k, len(v))) for k in range(len(states))]


def transpose(op: Instruction, v: list[np.ndarray | None], duals: list[np.ndarray], n: int) -> list[np.ndarray]:
    """Cotangents before a gate from those after it."""
    out = []
    for j in range(len(duals)):
        above = [k for k in range(len(duals)) if k & j == j and (k ^ j) < len(v)]
        out.append(sum(act(op, v[k ^ j], duals[k], n, k != j, transposed=True) for k in above))
    return out


def undo(op: Instruction, v: list[np.ndarray | None], states: list[np.ndarray], n: int) -> list[np.ndarray]:
    """The states before a unitary gate from those after it."""
    before = []
    inverse = None if v[0] is None else v[0].conj()
    for k, after in enumerate(states):
        for i, j in splits(k, len(v), proper=True):
            after = after - act(op, v[i], before[j], n, True)
        before.append(act(op, inverse, after, n, transposed=True, conjugated=True))
    return before


def reduce(op: Instruction, duals: list[np.ndarray], states: list[np.ndarray], n: int) -> np.ndarray:
    """Cotangents (J, B, E) of the entries of a gate, from cotangents after it and states before it."""
    count = range(len(duals))
    return np.stack([sum(pair(op, duals[k], states[k ^ i], n) for k in count if k & i == i) for i in count])


def targets_last(psi: np.ndarray, op: Instruction, n: int) -> np.ndarray:
    """A view (B, ..., 2, ..., 2) of the amplitudes where all controls are 1, the targets on the last axes."""
    index = tuple(1 if q in op.controls else slice(None) for q in range(n))
    left = [q for q in range(n) if q not in op.controls]
    axes = [left.index(q) + 1 for q in op.targets]
    return np.moveaxis(psi.reshape(-1, *(2,) * n)[(slice(None), *index)], axes, range(-len(axes), 0))


def act(
    op: Instruction,
    v: np.ndarray | None,
    psi: np.ndarray,
    n: int,
    derivative: bool = False,
    transposed: bool = False,
    conjugated: bool = False,
) -> np.ndarray:
    """A gate of entries `v` (B, E) on states (B, 2**n); its `derivative` is zero where its controls are not all 1."""
    out = np.zeros_like(psi) if derivative else psi.copy()
    d = 2 ** len(op.targets)
    old, new = targets_last(psi, op, n), targets_last(out, op, n)
    block = old.reshape(len(psi), -1, d)
    if op.kind == "matrix":
        u = v.reshape(-1, d, d)
        block = block @ (u if transposed else u.mT)
    elif op.kind == "diagonal":
        block = block * v[:, None]
    elif op.kind == "flip":
        block = block[..., ::-1]
    elif op.kind == "swap":
        block = block[..., [0, 2, 1, 3]]
    else:
        string = pauli_of(op, transposed, conjugated)
        block = v[:, :1, None] * block + v[:, 1:, None] * (block @ string.T)
    new[...] = block.reshape(new.shape)
    return out


def pauli_of(op: Instruction, transposed: bool, conjugated: bool) -> np.ndarray:
    """The matrix ``-i P`` of a rotation, transposed, conjugated, or both."""
    string = -1j * pauli_matrix(op.letters)
    string = string.conj() if conjugated else string
    return string.T if transposed else string


def pair(op: Instruction, dual: np.ndarray, psi: np.ndarray, n: int) -> np.ndarray:
    """The cotangent (B, E) of a gate's entries: of v in ``sum dual * (gate of v on psi)``."""
    d = 2 ** len(op.targets)
    left = targets_last(dual, op, n).reshape(len(dual), -1, d)
    right = targets_last(psi, op, n).reshape(len(psi), -1, d)
    if op.kind == "matrix":
        return (left.mT @ right).reshape(len(dual), d * d)
    if op.kind == "diagonal":
        return (left * right).sum(1)
    rotated = right @ pauli_of(op, False, False).T
    return np.stack([(left * right).sum((1, 2)), (left * rotated).sum((1, 2))], -1)


def apply_sum(c: np.ndarray, psi: np.ndarray, strings: Strings) -> np.ndarray:
    """``H psi`` of a Pauli sum with coefficients (T,), for states (B, 2**n)."""
    out = np.zeros(psi.shape, np.result_type(psi.dtype, psi.dtype if c.dtype.kind == "f" else complex))
    for x, indices, z, phases in strings.groups:
        out += strings.flip(strings.diagonal(z, weights(c[indices], phases, psi)) * psi, x)
    return out


def energy_of(c: np.ndarray, psi: np.ndarray, strings: Strings) -> np.ndarray:
    """``<psi|H|psi>`` (B,) of a Pauli sum with real coefficients (T,)."""
    total = np.zeros(len(psi), psi.real.dtype)
    for x, indices, z, phases in strings.groups:
        diagonal = strings.diagonal(z, weights(c[indices], phases, psi))
        total += (strings.flip(psi, x).conj() * diagonal * psi).sum(-1).real
    return total


def weights(c: np.ndarray, phases: np.ndarray, psi: np.ndarray) -> np.ndarray:
    """Coefficients with their phases, real if all are, in the precision of the state."""
    product = c * phases
    product = product if product.imag.any() else product.real
    return product.astype(psi.dtype if product.dtype.kind == "c" else psi.real.dtype, copy=False)
