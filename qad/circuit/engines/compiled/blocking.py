"""From a program to rounds of chunks, in plain Python.

A round makes up to twelve bits of the index local: the amplitudes over them, for given values of the other bits,
are a chunk that fits into the cache.  All gates of a round whose targets are local run on one chunk before the
next is loaded; controls and diagonal gates may also use the other bits, which are constant in a chunk.  A gate that
must follow one left for a later round is left as well; a gate that commutes with those left may run before them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.engines.compiled.encoding import Encoder, Gate, deposit
from qad.circuit.engines.compiled.tables import Round, Tables, table
from qad.native import Bundle

if TYPE_CHECKING:
    from collections.abc import Collection

    from qad.circuit.program.ir import CircuitProgram

LOCAL = 12  # bits of a chunk: 64 KiB of real and imaginary parts in double precision
RUN = 4  # lowest bits that are always local, so that a chunk consists of long runs


@dataclass(frozen=True, eq=False)
class Schedule:
    """What the kernels are given of a program.

    Attributes
    ----------
    tables : Bundle of `qad.circuit.engines.compiled.tables.Tables`
    rounds, chunks, bits, instructions, widest : int
        How many rounds there are, chunks of a state, bits of a chunk, instructions, and rows of the largest matrix.
    constants : complex array
        Entries of constant gates; those of the program's vector follow them.
    diagonal, parity : int arrays
        Which entries belong to diagonal gates, and which are the first of the two of a Pauli rotation among them.
    order, signs : arrays (E,), (2, E)
        The entries of the inverse gates: which of the gates' they are, and the signs of their real and imaginary
        parts.
    """

    tables: Bundle
    rounds: int
    chunks: int
    bits: int
    instructions: int
    widest: int
    constants: np.ndarray
    diagonal: np.ndarray
    parity: np.ndarray
    order: np.ndarray
    signs: np.ndarray


def schedule_of(program: CircuitProgram) -> Schedule:
    """The schedule of a program, made once."""
    found = program.store.get("schedule")
    if found is None:
        found = program.store["schedule"] = Scheduler(program).schedule()
    return found


class Scheduler:
    """Distributes the gates of a program among rounds."""

    n: int
    constants: list[np.ndarray]
    gates: list[Gate]
    encoder: Encoder
    rounds: list[Round]

    def __init__(self, program: CircuitProgram):
        self.n = program.n
        self.constants, self.gates = [], []
        shift = sum(op.count for op in program.instructions if not op.varies)
        filled = 0
        for op in program.instructions:
            self.gates.append(Gate(op, self.n, shift + op.start if op.varies else filled))
            if op.count and not op.varies:
                self.constants.append(op.constant)
                filled += op.count
        self.encoder, self.rounds = Encoder(), []

    def schedule(self) -> Schedule:
        """The tables of all rounds."""
        waiting = self.gates
        widest = max((len(gate.moves) for gate in waiting), default=0)
        bits = min(self.n, LOCAL)
        run = min(RUN, bits)
        if widest + run > bits:
            bits = self.n  # one gate needs more bits than a chunk has: the whole state is the chunk
        while waiting or not self.rounds:
            local, chosen, waiting = choose(waiting, self.n, bits, run)
            self.add_round(sorted(fill(local, self.n, bits)), chosen)
        return Schedule(
            Bundle(Tables(table(Round, self.rounds), *self.encoder.tables(), bits)),
            len(self.rounds),
            self.rounds[0].chunks,
            bits,
            len(self.encoder.code),
            2 ** max((len(gate.targets) for gate in self.gates if gate.op.kind == "matrix"), default=0),
            np.concatenate(self.constants or [np.zeros(0)]).astype(complex),
            np.array(self.encoder.diagonal, np.int64),
            np.array(self.encoder.parity, np.int64),
            *self.inverses(),
        )

    def inverses(self) -> tuple[np.ndarray, np.ndarray]:
        """How the entries of the inverse gates follow from those of the gates: transposed, and conjugate."""
        size = sum(gate.op.count for gate in self.gates)
        order, signs = np.arange(size), np.ones((2, size))
        signs[1] = -1
        for gate in self.gates:
            here = slice(gate.start, gate.start + gate.op.count)
            if gate.op.kind == "matrix":
                order[here] = order[here].reshape(2 * (2 ** len(gate.targets),)).T.ravel()
            elif gate.op.kind == "pauli":
                signs[0, gate.start + 1] = -1
        return order, signs

    def add_round(self, local: list[int], gates: list[Gate]) -> None:
        """Write the tables of one round: its chunks, and its gates with diagonal ones together."""
        inner = {bit: i for i, bit in enumerate(local)}
        run = next((i for i, bit in enumerate(local) if i != bit), len(local))
        outer = [bit for bit in range(self.n) if bit not in inner]
        first = len(self.encoder.code)
        for group in grouped(gates):
            self.encoder.add(group, inner)
        offsets, bases = (self.encoder.pooled(deposit(bits)) for bits in (local[run:], outer))
        last = len(self.encoder.code)
        self.rounds.append(Round(first, last, offsets, bases, run=1 << run, chunks=1 << len(outer)))


def fill(local: Collection[int], n: int, bits: int) -> list[int]:
    """Local bits, and the lowest of the others, so many that they make up a chunk."""
    rest = [bit for bit in range(n) if bit not in local]
    return [*local, *rest[: bits - len(local)]]


def choose(gates: list[Gate], n: int, bits: int, run: int) -> tuple[Collection[int], list[Gate], list[Gate]]:
    """The local bits of a round, the gates that run in it, and those that wait."""
    if bits == n:
        return list(range(n)), gates, []
    local, chosen, waiting = set(range(run)), [], []
    changed, read = set(), set()  # bits that waiting gates change, and those that they read
    for i, gate in enumerate(gates):
        if len(changed) == n:
            waiting += gates[i:]
            break
        free = not (gate.moves & changed or gate.keeps & changed or gate.moves & read)
        if free and len(local | gate.moves) <= bits:
            local |= gate.moves
            chosen.append(gate)
        else:
            changed |= gate.moves
            read |= gate.keeps
            waiting.append(gate)
    return local, chosen, waiting


def grouped(gates: list[Gate]) -> list[list[Gate]]:
    """Lists of gates, each for one instruction: a single gate, diagonal ones, or affine ones; equivalent in order."""
    groups, changed_by = [], {}  # changed_by: the group that last changed a bit
    last = -1  # the last group of diagonal gates
    for gate in gates:
        if gate.diagonal:
            if last > max((changed_by.get(b, -1) for b in gate.keeps), default=-1):
                groups[last].append(gate)
                continue
            last = len(groups)
        if gate.affine and groups and groups[-1][0].affine:
            groups[-1].append(gate)
        else:
            groups.append([gate])
        for b in gate.moves:
            changed_by[b] = len(groups) - 1
    return groups
