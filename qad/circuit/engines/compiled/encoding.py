"""Gates as rows of the kernels' tables, in plain Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.engines.compiled.tables import (
    AFFINE,
    COMPLEX,
    DENSE,
    DIAGONAL,
    EXCHANGE,
    PAULI,
    REAL,
    Instruction,
    Member,
    Permutation,
    table,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from qad.circuit.program import ir


class Gate:
    """An instruction of a program, with bits of the index in place of qubits.

    Attributes
    ----------
    start, wanted : int, bool
        Its first entry, and whether its entries have cotangents.
    targets, controls : lists of bits
    flipped, signed : lists of bits
        Of a Pauli rotation: where its letters are X or Y, and where they are Y or Z.
    moves, keeps : frozensets of bits
        Those whose values it changes, and those that it reads only.
    diagonal, affine : bool
        Whether it is diagonal, and whether it is an affine map of the index (`qad.circuit.engines.compiled.affine`).
    """

    op: ir.Instruction
    start: int
    wanted: bool
    targets: list[int]
    controls: list[int]
    diagonal: bool
    keeps: frozenset[int]
    affine: bool
    flipped: list[int]
    signed: list[int]
    moves: frozenset[int]

    def __init__(self, op: ir.Instruction, n: int, start: int):
        self.op, self.start, self.wanted = op, start, op.varies
        self.targets = [n - 1 - q for q in op.targets]
        self.controls = [n - 1 - q for q in op.controls]
        self.diagonal = op.kind == "diagonal" or (op.kind == "pauli" and not set(op.letters) & {"X", "Y"})
        if op.kind == "pauli":
            self.flipped = [b for b, letter in zip(self.targets, op.letters, strict=True) if letter in "XY"]
            self.signed = [b for b, letter in zip(self.targets, op.letters, strict=True) if letter in "YZ"]
            self.moves = frozenset(self.flipped)
        else:
            self.moves = frozenset() if self.diagonal else frozenset(self.targets)
        self.keeps = frozenset(self.controls + self.targets) - self.moves
        self.affine = op.kind in ("flip", "swap") and len(self.controls) <= (op.kind == "flip")


class Encoder:
    """Instructions, diagonal gates, permutations and the pool of what they refer to, filled gate by gate.

    ``inner[bit]`` is the bit within the chunk that a local bit of the index becomes.  `diagonal` and `parity` list the
    entries that have cotangents of diagonal gates, and the first of the two of those that are Pauli rotations.
    """

    code: list[Instruction]
    members: list[Member]
    permutations: list[Permutation]
    pool: list[int]
    diagonal: list[int]
    parity: list[int]

    def __init__(self):
        self.code, self.members, self.permutations, self.pool = [], [], [], []
        self.diagonal, self.parity = [], []

    def tables(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The instructions, diagonal gates, permutations and the pool as arrays."""
        return (
            table(Instruction, self.code),
            table(Member, self.members),
            table(Permutation, self.permutations),
            np.array(self.pool, np.int64),
        )

    def add(self, gates: Sequence[Gate], inner: dict[int, int]) -> None:
        """Write the instruction of one gate, or of several that are all diagonal or all affine."""
        if gates[0].diagonal:
            self.code.append(self.diagonals(gates, inner))
        elif gates[0].affine:
            rows = self.permutation(gates, inner), self.permutation(gates[::-1], inner)
            self.code.append(Instruction(AFFINE, permutation=rows[0], inverse=rows[1]))
        else:
            self.code.append(self.gate(gates[0], inner))

    def gate(self, gate: Gate, inner: dict[int, int]) -> Instruction:
        """The instruction of a gate that is not diagonal."""
        common = {
            "start": gate.start,
            "wanted": gate.wanted,
            "controls": mask(inner[b] for b in gate.controls if b in inner),
            "outer_controls": mask(b for b in gate.controls if b not in inner),
        }
        if gate.op.kind == "pauli":
            return Instruction(
                PAULI,
                flips=mask(inner[b] for b in gate.flipped),
                signs=mask(inner[b] for b in gate.signed if b in inner),
                outer_signs=mask(b for b in gate.signed if b not in inner),
                ys=gate.op.letters.count("Y") % 4,
                **common,
            )
        at = [inner[b] for b in gate.targets]
        if gate.op.kind in ("flip", "swap"):
            return exchange(gate.op.kind, at, common)
        if len(at) == 1 and not common["controls"]:
            return Instruction(REAL if gate.op.real else COMPLEX, bit=at[0], **common)
        run = lowest(mask(at) | common["controls"])
        offsets = self.pooled(deposit(at[::-1]))
        return Instruction(DENSE, targets=mask(at), qubits=len(at), offsets=offsets, run=run, **common)

    def diagonals(self, gates: Sequence[Gate], inner: dict[int, int]) -> Instruction:
        """The instruction of gates that multiply one diagonal, after their rows among the members."""
        first = len(self.members)
        rows = [self.member(gate, inner) for gate in gates]
        self.members += sorted(rows, key=lambda row: (row.top, row.general))
        return Instruction(DIAGONAL, wanted=any(g.wanted for g in gates), first=first, last=len(self.members))

    def member(self, gate: Gate, inner: dict[int, int]) -> Member:
        """The row of one diagonal gate."""
        controls = [inner[b] for b in gate.controls if b in inner]
        outer = [b for b in gate.controls if b not in inner]
        rotation = gate.op.kind == "pauli"
        at = [inner.get(b, -1 - b) for b in (gate.signed if rotation else gate.targets)]
        if gate.wanted:
            wanted, count = (self.parity, 1) if rotation else (self.diagonal, gate.op.count)
            wanted += range(gate.start, gate.start + count)
        inside = [b for b in at if b >= 0]
        return Member(
            top=max(inside + controls, default=-1),
            general=bool(controls) or len(inside) > 1,
            rotation=rotation,
            wanted=gate.wanted,
            start=gate.start,
            controls=mask(controls),
            outer_controls=mask(outer),
            targets=self.pooled(at),
            count=len(at),
        )

    def permutation(self, gates: Sequence[Gate], inner: dict[int, int]) -> int:
        """Write the permutation that affine gates make one after the other; which row it is."""
        columns, constant, outer = [1 << bit for bit in range(len(inner))], 0, {}
        for gate in gates:
            target = inner[gate.targets[0]]
            if gate.op.kind == "swap":
                other = inner[gate.targets[1]]
                columns[target], columns[other] = columns[other], columns[target]
            elif not gate.controls:
                constant ^= columns[target]
            elif gate.controls[0] in inner:
                columns[inner[gate.controls[0]]] ^= columns[target]
            else:
                outer[gate.controls[0]] = outer.get(gate.controls[0], 0) ^ columns[target]
        starts = [self.pooled(part) for part in (columns, outer.keys(), outer.values())]
        self.permutations.append(Permutation(constant, *starts, len(outer)))
        return len(self.permutations) - 1

    def pooled(self, values: Iterable[int]) -> int:
        """Append integers to the pool; where they begin."""
        start = len(self.pool)
        self.pool += values
        return start


def exchange(kind: str, at: list[int], common: dict[str, Any]) -> Instruction:
    """The instruction of a flip of one bit, or of a swap of two, with controls."""
    if kind == "flip":
        ones, change = common.pop("controls"), 1 << at[0]
    else:
        ones, change = common.pop("controls") | 1 << at[1], mask(at)
    zeros = 1 << at[0]
    return Instruction(EXCHANGE, ones=ones, zeros=zeros, change=change, run=lowest(ones | zeros | change), **common)


def mask(bits: Iterable[int]) -> int:
    """The integer with these bits set."""
    return sum(1 << b for b in bits)


def lowest(bits: int) -> int:
    """The lowest bit that is set, at most 16."""
    return min(bits & -bits, 16) if bits else 16


def deposit(bits: Sequence[int]) -> list[int]:
    """For k = 0 to ``2**len(bits) - 1``, the integer that has bit ``bits[i]`` set where k has bit i set."""
    values = np.zeros(1, np.int64)
    for bit in bits:
        values = np.concatenate([values, values + (1 << bit)])
    return values.tolist()
