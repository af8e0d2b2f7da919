"""From a program to rounds of chunks, in plain Python.

A round fixes up to twelve bits of the index as local: the amplitudes over them, for given values of the other bits,
are a chunk that fits into the cache.  All gates of a round whose targets are local run on one chunk before the
next is touched; controls and diagonal gates may lie on the other bits, where they are constant in a chunk.  Gates
that have to wait for one that was left out are left out too, and commuting ones may overtake.
"""

from dataclasses import dataclass

import numpy as np

LOCAL = 12  # bits of a chunk: 64 KiB of real and imaginary parts in double precision
RUN = 4  # lowest bits that are always local, so that a chunk consists of long runs
REAL, COMPLEX, DENSE, EXCHANGE, PAULI, DIAGONAL, AFFINE = range(7)
FIELDS = 11  # of an instruction: code, bit, targets, controls, outer controls, start, size, wanted, run, first, last
MEMBER = 8  # of a diagonal gate: top bit, -1 if simple, controls, outer controls, start, wanted, first target, how many
# (of a Pauli rotation, minus how many)


@dataclass(frozen=True, eq=False)
class Schedule:
    """Tables for the kernels.

    Attributes
    ----------
    constants : complex array
        Numbers of constant gates; those of the program's real and complex vector follow them.
    rounds : int array (R, 6)
        First and last instruction, first offset, first base, length of a run, whether chunks are contiguous.
    code, members, aux : int arrays
        Instructions, diagonal gates, and lists of offsets and bits that they refer to.
    offsets, bases : int arrays
        Where the runs of a chunk are, and where chunks begin.
    bits : int
        Of a chunk.
    diagonal, parity : int arrays
        Places of the numbers of diagonal gates, and of the first of the two of those that are Pauli rotations.
    turned, signs : arrays (E,), (2, E)
        Where the numbers of the inverse gates stand among those of the gates, and the signs of their real and
        imaginary parts.
    """

    constants: np.ndarray
    rounds: np.ndarray
    code: np.ndarray
    members: np.ndarray
    aux: np.ndarray
    offsets: np.ndarray
    bases: np.ndarray
    bits: int
    diagonal: np.ndarray
    parity: np.ndarray
    turned: np.ndarray
    signs: np.ndarray


def schedule_of(program) -> Schedule:
    """The schedule of a program, made once."""
    if "schedule" not in program.store:
        program.store["schedule"] = Scheduler(program).schedule()
    return program.store["schedule"]


class Gate:
    """An instruction with bits of the index in place of qubits."""

    def __init__(self, op, n, start, wanted):
        bit = [n - 1 - q for q in range(n)]
        self.op, self.start, self.wanted = op, start, wanted
        self.targets = [bit[q] for q in op.targets]
        self.controls = [bit[q] for q in op.controls]
        self.diagonal = op.kind == "diagonal" or (op.kind == "pauli" and not set(op.letters) & {"X", "Y"})
        if op.kind == "pauli":
            self.turned = [b for b, letter in zip(self.targets, op.letters, strict=True) if letter in "XY"]
            self.signed = [b for b, letter in zip(self.targets, op.letters, strict=True) if letter in "YZ"]
            self.moves = frozenset(self.turned)
        else:
            self.moves = frozenset() if self.diagonal else frozenset(self.targets)
        self.keeps = frozenset(self.controls + self.targets) - self.moves
        self.affine = op.kind in ("flip", "swap") and len(self.controls) <= (op.kind == "flip")


def mask(bits):
    """The integer with these bits set."""
    return sum(1 << b for b in bits)


class Scheduler:
    """Fills the tables of a `Schedule`."""

    def __init__(self, program):
        self.n = program.n
        self.constants, self.gates = [], []
        filled = sum(op.count for op in program.instructions if op.source == "constant")
        shift = {"real": filled, "complex": filled + program.sizes[0]}
        filled = 0
        for op in program.instructions:
            constant = op.source == "constant"
            self.gates.append(Gate(op, self.n, filled if constant else shift[op.source] + op.start, not constant))
            if constant and op.count:
                self.constants.append(op.constant)
                filled += op.count
        self.rounds, self.code, self.members, self.aux = [], [], [], []
        self.offsets, self.bases, self.diagonal, self.parity = [], [], [], []

    def schedule(self):
        """The tables of all rounds."""
        waiting = self.gates
        widest = max((len(gate.moves) for gate in waiting), default=0)
        bits = min(self.n, LOCAL)
        run = min(RUN, bits)
        if widest + run > bits:
            bits = self.n  # no chunk is large enough
        while waiting or not self.rounds:
            local, chosen, waiting = choose(waiting, self.n, bits, run)
            self.add_round(sorted(fill(local, self.n, bits)), chosen)
        constants = np.concatenate(self.constants) if self.constants else np.zeros(0)
        return Schedule(
            constants.astype(complex), table(self.rounds, 6), table(self.code, FIELDS), table(self.members, MEMBER),
            np.array(self.aux or [0], np.int64), np.array(self.offsets, np.int64), np.array(self.bases, np.int64), bits,
            np.array(self.diagonal, np.int64), np.array(self.parity, np.int64), *self.inverses(),
        )  # fmt: skip

    def inverses(self):
        """How the numbers of the inverse gates follow from those of the gates."""
        size = sum(gate.op.count for gate in self.gates)
        turned, signs = np.arange(size), np.ones((2, size))
        signs[1] = -1
        for gate in self.gates:
            here = slice(gate.start, gate.start + gate.op.count)
            if gate.op.kind == "matrix":
                turned[here] = turned[here].reshape(2 * (2 ** len(gate.targets),)).T.ravel()
            elif gate.op.kind == "pauli":
                signs[0, gate.start + 1] = -1
        return turned, signs

    def add_round(self, local, gates):
        """Write the tables of one round: its chunks, and its gates with diagonal ones together."""
        place = {bit: i for i, bit in enumerate(local)}
        run = next((i for i, bit in enumerate(local) if i != bit), len(local))
        first = len(self.code)
        offset, base = len(self.offsets), len(self.bases)
        self.offsets += deposit(local[run:])
        self.bases += deposit([bit for bit in range(self.n) if bit not in place])
        for group in grouped(gates):
            if group[0].diagonal:
                self.add_diagonals(group, place)
            elif group[0].affine:
                self.add_affine(group, place)
            else:
                self.add_gate(group[0], place)
        self.rounds.append((first, len(self.code), offset, base, 1 << run, len(self.bases) - base))

    def add_gate(self, gate, place):
        """The row of a gate that is not diagonal."""
        op = gate.op
        inner = mask(place[b] for b in gate.controls if b in place)
        outer = mask(b for b in gate.controls if b not in place)
        row = [DENSE, 0, 0, inner, outer, gate.start, len(op.targets), gate.wanted, 0, 0, 0]
        if op.kind == "pauli":
            row[0] = PAULI
            row[2] = mask(place[b] for b in gate.turned)
            row[8] = mask(place[b] for b in gate.signed if b in place)
            row[9] = mask(b for b in gate.signed if b not in place)
            row[10] = op.letters.count("Y") % 4
        else:
            at = [place[b] for b in gate.targets]
            row[1], row[2] = at[0], mask(at)
            if op.kind in ("flip", "swap"):
                row[0] = EXCHANGE
                row[9] = row[2] if op.kind == "swap" else 1 << at[0]  # the bits that change
                row[3] |= 0 if op.kind == "flip" else 1 << at[1]  # the bits that are set
                row[2] = 1 << at[0]  # the bits that are not
            elif len(at) == 1 and not inner:
                real = op.source == "real" or (op.source == "constant" and not np.iscomplexobj(op.constant))
                row[0] = REAL if real else COMPLEX
            else:
                row[9] = len(self.aux)
                self.aux += deposit(at[::-1])
            row[8] = lowest(row[2] | row[3] | (row[9] if row[0] == EXCHANGE else 0))
        self.code.append(row)

    def add_diagonals(self, gates, place):
        """The row of gates that multiply one diagonal, and their rows among the members."""
        first = len(self.members)
        rows = [self.member(gate, place) for gate in gates]
        self.members += sorted(rows)
        self.code.append([DIAGONAL, 0, 0, 0, 0, 0, 0, any(g.wanted for g in gates), 0, first, len(self.members)])

    def add_affine(self, gates, place):
        """The row of gates that make one permutation, and the tables of its map and of the inverse."""
        tables = []
        for order in (gates, gates[::-1]):
            tables.append(len(self.aux))
            self.aux += affine_map(order, place)
        self.code.append([AFFINE, 0, 0, 0, 0, 0, 0, 0, 0, *tables])

    def member(self, gate, place):
        """The row of one diagonal gate: top bit -1 if it reaches beyond the chunk."""
        inner = [place[b] for b in gate.controls if b in place]
        outer = [b for b in gate.controls if b not in place]
        parity = gate.op.kind == "pauli"
        at = [place.get(b, -1 - b) for b in (gate.signed if parity else gate.targets)]
        if gate.wanted:
            places, count = (self.parity, 1) if parity else (self.diagonal, gate.op.count)
            places += range(gate.start, gate.start + count)
        beyond = bool(outer) or min(at, default=0) < 0
        top = -1 if beyond else max(at + inner, default=0)
        simple = not beyond and not inner and len(at) == 1 and not parity
        first = len(self.aux)
        self.aux += at
        count = -len(at) if parity else len(at)
        return [top, -int(simple), mask(inner), mask(outer), gate.start, int(gate.wanted), first, count]


def table(rows, width):
    """Rows as an array of integers, empty ones too."""
    return np.array(rows, np.int64).reshape(-1, width)


def lowest(bits):
    """The lowest bit that is set, at most 16."""
    return min(bits & -bits, 16) if bits else 16


def deposit(bits):
    """For every number its bits put on these places, the first the lowest."""
    values = np.zeros(1, np.int64)
    for bit in bits:
        values = np.concatenate([values, values + (1 << bit)])
    return values.tolist()


def fill(local, n, bits):
    """Local bits made up to their number, by the lowest ones."""
    rest = [bit for bit in range(n) if bit not in local]
    return [*local, *rest[: bits - len(local)]]


def choose(gates, n, bits, run):
    """The local bits of a round, the gates that run in it, and those that wait."""
    if bits == n:
        return list(range(n)), gates, []
    local, chosen, waiting = set(range(run)), [], []
    held, fixed = set(), set()  # bits that no gate may touch; bits that gates may only read
    for i, gate in enumerate(gates):
        if len(held) == n:
            waiting += gates[i:]
            break
        free = not (gate.moves & held or gate.keeps & held or gate.moves & fixed)
        if free and len(local | gate.moves) <= bits:
            local |= gate.moves
            chosen.append(gate)
        else:
            held |= gate.moves
            fixed |= gate.keeps
            waiting.append(gate)
    return local, chosen, waiting


def grouped(gates):
    """Gates in an order that is as good, as lists: single ones, and diagonal ones together."""
    groups, moved = [], {}  # moved: the group that last moved a bit
    last = -1  # the last group of diagonal gates
    for gate in gates:
        if gate.diagonal:
            if last > max((moved.get(b, -1) for b in gate.keeps), default=-1):
                groups[last].append(gate)
                continue
            last = len(groups)
        if gate.affine and groups and groups[-1][0].affine:
            groups[-1].append(gate)
        else:
            groups.append([gate])
        for b in gate.moves:
            moved[b] = len(groups) - 1
    return groups


def affine_map(gates, place):
    """The table of the permutation that gates make one after the other; see `qad.circuit.compiled.affine`."""
    columns, constant, outer = [1 << bit for bit in range(len(place))], 0, {}
    for gate in gates:
        target = place[gate.targets[0]]
        if gate.op.kind == "swap":
            other = place[gate.targets[1]]
            columns[target], columns[other] = columns[other], columns[target]
        elif not gate.controls:
            constant ^= columns[target]
        elif gate.controls[0] in place:
            columns[place[gate.controls[0]]] ^= columns[target]
        else:
            outer[gate.controls[0]] = outer.get(gate.controls[0], 0) ^ columns[target]
    return [*columns, constant, len(outer), *(x for pair in outer.items() for x in pair)]
