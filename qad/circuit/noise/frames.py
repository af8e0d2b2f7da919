"""Pauli frames: errors on their way through a circuit, which make of trajectories a batch of the same gates.

A Pauli string ``X^x Z^z`` that a state has not undergone yet goes past the gates that follow: ``U P = P U'`` with
``U' = P^H U P``, a gate of the same kind with other entries, or, for CNOT, CZ and SWAP, ``U P = P' U`` with another
string.  Where it cannot, and at the end, it is applied, as one gate on each of its qubits.  Other unitary errors are
matrices between the gates.  Phases of strings, which are phases of states, are dropped.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qad.circuit.program.ir import CircuitProgram, Instruction

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qad.circuit.noise.kraus import Kraus


ODD = {  # whether a letter of a rotation anticommutes with 1, Z, X and XZ
    "X": np.array([False, True, False, True]),
    "Y": np.array([False, True, True, False]),
    "Z": np.array([False, False, True, True]),
}


class PauliFrames:
    """The Pauli strings of G trajectories.

    Attributes
    ----------
    letters : array of uint8 (n, G)
        For every qubit ``2 x + z``: whether there is an X, and whether there is a Z.
    """

    letters: np.ndarray

    def __init__(self, n: int, count: int):
        self.letters = np.zeros((n, count), np.uint8)

    def times(self, qubits: Sequence[int], letters: np.ndarray) -> None:
        """Multiply by strings (G, k) on some qubits."""
        for i, q in enumerate(qubits):
            self.letters[q] ^= letters[:, i]

    def go_past(self, op: Instruction) -> None:
        """Become the strings after a CNOT, a CZ or a SWAP."""
        a, b = op.controls + op.targets
        first, second = self.letters[a], self.letters[b]
        if op.kind == "swap":
            self.letters[[a, b]] = self.letters[[b, a]]
        elif op.kind == "flip":
            second ^= first & 2
            first ^= second & 1
        else:
            second ^= first >> 1
            first ^= second >> 1

    def met(self, op: Instruction) -> np.ndarray:
        """Which of the `conjugations` of a gate without controls each string makes (G,)."""
        if op.kind == "pauli":
            odd = [ODD[letter][self.letters[q]] for q, letter in zip(op.targets, op.letters, strict=True)]
            return np.logical_xor.reduce(odd).astype(np.intp)
        found = self.letters[op.targets[0]].astype(np.intp)
        for q in op.targets[1:]:
            found = 4 * found + self.letters[q]
        return found

    def taken(self, q: int) -> np.ndarray:
        """The entries (G, 4) of the matrices on one qubit, which the strings lose."""
        found = MATRICES[self.letters[q]]
        self.letters[q] = 0
        return found


MATRICES = np.array([[1.0, 0, 0, 1], [1, 0, 0, -1], [0, 1, 1, 0], [0, -1, 1, 0]])  # 1, Z, X and XZ


@lru_cache
def conjugations(kind: str, qubits: int) -> tuple[np.ndarray, np.ndarray]:
    """Which entry of U each of ``P^H U P`` is, and its sign, for all strings on its qubits.

    Of a rotation ``c + s (-i Q)`` for strings that commute with Q, and for those that do not.
    """
    if kind == "pauli":
        return np.array([[0, 1], [0, 1]]), np.array([[1.0, 1.0], [1.0, -1.0]])
    d, letters, bits = 2**qubits, np.array(list(product(range(4), repeat=qubits))), 1 << np.arange(qubits)[::-1]
    x, z = ((letters >> 1) @ bits)[:, None], ((letters & 1) @ bits)[:, None]
    if kind == "diagonal":
        return np.arange(d) ^ x, np.ones((4**qubits, d))
    rows, columns = np.divmod(np.arange(d * d), d)
    return (rows ^ x) * d + (columns ^ x), 1.0 - 2.0 * (np.bitwise_count((rows ^ columns) & z) & 1)


class FrameStep(NamedTuple):
    """A step on the way of the strings, and the first of the entries that it makes.

    `name` is "gate" for a gate's entries, "jump" for what was taken at the site before, "pass" where strings go past a
    gate, "apply" where they are applied to a qubit, and "string" or "unitary" for what is taken at a site.
    """

    name: str
    op: Instruction
    start: int = 0
    site: int = -1


class Stretch(NamedTuple):
    """Gates and errors whose probabilities depend on no state, where the bits of `mask` are `value`, and then a site.

    Attributes
    ----------
    program : CircuitProgram
        Its entries differ from trajectory to trajectory.
    moves : tuple of Move
    errors : tuple of int
        The sites inside.
    site : int
        That whose probabilities depend on the state, -1 for none.
    """

    mask: int
    value: int
    program: CircuitProgram
    moves: tuple[FrameStep, ...]
    errors: tuple[int, ...]
    site: int

    @property
    def size(self) -> int:
        """How many entries there are."""
        return self.program.entry_count

    def entries(
        self, vector: np.ndarray, kraus: Sequence[Kraus], choices: np.ndarray, jumps: np.ndarray | None
    ) -> np.ndarray:
        """The entries (1, G, E) from those of the gates (E,), from choices (G, S) and from jumps."""
        count, gates = len(choices), {}
        out = np.zeros((count, self.size), complex)
        waiting, some = PauliFrames(self.program.n, count), choices.any(0)  # most sites have no error in any trajectory
        for name, op, start, site in self.moves:
            here = slice(start, start + op.count)
            if name == "string":
                if some[site] or not kraus[site].idle:
                    waiting.times(op.targets, kraus[site].letters[choices[:, site]])
            elif name == "pass":
                waiting.go_past(op)
            elif name == "apply":
                out[:, here] = waiting.taken(op.targets[0])
            elif name == "jump":
                out[:, here] = jumps
            elif name == "unitary":
                places, signs = (table[waiting.met(op)] for table in conjugations("matrix", len(op.targets)))
                out[:, here] = np.take_along_axis(kraus[site].entries[choices[:, site]], places, 1) * signs
            else:
                of = vector[op.start :][: op.count] if op.varies else op.constant
                met = np.zeros(count, np.intp) if op.controls else waiting.met(op)
                gates.setdefault((op.kind, len(op.targets)), []).append((of, met, start))
        for (kind, qubits), found in gates.items():
            places, signs = conjugations(kind, qubits)
            of, met, starts = (np.array(part) for part in zip(*found, strict=True))
            columns = starts[:, None] + np.arange(places.shape[1])
            out[:, columns] = of
            gate, group = np.nonzero(met)  # where a string is met
            out[group[:, None], columns[gate]] = (of[:, places] * signs)[gate, met[gate, group]]
        return out[None]


def matrix_on(qubits: tuple[int, ...], real: bool = False) -> Instruction:
    """The instruction of a matrix."""
    return Instruction("matrix", qubits, (), 4 ** len(qubits), real)


class StretchBuilder:
    """Makes the stretches of a noisy circuit, gate by gate and site by site; strings may wait on qubits `waiting`."""

    n: int
    condition: tuple[int, int]
    instructions: list[Instruction]
    moves: list[FrameStep]
    errors: list[int]
    filled: int
    waiting: set[int]

    def __init__(self, n: int, condition: tuple[int, int] = (0, 0)):
        self.n, self.condition = n, condition
        self.instructions, self.moves, self.errors = [], [], []
        self.filled, self.waiting = 0, set()

    def put(self, name: str, op: Instruction, site: int = -1) -> None:
        """Add an instruction whose entries come next in the vector, and follow from its own."""
        self.instructions.append(replace(op, start=self.filled, constant=None))
        self.moves.append(FrameStep(name, op, self.filled, site))
        self.filled += op.count

    def apply_waiting(self, qubits: Iterable[int]) -> None:
        """Apply the strings that wait on some qubits."""
        for q in sorted(self.waiting.intersection(qubits)):
            self.put("apply", matrix_on((q,), real=True))
            self.waiting.discard(q)

    def gate(self, op: Instruction) -> None:
        """Add a gate."""
        qubits = op.controls + op.targets
        sign = op.kind == "diagonal" and op.constant is not None and np.array_equal(op.constant, [1.0, -1.0])
        if len(qubits) == 2 and ((op.kind == "flip" or sign) if op.controls else op.kind == "swap"):
            if self.waiting.intersection(qubits):
                self.moves.append(FrameStep("pass", op))
                self.waiting.update(qubits)
            self.instructions.append(op)
            return
        if op.controls or op.kind == "swap":
            self.apply_waiting(qubits)
        if op.varies or (op.count and self.waiting.intersection(qubits)):
            self.put("gate", op)
        else:
            self.instructions.append(op)

    def jump(self, qubits: tuple[int, ...]) -> None:
        """Add what was taken at the site before."""
        self.put("jump", matrix_on(qubits))

    def error(self, site: int, qubits: tuple[int, ...], kind: str) -> None:
        """Add a site whose matrices are multiples of "unitary" ones, or of a "string"."""
        self.errors.append(site)
        if kind == "unitary":
            self.put(kind, matrix_on(qubits), site=site)
        else:
            self.moves.append(FrameStep(kind, matrix_on(qubits), site=site))
            self.waiting.update(qubits)

    def stretch(self, site: int = -1) -> Stretch:
        """What was added, with the site at its end."""
        self.apply_waiting(range(self.n))
        program = CircuitProgram(self.n, 0, tuple(self.instructions), None, (), (), True)
        return Stretch(*self.condition, program, tuple(self.moves), tuple(self.errors), site)
